"""The backend that needs neither daemon nor root: bubblewrap, over directory trees."""

import sys
import time
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from sandbox import trees
from sandbox.bwrap import VARIABLES, Layers, Tools, install_tools, job_arguments
from sandbox.interpreter import provide
from sandbox.job import Execution, Job, Limits, Prepared
from sandbox.namespaces import remedy
from sandbox.protocol import new_boundary, request
from sandbox.recipe import TESTBED
from sandbox.supervisor import Supervisor
from tasks.cache import cache_root
from tasks.environment import Environment
from tasks.errors import BuildError, InfraError, SandboxUnavailable, SourceError

IDENTITY = {"identity": ("1000", "1000")}
"""Uid and gid of the command, known as `assay` inside."""


PROBE_S = 60.0


class Bubblewrap:
    """See `Sandbox`. `pythons` are interpreters to consider before those found on this machine."""

    name = "bubblewrap"

    def __init__(self, cache: Path | None = None, pythons: Sequence[Path] = ()) -> None:
        self.cache = cache or cache_root()
        self.trees = trees.Trees(self.cache, pythons)
        self._load = lru_cache(maxsize=1024)(trees.load)

    @cached_property
    def tools(self) -> Tools:
        return install_tools(self.cache)

    def probe(self) -> None:
        running = f"{sys.version_info.major}.{sys.version_info.minor}"
        try:
            python = provide(running, self.cache, [Path(sys.executable)])
            layers = Layers(python, (self.tools.empty,), self.tools.empty)
            execution = self._execute(layers, VARIABLES, Job(("true",), limits=Limits(wall_s=PROBE_S)))
        except (InfraError, BuildError, SourceError, OSError) as error:
            raise SandboxUnavailable(f"bubblewrap does not work here: {error}", remedy(str(error))) from error
        if execution.exit_status != 0:
            raise SandboxUnavailable(
                f"`true` does not run under bubblewrap: {execution.output.decode(errors='replace')}"
            )

    def prepare(self, environment: Environment, tree: Path, key: str, version: str) -> Prepared:
        directory, build_s = self.trees.place(environment, key, version), 0.0
        if not directory.exists():
            started = time.monotonic()
            self.trees.build(environment, tree, key, version)
            build_s = time.monotonic() - started
        return Prepared(directory.name, directory / "tree", build_s, str(directory))

    def run(self, prepared: Prepared, job: Job) -> Execution:
        built = self._load(Path(prepared.handle))
        return self._execute(built.layers, {**VARIABLES, **built.variables}, job)

    def _execute(self, layers: Layers, variables: dict[str, str], job: Job) -> Execution:
        boundary = new_boundary()
        arguments = job_arguments(self.tools, layers, scratch_bytes=job.limits.memory_mb << 20)
        payload = request(job, TESTBED, variables, boundary, fields_of_backend=IDENTITY)
        return Supervisor(arguments, payload, boundary, job).run()
