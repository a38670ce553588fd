import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox_sights import BARE, make_tree

from sandbox.choose import make
from sandbox.job import Execution, Job, Limits, Prepared, Sandbox
from tasks.cache import cache_root
from tasks.errors import SandboxUnavailable

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
def cache(open_place: Path) -> Path:
    """A cache of its own, but for the interpreters: their copies take long to make and never change."""
    pythons = cache_root() / "pythons"
    pythons.mkdir(parents=True, exist_ok=True)
    cache = open_place / "cache"
    cache.mkdir(exist_ok=True)
    if not (cache / "pythons").exists():
        (cache / "pythons").symlink_to(pythons)
    return cache


@pytest.fixture(scope="session")
def make_box(cache: Path) -> Callable[[str], Sandbox]:
    """The backend of a name; skips, saying why, where it does not work."""

    def make_it(name: str) -> Sandbox:
        own = {"base_image": "host"} if name == "docker" else {}
        box = make(name, {"cache": cache, "pythons": [Path(sys.executable)], **own})
        try:
            box.probe()
        except SandboxUnavailable as reason:
            pytest.skip(str(reason))
        return box

    return make_it


@pytest.fixture(scope="session", params=["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])
def box(request: pytest.FixtureRequest, make_box: Callable[[str], Sandbox]) -> Sandbox:
    """Each backend that works here."""
    return make_box(request.param)


@pytest.fixture(scope="session")
def tree(open_place: Path) -> Path:
    """A repository."""
    place = make_tree(open_place / "tree", FILES)
    (place / "shortcut").symlink_to("package")
    return place


@pytest.fixture(scope="session")
def prepared(box: Sandbox, tree: Path) -> Prepared:
    return box.prepare(BARE, tree, key="tests", version="")


@pytest.fixture
def sh(box: Sandbox, prepared: Prepared) -> Run:
    """Runs a shell line in a fresh copy."""

    def run(line: str, limits: Limits = USUAL, **more: Any) -> Execution:
        return box.run(prepared, Job(("sh", "-c", line), limits=limits, **more))

    return run


@pytest.fixture
def py(box: Sandbox, prepared: Prepared) -> Run:
    """Runs a Python program in a fresh copy."""

    def run(program: str, limits: Limits = USUAL, **more: Any) -> Execution:
        return box.run(prepared, Job(("python", "-c", program), limits=limits, **more))

    return run
