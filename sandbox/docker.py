"""The Docker backend: every execution is the command of a container made for it, from layered images."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from sandbox import base, images, in_image, published
from sandbox.bubblewrap import Bubblewrap
from sandbox.bwrap import VARIABLES
from sandbox.container import Run, create
from sandbox.engine import ANSWER_S, Engine, engine_faults
from sandbox.images import USER, Layer, Part, job_variables
from sandbox.job import Execution, Job, Limits, Prepared
from sandbox.recipe import ENV, PYTHON, TESTBED
from sandbox.smallest import STATUS, smallest_image
from sandbox.trees import Built, Trees, load
from tasks.cache import cache_root
from tasks.environment import Environment
from tasks.errors import InfraError, SandboxUnavailable


class Docker:
    """See `Sandbox`. Works with the engine at `sandbox.engine.engine_address()`.

    A container starts as root with the few capabilities `init` needs, in a network of its own that leads
    nowhere; the command runs as uid 1000 without any. Besides the repository and scratch places in memory it
    can write nothing.

    Args:
        cache: directory shared with other processes.
        pythons: interpreters to consider before those found on this machine.
        base_image: under built environments: an image to pull, `host`, or `auto` (see `sandbox.base`).
        registry: where published images are pulled from, instead of where their name says.
        namespace: the same for the part of the name before the last slash.
        connections: kept to the engine; at least one for each concurrent execution.
    """

    name = "docker"

    def __init__(
        self,
        cache: Path | None = None,
        pythons: Sequence[Path] = (),
        *,
        base_image: str = "auto",
        registry: str = "",
        namespace: str = "",
        connections: int = 64,
    ) -> None:
        self.engine = Engine(cache or cache_root(), connections)
        self._trees = Trees(self.engine.cache, pythons)
        self._registry = registry
        self._namespace = namespace
        self._base = lru_cache(lambda packages: base.base_image(self.engine, base_image, packages))
        self._variables = lru_cache(maxsize=1024)(lambda image: images.variables_of(self.engine, image))

    def probe(self) -> None:
        """Runs a very small program in a container as closed off as those of jobs; removes leftovers first.

        Raises:
            SandboxUnavailable: with the exact remedy.
        """
        try:
            self.engine.sweep()
            status = self._try_smallest()
        except InfraError as error:
            raise SandboxUnavailable(
                f"Docker answers, but runs no container: {error.message}",
                "Try `docker run --rm --network none hello-world`, and look into the engine's own log.",
            ) from error
        if status != STATUS:
            raise SandboxUnavailable(
                f"Docker runs programs wrongly: exit status {status} instead of {STATUS}"
            )

    def prepare(self, environment: Environment, tree: Path, key: str, version: str) -> Prepared:
        started = time.monotonic()
        if environment.image:
            image, built, tree = self._adapt(environment.image, dict(environment.variables))
        else:
            image, built, tree = self._stack(environment, tree, key, version)
        return Prepared(
            digest=image.rpartition(":")[2],
            tree=tree,
            build_s=time.monotonic() - started if built else 0.0,
            handle=image,
        )

    def run(self, prepared: Prepared, job: Job) -> Execution:
        variables = {**VARIABLES, **self._variables(prepared.handle)}
        return Run(self.engine, prepared.handle, job, variables).execute()

    def _adapt(self, name: str, variables: Mapping[str, str]) -> tuple[str, bool, Path]:
        name = published.relocated(name, self._registry, self._namespace)
        published.pull(self.engine, name)
        parent, layer = published.adaptation(self.engine, name, variables)
        image, built = images.build(self.engine, parent, [layer])
        return image, built, published.repository_of(self.engine, image)

    def _stack(self, environment: Environment, tree: Path, key: str, version: str) -> tuple[str, bool, Path]:
        place = self._trees.place(environment, key, version)
        if not (place.exists() or self._bubblewrap_works):
            return self._build_in_image(environment, tree, key, version)
        made = not place.exists()
        directories = load(self._trees.build(environment, tree, key, version))
        parent = self._base(environment.system_packages)
        image, built = images.build(self.engine, parent, layers(directories))
        return image, made or built, directories.layers.tree

    def _build_in_image(
        self, environment: Environment, tree: Path, key: str, version: str
    ) -> tuple[str, bool, Path]:
        parent = self._base(environment.system_packages)
        steps = in_image.layers(
            environment, tree, key, version, cache=self.engine.cache, pythons=self._trees.pythons
        )
        image, built = images.build(self.engine, parent, steps)
        return image, built, published.repository_of(self.engine, image)

    @cached_property
    def _bubblewrap_works(self) -> bool:
        try:
            Bubblewrap(self.engine.cache, self._trees.pythons).probe()
        except SandboxUnavailable:
            return False
        return True

    def _try_smallest(self) -> int:
        try:
            return self._status_of_smallest()
        except InfraError as error:
            if "ipv6" not in error.message:
                raise
            self.engine.sysctls.clear()  # a kernel without IPv6
            return self._status_of_smallest()

    def _status_of_smallest(self) -> int:
        with engine_faults():
            container = create(self.engine, smallest_image(self.engine), ["/exit"], Limits(memory_mb=64))
            try:
                self.engine.client.api.start(container)
                return int(self.engine.client.api.wait(container, timeout=ANSWER_S)["StatusCode"])
            finally:
                self.engine.remove(container)


def layers(built: Built) -> Iterator[Layer]:
    """A prepared directory tree as image layers, those first that most repositories share."""
    python, *shared = built.layers.python, *built.layers.env[:-1]
    yield Layer("python", key=python.name, parts=(Part(python, PYTHON),))
    for directory in shared:
        yield Layer("environment", key=directory.parent.name, parts=(Part(directory, ENV),))
    yield Layer(
        "repository",
        key=built.directory.name,
        parts=(Part(built.layers.env[-1], ENV), Part(built.layers.tree, TESTBED, USER)),
        lines=(f"ENV PATH={VARIABLES['PATH']}",),
        labels=job_variables(built.variables),
    )
