"""What the runner is told: its command line, its canaries, and the key of its frames."""

import json
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import PurePosixPath

from evaluator.runner.runners import RUNNERS, Runner

PYTHON = "python"
CANARY_NAME = re.compile("test_(?:zz_)?[0-9a-f]{12}")
"""What is random in the canaries' ids: the names of their module and of their functions."""
FRAMES = "{frames}"
"""Replaced by the number of the result channel's descriptor inside the sandbox."""


@dataclass(frozen=True)
class Canaries:
    """A test module of two tests, of which an honest run passes one and fails the other. Names are random."""

    path: str
    content: bytes
    must_pass: str
    must_fail: str


@dataclass(frozen=True)
class Plan:
    """One run of the runner over `files`, in that order where it keeps one."""

    arguments: tuple[str, ...]
    files: tuple[str, ...]
    runner: Runner = RUNNERS["pytest"]
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def command(self) -> tuple[str, ...]:
        return PYTHON, "-c", _text("channel.py") + _text(self.runner.script), FRAMES

    @property
    def stdin(self) -> bytes:
        args = [*self.arguments, *self.runner.select(self.files)]
        return json.dumps({"args": args, "key": self.key.hex()}).encode()


def plant_canaries(files: Collection[str], runner: Runner = RUNNERS["pytest"]) -> Canaries:
    """Canaries beside one of the files, drawn anew for each run.

    Where files are imported one by one they come last, for they are to see what the patched code does on
    import.
    """
    beside, prefix = next(iter(files), ""), "test_"
    if runner.file_by_file:
        beside, prefix = max(files, default=""), "test_zz_"
    name = f"{prefix}{secrets.token_hex(6)}.py"
    path = str(PurePosixPath(beside).with_name(name)) if beside else name
    must_pass, must_fail = (f"test_{secrets.token_hex(6)}" for _ in range(2))
    left, right = secrets.randbelow(900) + 100, secrets.randbelow(900) + 1100
    tests = [
        runner.test.format(name=must_pass, left=left, right=left),
        runner.test.format(name=must_fail, left=left, right=right),
    ]
    if secrets.randbelow(2):
        tests.reverse()
    content = runner.head + "".join(tests)
    return Canaries(
        path, content.lstrip("\n").encode(), runner.node_id(path, must_pass), runner.node_id(path, must_fail)
    )


def place(canaries: Canaries, files: tuple[str, ...]) -> tuple[str, ...]:
    """The files to run with the canaries' among them, first or last by chance."""
    return (canaries.path, *files) if secrets.randbelow(2) else (*files, canaries.path)


@cache
def _text(script: str) -> str:
    return resources.files("evaluator.runner").joinpath(script).read_text("utf-8")
