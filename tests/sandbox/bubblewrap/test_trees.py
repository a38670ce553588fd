"""Building environments as directories."""

import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_sights import BARE, make_tree

from sandbox.bubblewrap import Bubblewrap
from sandbox.interpreter import programs
from sandbox.job import File, Job
from tasks.environment import Environment
from tasks.errors import BuildError


def leftovers(cache: Path) -> list[Path]:
    """Half-made things: hidden directories beside the published ones."""
    return [path for path in cache.glob("*/.*") if path.is_dir()]


def test_a_prepared_repository_is_found_again(box, prepared, open_place):
    """The second request for the same thing builds nothing and gets the same."""
    again = box.prepare(BARE, open_place / "tree", key="tests", version="")
    assert (again.digest, again.build_s) == (prepared.digest, 0.0)


def test_the_given_tree_is_not_changed(prepared, open_place):
    """Builds work on a copy."""
    assert not list((open_place / "tree").rglob("__pycache__"))


def test_variables_of_the_environment_reach_its_jobs(box, open_place):
    """Variables are set for the build and for the tests."""
    environment = BARE.model_copy(
        update={"variables": (("FLAVOUR", "plain"),), "pre_install": ('echo "$FLAVOUR" > built',)}
    )
    prepared = box.prepare(environment, open_place / "tree", key="variables", version="")
    execution = box.run(prepared, Job(("sh", "-c", 'cat built; echo "$FLAVOUR"')))
    assert execution.output == b"plain\nplain\n"


def test_bytecode_is_there_and_stale_once_patched(box, prepared):
    """Imports need no compiling; a patched file is never served from the cache, not even at equal length."""
    assert list((prepared.tree / "package/__pycache__").glob("module.*.pyc"))
    program = "import package.module as m; print(m.value)"
    patched = Job(("python", "-c", program), files={"package/module.py": File(b"value = 2\n")})
    assert box.run(prepared, Job(("python", "-c", program))).output == b"1\n"
    assert box.run(prepared, patched).output == b"2\n"


def test_what_an_install_deletes_is_deleted(box, prepared, open_place):
    """An install may remove files of the packages below; others on the same packages keep them."""
    environment = BARE.model_copy(update={"pre_install": ("rm -r /opt/env/lib/*/site-packages",)})
    pruned = box.prepare(environment, open_place / "tree", key="pruned", version="")
    line = ("sh", "-c", "ls -d /opt/env/lib/*/site-packages >/dev/null 2>&1 && echo there || echo gone")
    assert box.run(pruned, Job(line)).output == b"gone\n"
    assert box.run(prepared, Job(line)).output == b"there\n"


def test_a_failing_build_names_its_log_and_leaves_nothing(box, open_place):
    """A failed build is told with the last words of its log and the log's name; nothing half-made stays."""
    environment = BARE.model_copy(update={"pre_install": ("echo the reason; exit 3",)})
    with pytest.raises(BuildError, match=r"status 3.*the reason") as failure:
        box.prepare(environment, open_place / "tree", key="failing", version="")
    log = Path(failure.value.remedy.removeprefix("See "))
    assert "the reason" in log.read_text()
    assert leftovers(box.cache) == []


def test_a_host_that_cannot_write_is_told_as_such(open_place):
    """A cache on a full or closed disk is a build error with a remedy, not a traceback."""
    (open_place / "blocked").write_text("a file where the cache should be")
    with pytest.raises(BuildError, match="cannot build"):
        Bubblewrap(cache=open_place / "blocked").prepare(BARE, open_place / "tree", key="x", version="")


def test_two_processes_build_the_same_thing_once(box, open_place):
    """Whoever comes second waits for the first and uses what it made."""
    program = f"""
import sys
from pathlib import Path
from sandbox.bubblewrap import Bubblewrap
from tasks.environment import Environment
environment = Environment(python={BARE.python!r}, install="", pre_install=("echo built once; sleep 1",))
box = Bubblewrap(cache=Path({str(box.cache)!r}), pythons=[Path(sys.executable)])
print(box.prepare(environment, Path({str(open_place / "tree")!r}), key="twice", version="").digest)
"""
    callers = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    digests = {caller.communicate()[0].strip() for caller in callers}
    assert len(digests) == 1
    log = box.cache / "logs" / f"repository-{digests.pop()}.log"
    assert log.read_text().count("built once") == 1


PROJECT = {
    "setup.py": "from setuptools import setup\nsetup(name='tiny', version='1.0', packages=['tiny'])\n",
    "tiny/__init__.py": "def answer():\n    return 41\n",
    "tests/test_tiny.py": "import tiny\n\ndef test_answer():\n    assert tiny.answer() == 42\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.6", "3.8", "3.11", "3.13"])
def test_a_project_is_installed_in_place_on_every_python(version, cache, open_place):
    """From packages of the index to a fixed test: the patch counts without another install."""
    if not list(programs(tuple(map(int, version.split("."))), [])):
        pytest.skip(f"no CPython {version} on this machine")
    box = Bubblewrap(cache=cache)
    tree = make_tree(open_place / "tiny", PROJECT)
    environment = Environment(python=version, packages=("pytest<8.4",), frozen=False)
    prepared = box.prepare(environment, tree, key="tiny", version="")
    command = ("sh", "-c", "cd /tmp && pytest -q -p no:cacheprovider /testbed/tests")
    before = box.run(prepared, Job(command))
    after = box.run(
        prepared, Job(command, files={"tiny/__init__.py": File(b"def answer():\n    return 42\n")})
    )
    assert (before.exit_status, after.exit_status) == (1, 0)
    assert list(prepared.tree.rglob("test_tiny.*-pytest-*.pyc"))
