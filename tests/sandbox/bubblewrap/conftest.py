from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_sights import BARE

from sandbox.job import Prepared, Sandbox


@pytest.fixture(scope="session")
def box(make_box: Callable[[str], Sandbox]) -> Sandbox:
    return make_box("bubblewrap")


@pytest.fixture(scope="session")
def prepared(box: Sandbox, tree: Path) -> Prepared:
    """The repository, prepared here on its own: pytest would keep that of the directory above."""
    return box.prepare(BARE, tree, key="tests", version="")
