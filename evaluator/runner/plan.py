"""What the runner is told: its command line, its canaries, and the key of its frames."""

import json
import secrets
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import PurePosixPath

from tasks.errors import InputError

PYTHON = "python"
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
    """One run of pytest over `files`, in that order."""

    arguments: tuple[str, ...]
    files: tuple[str, ...]
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def command(self) -> tuple[str, ...]:
        return PYTHON, "-c", _runner(), FRAMES

    @property
    def stdin(self) -> bytes:
        # The canary fails in every run: it must not end one that is configured to stop at the first failure.
        args = [*self.arguments, "--maxfail=0", *self.files]
        return json.dumps({"args": args, "key": self.key.hex()}).encode()


def pytest_arguments(test_command: str) -> tuple[str, ...]:
    """The arguments a test command gives to pytest.

    Raises:
        InputError: it does not run pytest.
    """
    try:
        words = shlex.split(test_command)
    except ValueError:
        words = []
    match words:
        case ["pytest" | "py.test", *arguments] | ["python" | "python3", "-m", "pytest", *arguments]:
            return tuple(arguments)
    raise InputError(
        f"the test command {test_command!r} does not start pytest",
        "Only tasks whose tests run under pytest can be graded.",
    )


def plant_canaries(files: Iterable[str]) -> Canaries:
    """Canaries beside the first of the test files, drawn anew for each run."""
    first = next(iter(files), "")
    name = f"test_{secrets.token_hex(6)}.py"
    path = str(PurePosixPath(first).with_name(name)) if first else name
    tests = [f"test_{secrets.token_hex(6)}" for _ in range(2)]
    left, right = secrets.randbelow(900) + 100, secrets.randbelow(900) + 1100
    bodies = [
        f"def {tests[0]}():\n    assert {left} == {left}\n",
        f"def {tests[1]}():\n    assert {left} == {right}\n",
    ]
    if secrets.randbelow(2):
        bodies.reverse()
    return Canaries(path, "\n\n".join(bodies).encode(), f"{path}::{tests[0]}", f"{path}::{tests[1]}")


def place(canaries: Canaries, files: tuple[str, ...]) -> tuple[str, ...]:
    """The files to run with the canaries' among them, first or last by chance."""
    return (canaries.path, *files) if secrets.randbelow(2) else (*files, canaries.path)


@cache
def _runner() -> str:
    return resources.files("evaluator.runner").joinpath("pytest_runner.py").read_text("utf-8")
