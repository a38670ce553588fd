"""Runs one bubblewrap process to its end: feeds it, drains it, watches its limits, and says what was seen."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence

from sandbox import watch
from sandbox.bwrap import WRITABLE, account
from sandbox.capture import Capture
from sandbox.job import Execution, Hit, Job, Timings
from sandbox.protocol import Frames
from tasks.errors import InfraError

CHUNK = 1 << 16
FIRST_LOOK_S = 0.02
LOOK_EVERY_S = 0.1
"""How often memory is looked at; the first looks come sooner, so that short runs have a peak too."""


class Supervisor:
    """One execution. `request` is what `init` reads; `boundary` the header's."""

    def __init__(self, arguments: Sequence[str], request: bytes, boundary: bytes, job: Job) -> None:
        self.limits = job.limits
        self.frames = Frames(boundary, job)
        self.output = Capture(job.limits.output_kb << 10)
        self.hits: set[Hit] = set()
        self.peak_bytes = 0
        self.started_at = 0.0
        self._unsent = memoryview(request)
        self._arguments = arguments

    def run(self) -> Execution:
        """
        Raises:
            InfraError: the sandbox did not start, or something outside ended it.
        """
        requested_at = time.monotonic()
        killed_before = watch.killed_for_memory()
        try:
            process = subprocess.Popen(
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},
                cwd="/",
                umask=0o022,
                start_new_session=True,  # Ctrl-C at a terminal is for Assay to act on
                **account(),
            )
        except OSError as error:
            raise InfraError(f"the sandbox cannot be launched: {error}", "Run `assay doctor`.") from error
        with process:
            try:
                self._attend(process, requested_at + self.limits.wall_s)
            except BaseException:
                self._kill(process.pid)
                raise
            finally:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            ended_at = time.monotonic()
            self._drain(process)
        self._refuse_host_faults(process.returncode, killed_before)
        return Execution(
            exit_status=None if self.hits else self.frames.exit_status,
            output=self.output.content(),
            frames=self.frames.content(),
            hits=frozenset(self.hits),
            timings=Timings(
                start=self.started_at - requested_at,
                run=ended_at - self.started_at,
                stop=time.monotonic() - ended_at,
            ),
            cpu_s=usage.ru_utime + usage.ru_stime,
            memory_peak_mb=self.peak_bytes / (1 << 20) if self.peak_bytes else None,
            collected=self.frames.collected(),
            output_dropped=self.output.dropped,
        )

    def _attend(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        """Until the sandbox's last process is gone."""
        assert process.stdin and process.stdout and process.stderr  # noqa: S101 - made as pipes
        next_look, interval = time.monotonic() + FIRST_LOOK_S, FIRST_LOOK_S
        ended = os.pidfd_open(process.pid)
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(ended, selectors.EVENT_READ)
                selector.register(process.stdin, selectors.EVENT_WRITE, self._send)
                selector.register(process.stdout, selectors.EVENT_READ, self._receive_frames)
                selector.register(process.stderr, selectors.EVENT_READ, self._receive_output)
                while True:
                    now = time.monotonic()
                    for key, _ in selector.select(
                        None if self.hits else max(0.0, min(deadline, next_look) - now)
                    ):
                        if key.fd == ended:
                            return
                        if not key.data(key.fd):
                            selector.unregister(key.fileobj)
                            key.fileobj.close()  # type: ignore[union-attr]
                    if self.hits:
                        continue
                    now = time.monotonic()
                    if now >= next_look:
                        interval = min(2 * interval, LOOK_EVERY_S)
                        next_look = now + interval
                        self._look_at_memory(process.pid)
                    if now >= deadline:
                        self.hits.add("wall")
                    if self.output.runaway or self.frames.runaway:
                        self.hits.add("output")
                    if self.hits:
                        self._kill(process.pid)
        finally:
            os.close(ended)

    def _send(self, descriptor: int) -> bool:
        """Whether there is more to send."""
        try:
            sent = os.write(descriptor, self._unsent[:CHUNK])
        except BlockingIOError:
            return True
        except BrokenPipeError:  # a command need not read its input
            return False
        self._unsent = self._unsent[sent:]
        return bool(self._unsent)

    def _receive_frames(self, descriptor: int) -> bool:
        part = os.read(descriptor, CHUNK)
        self.frames.feed(part)
        if self.frames.started and not self.started_at:
            self.started_at = time.monotonic()
        return bool(part)

    def _receive_output(self, descriptor: int) -> bool:
        part = os.read(descriptor, CHUNK)
        self.output.feed(part)
        return bool(part)

    def _drain(self, process: subprocess.Popen[bytes]) -> None:
        """All writers are dead, so what they wrote is in the pipes. The end of a stream is not waited for:
        another thread's fork may hold it open."""
        for stream, receive in (
            (process.stdout, self._receive_frames),
            (process.stderr, self._receive_output),
        ):
            try:
                while stream and not stream.closed and receive(stream.fileno()):
                    pass
            except BlockingIOError:
                continue

    def _look_at_memory(self, pid: int) -> None:
        inside = watch.children(pid)
        if not inside or not self.frames.started:  # until then, the host's own file systems are in its sight
            return
        pids = watch.descendants(inside[0])
        stored = watch.stored_bytes(inside[0], WRITABLE)
        used = watch.resident_bytes(pids) + stored
        bound = self.limits.memory_mb << 20
        if used > bound:
            used = watch.proportional_bytes(pids) + stored
        if used > bound:
            self.hits.add("memory")
        self.peak_bytes = max(self.peak_bytes, used)

    def _kill(self, pid: int) -> None:
        """Ends the first process of the sandbox, and by that all of them; then the launcher ends too."""
        for target in watch.children(pid) or [pid]:
            try:
                os.kill(target, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _refuse_host_faults(self, exit_status: int, killed_before: int) -> None:
        if not self.frames.started:
            reason = self.frames.failure or self.output.content().decode(errors="replace").strip()
            raise InfraError(
                f"the sandbox did not start (status {exit_status}): {reason}", "Run `assay doctor`."
            )
        if self.hits:
            return
        if self.frames.exit_status is None:
            raise InfraError(f"the sandbox was ended from outside (status {exit_status})")
        if self.frames.exit_status == 128 + signal.SIGKILL and watch.killed_for_memory() > killed_before:
            remedy = "Use fewer workers or a smaller memory limit."
            raise InfraError("the host ran out of memory and killed processes", remedy)
