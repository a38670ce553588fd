"""What holds for every module and every error, whoever writes the next one."""

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import evaluator
import results
import sandbox
import tasks
from evaluator.cli.app import HELP
from evaluator.runner.runners import RUNNERS
from tasks import errors
from tasks.errors import AssayError

ROOMS = (evaluator, results, sandbox, tasks)
PROGRAMS = {f"evaluator.runner.{Path(name).stem}" for runner in RUNNERS.values() for name in runner.scripts}
"""Run inside the sandbox, as one text with what they share; never imported."""
RUN_BY_ALEMBIC = "results.migrations."
WATCHED_IMPORTS = """
import importlib, json, os, sys
seen = []
def watch(event, arguments):
    writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    acts = event in ("subprocess.Popen", "os.mkdir", "os.remove", "os.rename", "os.fork", "sqlite3.connect")
    if writes or acts or event in ("socket.connect", "socket.getaddrinfo"):
        seen.append([event, repr(arguments)[:200]])
sys.addaudithook(watch)
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps(seen))
"""


def modules() -> list[str]:
    found = (pkgutil.walk_packages(room.__path__, f"{room.__name__}.") for room in ROOMS)
    names = (module.name for room in found for module in room)
    return [name for name in names if name not in PROGRAMS and not name.startswith(RUN_BY_ALEMBIC)]


def subclasses(kind: type[AssayError]) -> list[type[AssayError]]:
    return [kind, *(inner for each in kind.__subclasses__() for inner in subclasses(each))]


def test_no_module_is_longer_than_anybody_reads() -> None:
    """Five hundred lines are the end of it."""
    files = [path for room in ROOMS for path in Path(room.__path__[0]).rglob("*.py")]
    lengths = {str(path): len(path.read_text("utf-8").splitlines()) for path in files}
    assert len(lengths) > 100
    assert {path: length for path, length in lengths.items() if length > 500} == {}


def test_importing_does_nothing() -> None:
    """No module writes, connects, or starts anything until it is asked to."""
    command = [sys.executable, "-B", "-c", WATCHED_IMPORTS, *modules()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_every_error_has_a_documented_exit_code() -> None:
    """Its number stands in the help of the command, its place in the tree of errors."""
    for error in subclasses(AssayError):
        assert f" {error.exit_code} " in HELP, error
        assert error.__name__ in str(errors.__doc__), error
