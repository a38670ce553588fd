"""Images made of layers: each built once, on top of another, and named by the digest of all it holds."""

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from docker.errors import ImageNotFound
from filelock import FileLock

from sandbox.engine import FAULTS, Engine, engine_faults, explain
from tasks.digest import digest
from tasks.errors import BuildError

REVISION = 1
"""Part of every tag: raised when layers are made in another way."""
USER = 1000
VARIABLES_LABEL = "assay.variables"
NAMED_USER = (
    f"RUN grep -q '^[^:]*:[^:]*:{USER}:' /etc/passwd "
    f"|| echo 'assay:x:{USER}:{USER}::/tmp:/bin/sh' >> /etc/passwd"
)
"""Programs that ask for the user's name get an answer."""


@dataclass(frozen=True)
class Part:
    """A directory of the host and where an image has it."""

    source: Path
    target: str
    owner: int = 0
    """Uid and gid of all that is in it."""

    def owned(self, member: tarfile.TarInfo) -> tarfile.TarInfo:
        return member.replace(uid=self.owner, gid=self.owner, uname="", gname="", deep=False)


@dataclass(frozen=True)
class Layer:
    """What is put on top of an image: directories, then Dockerfile lines. `key` names what the parts hold."""

    name: str
    key: str
    parts: tuple[Part, ...] = ()
    lines: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    network: str = "none"
    """Of the commands among `lines`."""

    def tag(self, parent: str) -> str:
        places = [(part.target, part.owner) for part in self.parts]
        recipe = [REVISION, parent, self.key, places, self.lines, self.labels]
        return f"assay/{self.name}:{digest(recipe)[:24]}"


def build(engine: Engine, parent: str, layers: Iterable[Layer]) -> tuple[str, bool]:
    """Tag of `layers` on top of the image `parent`, and whether any of them was missing and had to be built.

    Raises:
        BuildError: naming the log file.
    """
    built = False
    for layer in layers:
        tag = layer.tag(parent)
        with building(engine, tag) as missing:
            if missing:
                _build(engine, parent, layer, tag)
                built = True
        parent = tag
    return parent, built


def job_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Label under which an image keeps the variables its jobs run with."""
    return {VARIABLES_LABEL: json.dumps(variables, sort_keys=True)}


def variables_of(engine: Engine, image: str) -> dict[str, str]:
    """The variables noted by `job_variables`."""
    with engine_faults():
        labels = engine.client.images.get(image).labels
    variables: dict[str, str] = json.loads(labels.get(VARIABLES_LABEL, "{}"))
    return variables


@contextmanager
def building(engine: Engine, tag: str) -> Iterator[bool]:
    """Yields whether the image `tag` must be made; other processes that want it wait meanwhile."""
    if present(engine, tag):
        yield False
        return
    lock = engine.cache / "images" / f".{tag.replace('/', '-')}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        yield not present(engine, tag)


def image_id(engine: Engine, name: str) -> str:
    with engine_faults():
        return str(engine.client.images.get(name).id)


def present(engine: Engine, name: str) -> bool:
    with engine_faults():
        try:
            engine.client.images.get(name)
        except ImageNotFound:
            return False
    return True


def _build(engine: Engine, parent: str, layer: Layer, tag: str) -> None:
    log = engine.cache / "logs" / f"{tag.replace('/', '-').replace(':', '-')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryFile(dir=log.parent) as context,
        log.open("w", errors="backslashreplace") as written,
    ):
        _write_context(context, parent, layer, log.parent)
        context.seek(0)
        try:
            answers = engine.client.api.build(
                fileobj=context,
                custom_context=True,
                tag=tag,
                labels={"assay.layer": layer.name, **layer.labels},
                network_mode=layer.network,
                rm=True,
                forcerm=True,
                decode=True,
            )
            failure = _follow(answers, written)
        except FAULTS as error:
            failure = explain(error)
            written.write(failure)
    if failure:
        raise BuildError(f"the image layer {tag} did not build: {failure}", f"Its log: {log}")


def _follow(answers: Iterator[dict[str, Any]], written: IO[str]) -> str:
    """Copies the builder's words to the log and returns what it failed of, if it did."""
    failure = ""
    for answer in answers:
        written.write(answer.get("stream", ""))
        if error := answer.get("error"):
            failure = error.strip()
            written.write(failure)
    return failure


def _write_context(stream: IO[bytes], parent: str, layer: Layer, spool: Path) -> None:
    """Directories go as archives, which the engine unpacks once; as files it would write each one twice."""
    lines = [f"FROM {parent}"]
    with tarfile.open(fileobj=stream, mode="w") as context:
        for number, part in enumerate(layer.parts):
            with tempfile.TemporaryFile(dir=spool) as packed:
                with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
                    archive.add(part.source, arcname=part.target.lstrip("/"), filter=part.owned)
                _add(context, f"part{number}.tar", packed)
            lines.append(f"ADD part{number}.tar /")
        _add(context, "Dockerfile", io.BytesIO("\n".join([*lines, *layer.lines, ""]).encode()))


def _add(context: tarfile.TarFile, name: str, content: IO[bytes]) -> None:
    member = tarfile.TarInfo(name)
    member.size = content.seek(0, os.SEEK_END)
    content.seek(0)
    context.addfile(member, content)
