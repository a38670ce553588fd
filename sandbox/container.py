"""One execution in Docker: a container made for the command, attended to its end, and removed."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docker.types import LogConfig

from sandbox import init
from sandbox.capture import Capture
from sandbox.engine import ANSWER_S, Engine, engine_faults
from sandbox.exchange import STDOUT, Ending, Exchange
from sandbox.images import USER
from sandbox.job import Execution, Hit, Job, Limits, Timings
from sandbox.protocol import Frames, new_boundary, request, resource_limits
from sandbox.recipe import TESTBED
from tasks.errors import InfraError, SandboxUnavailable

PROGRAM = Path(init.__file__).read_bytes()
FETCH_PROGRAM = (
    "import os\n"
    "code = b''\n"
    f"while len(code) < {len(PROGRAM)}: code += os.read(0, {len(PROGRAM)} - len(code))\n"
    "exec(compile(code, 'init.py', 'exec'))"
)
"""Takes `init` from the head of the container's input, so that no image needs to hold it."""

CAPABILITIES = ["NET_ADMIN", "SETGID", "SETPCAP", "SETUID"]
"""What `init` needs to silence the outside and to step down from root; all gone before the command starts."""

SCRATCH = ("/tmp", "/home/assay")  # noqa: S108 - places inside the container
CPU_SECONDS = {"/sys/fs/cgroup/cpu.stat": 1e-6, "/sys/fs/cgroup/cpuacct/cpuacct.usage": 1e-9}
MEMORY_PEAKS = dict.fromkeys(
    ("/sys/fs/cgroup/memory.peak", "/sys/fs/cgroup/memory/memory.max_usage_in_bytes"), 1 / (1 << 20)
)
COUNTERS = (*CPU_SECONDS, *MEMORY_PEAKS)
"""Where the control group keeps its accounts, in versions 2 and 1, with the unit of the number there."""


def create(engine: Engine, image: str, command: list[str], limits: Limits) -> str:
    """Id of a new container, closed off as far as Docker can.

    Raises:
        SandboxUnavailable: the engine would leave out a limit.
    """
    scratch = f"rw,exec,nosuid,nodev,mode=1777,size={limits.memory_mb // 2}m"
    api = engine.client.api
    answer = api.create_container(
        image,
        command,
        user="0:0",
        hostname="assay",
        entrypoint=[],
        working_dir="/",
        stdin_open=True,
        labels=engine.labels,
        host_config=api.create_host_config(
            network_mode="none",
            dns=["127.0.0.1"],  # nobody there: names fail at once
            cap_drop=["ALL"],
            cap_add=CAPABILITIES,
            security_opt=["no-new-privileges"],
            pids_limit=limits.processes + 1,
            mem_limit=limits.memory_mb << 20,
            memswap_limit=limits.memory_mb << 20,
            tmpfs=dict.fromkeys(SCRATCH, scratch),
            shm_size=limits.memory_mb << 19,
            sysctls=engine.sysctls,
            ipc_mode="private",
            log_config=LogConfig(type="none"),
        ),
    )
    if unlimited := [warning for warning in answer["Warnings"] or () if "discarded" in warning]:
        engine.remove(answer["Id"])
        raise SandboxUnavailable(
            f"this Docker engine does not limit containers: {' '.join(unlimited)}",
            "Give it control groups for memory and pids (rootless engines: cgroup v2 with systemd).",
        )
    return str(answer["Id"])


class Run:
    """A command in a container of its own."""

    def __init__(self, engine: Engine, image: str, job: Job, variables: Mapping[str, str]) -> None:
        self._engine = engine
        self._image = image
        self._job = job
        boundary = new_boundary()
        limits = resource_limits(job.limits)
        del limits["NPROC"]  # it would count the processes of all containers; theirs are limited one by one
        self._given = PROGRAM + request(
            job,
            TESTBED,
            variables,
            boundary,
            fields_of_backend={
                "user": [str(USER), str(USER)],
                "limits": [text for pair in limits.items() for text in map(str, pair)],
                "counters": COUNTERS,
            },
        )
        self._frames = Frames(boundary, job, COUNTERS)
        self._output = Capture(job.limits.output_kb << 10)
        self._asked_at = int(time.time())
        self._started_at = 0.0

    def execute(self) -> Execution:
        """
        Raises:
            InfraError: the engine failed, the container did not start, or something outside ended it.
        """
        requested_at = time.monotonic()
        state: dict[str, Any] = {}
        with engine_faults():
            container = create(
                self._engine, self._image, ["python", "-I", "-S", "-B", "-c", FETCH_PROGRAM], self._job.limits
            )
            try:
                ending = self._attend(container)
                ended_at = time.monotonic()
                if ending == "closed":
                    state = self._state(container)
            finally:
                self._engine.remove(container)
        hits = self._hits(ending, state)
        if not hits:
            self._refuse_host_faults(state)
        started_at = self._started_at or ended_at
        return Execution(
            exit_status=None if hits else state["ExitCode"],
            output=self._output.content(),
            frames=self._frames.content(),
            hits=hits,
            timings=Timings(started_at - requested_at, ended_at - started_at, time.monotonic() - ended_at),
            cpu_s=self._counter(CPU_SECONDS),
            memory_peak_mb=self._job.limits.memory_mb if "memory" in hits else self._counter(MEMORY_PEAKS),
            collected=self._frames.collected(),
            output_dropped=self._output.dropped,
        )

    def _attend(self, container: str) -> Ending:
        with self._engine.attached(container) as connection:
            self._engine.client.api.start(container)
            exchange = Exchange(connection, self._given, self._receive, lambda: self._fits(container))
            return exchange.run(time.monotonic() + self._job.limits.wall_s)

    def _receive(self, stream: int, part: bytes) -> bool:
        if stream == STDOUT:
            self._frames.feed(part)
            if self._frames.started and not self._started_at:
                self._started_at = time.monotonic()
        else:
            self._output.feed(part)
        return not (self._output.runaway or self._frames.runaway)

    def _fits(self, container: str) -> bool:
        """Whether the container keeps to its memory limit, which the files in its own layer on disk count to.

        The kernel enforces the limit by ending some process of the container, not always the command.
        """
        api = self._engine.client.api
        ended = {"container": container, "event": "oom"}
        if any(api.events(since=self._asked_at, until=int(time.time()), filters=ended, decode=True)):
            return False
        listing = api.containers(all=True, size=True, filters={"id": container})
        return all(entry.get("SizeRw", 0) <= self._job.limits.memory_mb << 20 for entry in listing)

    def _state(self, container: str) -> dict[str, Any]:
        self._engine.client.api.wait(container, timeout=ANSWER_S)
        state: dict[str, Any] = self._engine.client.api.inspect_container(container)["State"]
        return state

    def _hits(self, ending: Ending, state: dict[str, Any]) -> frozenset[Hit]:
        if ending == "wall":
            return frozenset({"wall"})
        if ending == "stopped":
            return frozenset({"output" if self._output.runaway or self._frames.runaway else "memory"})
        return frozenset({"memory"} if state["OOMKilled"] else ())

    def _refuse_host_faults(self, state: dict[str, Any]) -> None:
        if not self._frames.started:
            reason = self._frames.failure or self._output.content().decode(errors="replace").strip()
            raise InfraError(
                f"the sandbox did not start (status {state['ExitCode']}): {reason}", "Run `assay doctor`."
            )
        if not self._frames.ended:
            raise InfraError(f"the container was ended from outside (status {state['ExitCode']})")

    def _counter(self, units: Mapping[str, float]) -> float | None:
        """The number in the first of the files `units` names that was there, in its unit."""
        for path, unit in units.items():
            if content := self._frames.counters().get(path):
                return int(content.split(b"\n")[0].split()[-1]) * unit
        return None
