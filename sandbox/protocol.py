"""The host's half of the conversation with `sandbox/init.py`, whose docstring defines it."""

import os
import secrets
from collections.abc import Iterable, Mapping, Sequence

from sandbox.capture import Capture
from sandbox.job import Job, Limits

Text = str | bytes

BACKSTOP = 1.5
"""A single process may map this much of the memory limit before its allocations fail. Above 1, so that a tree
that really uses too much is ended and reported by the watcher instead of seeing failed allocations."""


def new_boundary() -> bytes:
    return secrets.token_hex(16).encode()


def request(
    job: Job,
    cwd: str,
    variables: Mapping[str, str],
    boundary: bytes,
    *,
    fields_of_backend: Mapping[str, Iterable[Text]] | None = None,
) -> bytes:
    """Everything `init` reads before the command starts, and the command's own standard input after it.

    `variables` is the whole environment of the command apart from `job.variables`, which come last.
    `fields_of_backend` are further fields of the header, or stand in place of those made here.
    """
    files = sorted((path, file) for path, file in job.files.items() if not file.link)
    links = sorted((path, file.link) for path, file in job.files.items() if file.link)
    fields: dict[str, Iterable[Text]] = {
        "boundary": [boundary],
        "cwd": [cwd],
        "command": job.command,
        "variables": [f"{name}={value}" for name, value in {**variables, **job.variables}.items()],
        "limits": [text for pair in resource_limits(job.limits).items() for text in (pair[0], str(pair[1]))],
        "remove": job.removals,
        "write": [text for path, file in files for text in (path, f"{file.mode:o}", str(len(file.content)))],
        "link": [text for pair in links for text in pair],
        "collect": job.collect,
        "collect_limit": [str(job.limits.output_kb << 10)],
    }
    fields.update(fields_of_backend or {})
    header = b"".join(_field(name, list(values)) for name, values in fields.items())
    return b"".join([b"%d\n" % len(header), header, *(file.content for _, file in files), job.stdin])


def resource_limits(limits: Limits) -> dict[str, int]:
    """Limits of each process, by the names of `setrlimit`."""
    return {
        "CORE": 0,
        "DATA": int(limits.memory_mb * BACKSTOP) << 20,
        "FSIZE": limits.file_mb << 20,
        "NOFILE": 4096,
        "NPROC": limits.processes,
    }


def _field(name: str, values: list[Text]) -> bytes:
    encoded = [os.fsencode(value) for value in (name, str(len(values)), *values)]
    if any(b"\0" in value for value in encoded):
        raise ValueError(f"{name}: a NUL byte cannot be passed to a program")
    return b"".join(value + b"\0" for value in encoded)


class Frames:
    """Splits the result channel into `init`'s own words and what the command wrote."""

    def __init__(self, boundary: bytes, job: Job, counters: Sequence[str] = ()) -> None:
        self.started = False
        self.failure = ""
        """What `init` said when it could not make the sandbox."""
        self._boundary = boundary
        self._files = {b"file": job.collect, b"counter": counters}
        self._capture = Capture(job.limits.output_kb << 10)
        self._pending = bytearray()
        self._records: bytearray | None = None

    @property
    def runaway(self) -> bool:
        return self._capture.runaway

    def feed(self, part: bytes) -> None:
        if self._records is not None:
            self._records += part
            return
        self._pending += part
        if not self.started and not self._greeted():
            return
        cut = self._pending.find(self._boundary)
        if cut >= 0:
            self._records = self._pending[cut:]
        else:  # the start of a boundary may be all that has come yet
            cut = max(0, len(self._pending) - len(self._boundary))
        self._capture.feed(bytes(self._pending[:cut]))
        del self._pending[:cut]

    def _greeted(self) -> bool:
        line, newline, rest = self._pending.partition(b"\n")
        if not newline or self.failure:
            return False
        self.started = line == self._boundary + b" started"
        self._pending = rest
        if not self.started:
            self.failure = line.removeprefix(self._boundary + b" failed ").decode(errors="replace")
        return self.started

    def content(self) -> bytes:
        """What the command wrote, bounded."""
        if self._records is None:
            self._capture.feed(bytes(self._pending))
            self._pending.clear()
        return self._capture.content()

    @property
    def ended(self) -> bool:
        """Whether `init` outlived the command and got to its last word."""
        return self.exit_status is not None

    @property
    def exit_status(self) -> int | None:
        """What `init` said of the command; None before it did."""
        line = (self._records or b"").rpartition(self._boundary + b" end ")[2]
        return int(line) if self._records and line.endswith(b"\n") and line.strip().isdigit() else None

    def collected(self) -> dict[str, bytes]:
        """Contents of the files asked for that were there, by path."""
        return self._sent(b"file")

    def counters(self) -> dict[str, bytes]:
        """Contents of the kernel's files asked for that were there, by path."""
        return self._sent(b"counter")

    def _sent(self, wanted: bytes) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        rest = bytes(self._records or b"")
        while rest.startswith(self._boundary):
            line, _, rest = rest.partition(b"\n")
            kind, *numbers = line.split()[1:]
            if kind not in self._files or len(numbers) != 2:
                break
            index, size = int(numbers[0]), int(numbers[1])
            if len(rest) < size:
                break  # ended by a limit while it was sent
            if kind == wanted:
                files[self._files[kind][index]] = rest[:size]
            rest = rest[size:]
        return files
