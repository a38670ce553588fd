"""Looking at the host's processes and making trees, for the tests of bubblewrap."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from tasks.environment import Environment

BARE = Environment(python=f"{sys.version_info.major}.{sys.version_info.minor}", install="")
"""Built without the network: no packages, and a repository that is not installed."""


def make_tree(directory: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


def processes_with(word: str) -> list[int]:
    """Processes of this host that have `word` among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in arguments:
            found.append(int(path.parent.name))
    return found


def eventually(condition: Callable[[], object]) -> bool:
    """Whether `condition` comes true within a generous time."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False
