"""What the runner is told: its command line, its canaries, and the key of its frames."""

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import product
from pathlib import PurePosixPath
from random import SystemRandom

from evaluator.runner.runners import RUNNERS, Runner

PYTHON = "python"
CANARY_NAME = re.compile("test_(?:zz_)?[0-9a-f]{12}")
"""What is random in the canaries' ids: the names of their module and of their functions."""
FRAMES = "{frames}"
"""Replaced by the number of the result channel's descriptor inside the sandbox."""


@dataclass(frozen=True)
class Canaries:
    """Two test modules, one to run before all others and one after. An honest run knows each outcome."""

    files: Mapping[str, bytes]
    """By path, the first to run first."""
    must_pass: tuple[str, ...]
    must_fail: tuple[str, ...]

    def around(self, files: Iterable[str]) -> tuple[str, ...]:
        """What to run. Tampering at import shows at either end, tampering by a call only afterwards."""
        first, last = self.files
        return first, *files, last


@dataclass(frozen=True)
class Plan:
    """One run of the runner over `files`, in that order where it keeps one."""

    arguments: tuple[str, ...]
    files: tuple[str, ...]
    runner: Runner = RUNNERS["pytest"]
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def command(self) -> tuple[str, ...]:
        return PYTHON, "-c", "".join(map(_text, ("channel.py", *self.runner.scripts))), FRAMES

    @property
    def stdin(self) -> bytes:
        args = [*self.arguments, *self.runner.select(self.files)]
        return json.dumps({"args": args, "files": self.files, "key": self.key.hex()}).encode()


def plant_canaries(files: Iterable[str], runner: Runner = RUNNERS["pytest"]) -> Canaries:
    """Canaries drawn anew for each run: of each kind one good and one bad, in a module for either end.

    They lie beside the first of the files. Where files are imported one by one, by name, the last module has
    the last name: it is to see what the patched code does when it is imported.
    """
    files = tuple(files)
    first = PurePosixPath(next(iter(files), "")).parent / f"test_{_word()}.py"
    last = first.with_name(f"test_{_word()}.py")
    if runner.file_by_file:
        last = PurePosixPath(max(files, default="")).parent / f"test_zz_{_word()}.py"
    modules: dict[str, bytes] = {}
    nodes: dict[bool, list[str]] = {True: [], False: []}
    for path in map(str, (first, last)):
        left, right = secrets.randbelow(900) + 100, secrets.randbelow(900) + 1100
        tests = []
        for control, good in product(runner.controls, nodes):
            name = f"test_{_word()}"
            tests.append(control.text.format(name=name, left=left, right=left if good else right))
            nodes[good].append(control.node_id(path, name))
        SystemRandom().shuffle(tests)
        modules[path] = (runner.head + "".join(tests)).lstrip("\n").encode()
    return Canaries(modules, tuple(nodes[True]), tuple(nodes[False]))


def _word() -> str:
    return secrets.token_hex(6)


@cache
def _text(script: str) -> str:
    return resources.files("evaluator.runner").joinpath(script).read_text("utf-8")
