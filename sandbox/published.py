"""Published images: SWE-bench's naming, pulling, and the thin layer that makes one fit to run patches in."""

import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from docker.errors import NotFound
from tenacity import Retrying, retry_if_not_exception_type, stop_after_attempt, wait_exponential_jitter

from sandbox.engine import FAULTS, Engine, engine_faults, explain
from sandbox.images import NAMED_USER, USER, Layer, job_variables, present
from sandbox.recipe import TESTBED
from tasks.cache import publish
from tasks.errors import BuildError, SourceError

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PYTHONS = (
    "/opt/miniconda3/envs/testbed/bin/python",
    "/opt/env/bin/python",
    "/usr/local/bin/python",
    "/usr/bin/python3",
)
"""Where published images keep the interpreter of the tests; the first that is there counts."""
ATTEMPTS = 3


def published_image(instance_id: str, namespace: str = "swebench", arch: str = "x86_64") -> str:
    """Name under which SWE-bench publishes the image of an instance.

    Registries refuse double underscores, so these stand as `_1776_`; names are lower case.
    """
    name = f"sweb.eval.{arch}.{instance_id}:latest".replace("__", "_1776_").lower()
    return f"{namespace}/{name}" if namespace else name


def relocated(image: str, registry: str = "", namespace: str = "") -> str:
    """`image` as named on another registry or in another namespace; unchanged where neither is given."""
    first, _, rest = image.partition("/")
    has_host = bool(rest) and ("." in first or ":" in first or first == "localhost")
    host, path = (first, rest) if has_host else ("", image)
    if namespace:
        path = f"{namespace}/{path.rpartition('/')[2]}"
    return "/".join(part for part in (registry.rstrip("/") or host, path) if part)


def pull(engine: Engine, name: str, attempts: int = ATTEMPTS) -> None:
    """Fetches the image `name` if it is not there.

    Raises:
        SourceError: it cannot be had, and why.
    """
    if present(engine, name):
        return
    repository, tag = name, "latest"
    if ":" in name.rpartition("/")[2]:
        repository, _, tag = name.rpartition(":")
    retrying = Retrying(
        stop=stop_after_attempt(attempts),
        wait=wait_exponential_jitter(initial=1, max=10),
        retry=retry_if_not_exception_type(NotFound),
        reraise=True,
    )
    try:
        retrying(engine.client.images.pull, repository, tag=tag)
    except FAULTS as error:
        raise SourceError(
            f"the image {name} cannot be pulled: {explain(error)}",
            "Check the name, --registry and --namespace, and that the engine reaches the registry; log in if "
            "it is private (docker login). Or make the environment here: --environments built.",
        ) from error


def adaptation(engine: Engine, name: str, variables: Mapping[str, str]) -> tuple[str, Layer]:
    """Id of the published image `name`, and the layer that makes it ready for jobs.

    The layer drops the history, gives the repository to the sandbox user, and notes `variables`.

    Raises:
        BuildError: no Python where SWE-bench images have it.
    """
    with engine_faults():
        image = engine.client.images.get(name)
    given = dict(line.split("=", 1) for line in image.attrs["Config"]["Env"] or ())
    path = f"{Path(_find_python(engine, name)).parent}:{given.get('PATH', DEFAULT_PATH)}"
    lines = (
        "USER 0:0",
        f"RUN rm -rf {TESTBED}/.git && chown -R {USER}:{USER} {TESTBED}",
        NAMED_USER,
        f"ENV PATH={path}",
    )
    return str(image.id), Layer(
        "published", key=str(image.id), lines=lines, labels=job_variables({**variables, "PATH": path})
    )


def repository_of(engine: Engine, tag: str) -> Path:
    """The repository as the adapted image `tag` has it, copied to the cache once."""
    target = engine.cache / "published" / tag.rpartition(":")[2]
    with publish(target) as draft:
        if draft:
            with _container(engine, tag) as container:
                _copy_out(engine, container, TESTBED, draft)
    return target


@contextmanager
def _container(engine: Engine, image: str) -> Iterator[str]:
    """A container that is looked into but never started."""
    with engine_faults():
        container = engine.client.api.create_container(
            image, ["/"], labels=engine.labels, network_disabled=True
        )["Id"]
    try:
        yield container
    finally:
        with engine_faults():
            engine.remove(container)


def _find_python(engine: Engine, image: str) -> str:
    with _container(engine, image) as container:
        for path in PYTHONS:
            with engine_faults(), suppress(NotFound):
                engine.client.api.get_archive(container, path)
                return path
    raise BuildError(f"the image {image} holds no Python at any of {', '.join(PYTHONS)}")


def _copy_out(engine: Engine, container: str, path: str, target: Path) -> None:
    """The archive is not trusted: nothing goes outside `target`, links that point out of it are left out."""
    with tempfile.TemporaryFile(dir=target.parent) as spool:
        with engine_faults():
            for chunk in engine.client.api.get_archive(container, path)[0]:
                spool.write(chunk)
        spool.seek(0)
        with tarfile.open(fileobj=spool) as archive:
            archive.extractall(target, filter=_below_first_directory)  # noqa: S202 - the filter is what S202 asks for


def _below_first_directory(member: tarfile.TarInfo, target: str) -> tarfile.TarInfo | None:
    name = member.name.partition("/")[2]
    link = member.linkname.partition("/")[2] if member.islnk() else member.linkname
    if not name:
        return None
    try:
        return tarfile.data_filter(member.replace(name=name, linkname=link, deep=False), target)
    except tarfile.FilterError:
        return None
