import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox_sights import BARE, make_tree

from sandbox.bubblewrap import Bubblewrap
from sandbox.job import Execution, Job, Limits, Prepared

USUAL = Limits(wall_s=60)

FILES = {
    "hello.py": "print('hello')\n",
    "package/__init__.py": "",
    "package/module.py": "value = 1\n",
    "old/only.py": "",
}

Run = Callable[..., Execution]


@pytest.fixture(scope="session")
def open_place() -> Iterator[Path]:
    """A directory that the unprivileged account can reach, unlike pytest's own."""
    place = Path(tempfile.mkdtemp(prefix="assay-tests-"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def box(open_place: Path) -> Bubblewrap:
    return Bubblewrap(cache=open_place / "cache", pythons=[Path(sys.executable)])


@pytest.fixture(scope="session")
def prepared(box: Bubblewrap, open_place: Path) -> Prepared:
    tree = make_tree(open_place / "tree", FILES)
    (tree / "shortcut").symlink_to("package")
    return box.prepare(BARE, tree, key="tests", version="")


@pytest.fixture
def sh(box: Bubblewrap, prepared: Prepared) -> Run:
    """Runs a shell line in a fresh copy."""

    def run(line: str, limits: Limits = USUAL, **more: Any) -> Execution:
        return box.run(prepared, Job(("sh", "-c", line), limits=limits, **more))

    return run


@pytest.fixture
def py(box: Bubblewrap, prepared: Prepared) -> Run:
    """Runs a Python program in a fresh copy."""

    def run(program: str, limits: Limits = USUAL, **more: Any) -> Execution:
        return box.run(prepared, Job(("python", "-c", program), limits=limits, **more))

    return run
