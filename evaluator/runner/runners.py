"""The test frameworks Assay can run: how each is started, and what a control test looks like in it."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tasks.environment import Environment, RunnerName
from tasks.errors import InputError

Files = tuple[str, ...]


@dataclass(frozen=True)
class Control:
    """A test made from `name`, `left` and `right`, which passes if these two are equal."""

    text: str
    node_id: Callable[[str, str], str]
    """Its node id, by the path of its module and its name."""


@dataclass(frozen=True)
class Runner:
    """A program of this package that stands in for a test command's, with the same arguments."""

    scripts: Files
    """Of this package, one text together; `channel.py` comes before them."""
    programs: tuple[tuple[str, ...], ...]
    """Beginnings of the test commands it stands in for."""
    select: Callable[[Files], tuple[str, ...]]
    """Arguments that run these files and let no failure end the run."""
    head: str
    controls: tuple[Control, ...]
    """Kinds of tests: `head` and any number of them are a module."""
    owned: Files = ()
    """Files of the repository that are a part of the runner."""
    file_by_file: bool = False
    """Each file is imported, by name in order, only when the ones before it have run."""


def _django_label(path: str) -> str:
    """As the harness makes labels (`harness/test_spec/python.py` of 4.1): dotted, as seen from `tests`."""
    return path.removesuffix(".py").removeprefix("tests/").replace("/", ".")


_FUNCTION = Control("\n\ndef {name}():\n    assert {left} == {right}\n", lambda path, name: f"{path}::{name}")
_RAISES = Control(
    "\n\ndef {name}():\n    with pytest.raises(ZeroDivisionError):\n        1 / ({left} - {right})\n",
    lambda path, name: f"{path}::{name}",
)
_CASE = Control(
    "\n\nclass {name}(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertEqual({left}, {right})\n",
    lambda path, name: f"{path}::{name}::test_it",
)
_METHOD = Control(
    '\n    def {name}(self):\n        """{name}"""\n        self.assertEqual({left}, {right})\n',
    lambda path, name: f"{_django_label(path)}.Control.{name}\n{name}",
)

RUNNERS: Mapping[RunnerName, Runner] = {
    "pytest": Runner(
        scripts=("identity.py", "beacons.py", "pytest_runner.py"),
        programs=(("pytest",), ("py.test",), ("python", "-m", "pytest"), ("python3", "-m", "pytest")),
        select=lambda files: ("--maxfail=0", *files),
        head="import unittest\n\nimport pytest\n",
        controls=(_FUNCTION, _RAISES, _CASE),
    ),
    "django": Runner(
        scripts=("django_runner.py",),
        programs=(("./tests/runtests.py",), ("python", "tests/runtests.py")),
        select=lambda files: tuple(map(_django_label, files)),
        head="import unittest\n\n\nclass Control(unittest.TestCase):",
        controls=(_METHOD,),
    ),
    "sympy": Runner(
        scripts=("sympy_runner.py",),
        programs=(("bin/test",), ("./bin/test",), ("python", "bin/test")),
        select=lambda files: ("--no-subprocess", *files),
        head="",
        controls=(_FUNCTION,),
        owned=("bin/test", "bin/get_sympy.py"),
        file_by_file=True,
    ),
}


def runner_arguments(environment: Environment) -> tuple[str, ...]:
    """The arguments the environment's test command gives to its runner.

    Raises:
        InputError: it does not start that runner.
    """
    try:
        words = tuple(shlex.split(environment.test_command))
    except ValueError:
        words = ()
    for program in RUNNERS[environment.runner].programs:
        if words[: len(program)] == program:
            return words[len(program) :]
    raise InputError(
        f"the test command {environment.test_command!r} does not start {environment.runner}",
        "Only tasks whose tests run under pytest, Django's runtests.py or sympy's bin/test can be graded.",
    )
