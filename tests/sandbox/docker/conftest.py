import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from docker_sights import BARE

from sandbox.docker import Docker
from sandbox.job import Execution, Job, Limits, Prepared
from tasks.errors import SandboxUnavailable

USUAL = Limits(wall_s=60)

Run = Callable[..., Execution]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.docker)


@pytest.fixture(scope="session")
def open_place() -> Iterator[Path]:
    """A directory that the unprivileged account of builds can reach, unlike pytest's own."""
    place = Path(tempfile.mkdtemp(prefix="assay-tests-"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def engine_answers() -> None:
    try:
        Docker().probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def containers(engine_answers: None, open_place: Path) -> Docker:
    """The backend."""
    return Docker(open_place / "cache", [Path(sys.executable)], base_image="host")


@pytest.fixture(scope="session")
def tree(open_place: Path) -> Path:
    """A repository."""
    place = open_place / "tree"
    (place / "package").mkdir(parents=True)
    (place / "package" / "module.py").write_text("value = 1\n")
    return place


@pytest.fixture(scope="session")
def prepared(containers: Docker, tree: Path) -> Prepared:
    return containers.prepare(BARE, tree, key="tests", version="")


@pytest.fixture
def sh(containers: Docker, prepared: Prepared) -> Run:
    """Runs a shell line in a fresh container."""

    def run(line: str, limits: Limits = USUAL, **more: Any) -> Execution:
        return containers.run(prepared, Job(("sh", "-c", line), limits=limits, **more))

    return run
