from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_sights import BARE

from sandbox.docker import Docker
from sandbox.job import Prepared, Sandbox


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.docker)


@pytest.fixture(scope="session")
def box(make_box: Callable[[str], Sandbox]) -> Docker:
    docker = make_box("docker")
    assert isinstance(docker, Docker)
    return docker


@pytest.fixture(scope="session")
def prepared(box: Sandbox, tree: Path) -> Prepared:
    """The repository, prepared here on its own: pytest would keep that of the directory above."""
    return box.prepare(BARE, tree, key="tests", version="")
