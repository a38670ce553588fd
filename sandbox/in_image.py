"""Environments built by Docker alone, where bubblewrap does not run: the same scripts, as image layers."""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sandbox import recipe, workshop
from sandbox.bwrap import VARIABLES
from sandbox.images import USER, Layer, Part, job_variables
from sandbox.interpreter import provide
from sandbox.recipe import PYTHON, TESTBED
from sandbox.trees import environment_digest, repository_digest
from tasks.cache import publish
from tasks.digest import digest
from tasks.environment import Environment
from tasks.errors import SourceError

CERTIFICATES = "/opt/certificates"
DOWNLOADS = "/tmp/uv"  # noqa: S108 - a place inside the image, empty again when the layer is done


def layers(
    environment: Environment, tree: Path, key: str, version: str, *, cache: Path, pythons: Sequence[Path]
) -> Iterator[Layer]:
    """What is put on the base image for `environment` with the repository `tree` installed.

    Raises:
        SourceError: no interpreter of this machine would run in a container.
    """
    if sys.platform != "linux":
        raise SourceError(
            "environments are built on Linux only",
            "Use published images (--environments published), or run Assay on Linux.",
        )
    python = provide(environment.python, cache, pythons)
    yield Layer("python", key=python.name, parts=(Part(python, PYTHON),))
    tools = (Part(workshop.install_uv(cache), "/opt/uv"), Part(_certificates(cache), CERTIFICATES))
    yield Layer("tools", key=digest([part.source.name for part in tools]), parts=tools)
    yield Layer(
        "environment",
        key=environment_digest(environment),
        lines=(_run(recipe.dependencies(environment), {}),),
        network="host",
    )
    variables = dict(environment.variables)
    released = {"SETUPTOOLS_SCM_PRETEND_VERSION": recipe.scm_version(version)} if version else {}
    owned = f"find {TESTBED} ! -user {USER} -exec chown -h {USER}:{USER} {{}} +\n"
    yield Layer(
        "repository",
        key=repository_digest(environment, key, version),
        parts=(Part(tree, TESTBED, USER),),
        lines=(
            _run(recipe.repository(environment) + owned, {**variables, **released}),
            f"ENV PATH={VARIABLES['PATH']}",
        ),
        labels=job_variables(variables),
        network="host",
    )


def _run(script: str, variables: Mapping[str, str]) -> str:
    """A Dockerfile line that runs `script` with the variables of builds and `variables`, and nothing else."""
    inside = {
        **workshop.building_variables(),
        **{name: f"{CERTIFICATES}/{name}" for name in workshop.host_certificates()},
        "UV_CACHE_DIR": DOWNLOADS,
        "PIP_CACHE_DIR": DOWNLOADS,
        **variables,
    }
    words = [f"{name}={value}" for name, value in inside.items()]
    return "RUN " + json.dumps(["env", "-i", *words, "sh", "-c", f"{script}rm -rf {DOWNLOADS}\n"])


def _certificates(cache: Path) -> Path:
    """A directory with the bundles that the host's clients trust, named by the variables that name them."""
    bundles = workshop.host_certificates()
    target = cache / "tools" / f"certificates-{digest({n: p.read_text() for n, p in bundles.items()})[:16]}"
    with publish(target) as draft:
        if draft:
            for name, path in bundles.items():
                shutil.copy(path, draft / name)
    return target
