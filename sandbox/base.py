"""The image at the bottom of every built environment: system libraries, compilers and git."""

import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from sandbox.closure import Closure
from sandbox.engine import FAULTS, Engine, explain
from sandbox.images import NAMED_USER, Layer, build, building, image_id, present
from sandbox.published import pull
from tasks.errors import BuildError, SourceError

PULLED = "debian:bookworm-slim"
PATIENCE_S = 20
"""Longest silence of a registry before `auto` does without."""
TOOLS = (
    *("ca-certificates", "file", "g++", "gcc", "git", "locales", "make", "media-types", "netbase", "patch"),
    *("pkg-config", "procps", "python3", "tzdata", "xz-utils"),
)
"""Debian packages put on a pulled image. Its own `python3` is there for the libraries it brings."""


def base_image(engine: Engine, choice: str = "auto", system_packages: Iterable[str] = ()) -> str:
    """Tag of the base image with `system_packages`, made if it is not there.

    `choice` is the name of an image to pull, `host` for the machine's own Debian packages, or `auto`:
    whichever of the two is there already, else a pulled one, else `host`.

    Raises:
        SourceError: none can be had, with the remedy.
        BuildError: naming the log file.
    """
    packages = tuple(sorted(set(system_packages)))
    if choice == "auto":
        choice = _automatic(engine, packages)
    if choice == "host":
        return _import(engine, Closure(packages))
    pull(engine, choice)
    return build(engine, image_id(engine, choice), [_completion(packages)])[0]


def _completion(packages: tuple[str, ...]) -> Layer:
    """Without apt-get the image must hold the tools already, and packages asked for cannot be had."""
    install = "apt-get update && apt-get install -y --no-install-recommends {} && rm -rf /var/lib/apt/lists/*"
    lines = ["USER 0:0", f"RUN ! command -v apt-get || {{ {install.format(' '.join(TOOLS))}; }}"]
    if packages:
        lines.append(f"RUN {install.format(' '.join(packages))}")
    return Layer("base", key="", lines=(*lines, NAMED_USER), network="host")


def _automatic(engine: Engine, packages: tuple[str, ...]) -> str:
    if present(engine, PULLED):
        return PULLED
    with suppress(SourceError):
        if present(engine, _tag(Closure(packages))):
            return "host"
    return PULLED if _pulled_soon(engine) else "host"


def _pulled_soon(engine: Engine) -> bool:
    try:
        pull(Engine(engine.cache, answer_s=PATIENCE_S), PULLED, attempts=1)
    except SourceError:
        return False
    return True


def _tag(closure: Closure) -> str:
    return f"assay/base:{closure.digest[:24]}"


def _import(engine: Engine, closure: Closure) -> str:
    tag = _tag(closure)
    with building(engine, tag) as missing:
        if missing:
            _send(engine, closure, tag)
    return tag


def _send(engine: Engine, closure: Closure, tag: str) -> None:
    """The archive goes straight from the packages to the engine: it is half a gigabyte."""
    reading, writing = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))

    def write() -> None:
        with writing:
            closure.write(writing)

    try:
        with ThreadPoolExecutor(1) as pool, reading:
            writer = pool.submit(write)
            answer = engine.client.api.import_image_from_stream(
                reading, changes=['LABEL "assay.layer"="base"']
            )
        writer.result()  # a cut archive is a good one to the engine: only a whole one gets the name
        image = json.loads(answer.splitlines()[-1])["status"]
        engine.client.images.get(image).tag(tag)
    except FAULTS as error:
        raise BuildError(f"the base image could not be imported: {explain(error)}") from error
