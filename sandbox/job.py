"""What is asked of a sandbox, and what the host saw: the records every backend shares."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from tasks.environment import Environment

Hit = Literal["wall", "memory", "output"]


@dataclass(frozen=True)
class Limits:
    """Bounds of one execution. Reaching `wall`, `memory` or `output` ends it and is reported as a hit."""

    wall_s: float = 1800.0
    memory_mb: int = 4096
    """Of the whole process tree and its scratch files together."""
    processes: int = 512
    file_mb: int = 1024
    """Largest single file."""
    output_kb: int = 16384
    """Largest captured stream; the middle of a longer one is dropped, ten times as much ends the run."""


@dataclass(frozen=True)
class File:
    """A file to write into the copy: `content` bytes with `mode`, or a symlink when `link` is set."""

    content: bytes = b""
    mode: int = 0o644
    link: str = ""


@dataclass(frozen=True)
class Job:
    """One command in a fresh copy. Paths are relative to the repository root and checked to stay inside."""

    command: tuple[str, ...]
    files: Mapping[str, File] = field(default_factory=dict)
    removals: tuple[str, ...] = ()
    stdin: bytes = b""
    variables: Mapping[str, str] = field(default_factory=dict)
    collect: tuple[str, ...] = ()
    """Files to read back after the command ended; absent ones are left out of `Execution.collected`."""
    limits: Limits = Limits()


@dataclass(frozen=True)
class Timings:
    """Seconds: `start` until the command begins, `stop` from its end to a clean host."""

    start: float
    run: float
    stop: float


@dataclass(frozen=True)
class Execution:
    """What the host observed of one job. Of the sandbox's own making are only the bytes."""

    exit_status: int | None
    """As a shell reports it (128 + signal number when killed by one); None when a limit ended the run."""
    output: bytes
    """Standard output and error of the command, interleaved, bounded."""
    frames: bytes
    """What the command wrote to its result channel (see `sandbox/init.py`), bounded."""
    hits: frozenset[Hit]
    timings: Timings
    cpu_s: float | None
    memory_peak_mb: float | None
    collected: Mapping[str, bytes] = field(default_factory=dict)
    output_dropped: int = 0
    """Bytes missing in the middle of `output`."""


@dataclass(frozen=True)
class Prepared:
    """An environment with a repository installed, ready to be copied any number of times."""

    digest: str
    """Names environment, base commit and recipe; equal digests mean interchangeable copies on one backend."""
    tree: Path
    """The repository as the sandbox sees it, readable on the host, never written after preparation."""
    build_s: float
    """0.0 when it was already there."""
    handle: str
    """Backend's own name of it: a directory or an image id."""


class Sandbox(Protocol):
    """A backend. Thread-safe; one instance serves a whole run."""

    name: str

    def probe(self) -> None:
        """Really runs something.

        Raises:
            SandboxUnavailable: with the exact remedy.
        """

    def prepare(self, environment: Environment, tree: Path, key: str, version: str) -> Prepared:
        """Builds what is missing, once per machine however many processes ask.

        Args:
            environment: what to build.
            tree: the repository at its base commit, without `.git`; copied, not changed.
            key: names the content of `tree` (repository and commit).
            version: of the commit by `git describe`, for projects that take theirs from it; may be "".

        Raises:
            BuildError: naming the log file.
            SourceError: an image or package cannot be had.
        """

    def run(self, prepared: Prepared, job: Job) -> Execution:
        """Runs `job` in a fresh copy and removes it.

        Raises:
            InfraError: the host failed the job; its outcome says nothing about the patch.
        """
