"""The test frameworks Assay can run: how each is started, and what a control test looks like in it."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tasks.environment import Environment, RunnerName
from tasks.errors import InputError

Files = tuple[str, ...]


@dataclass(frozen=True)
class Runner:
    """A program of this package that stands in for a test command's, with the same arguments."""

    script: str
    programs: tuple[tuple[str, ...], ...]
    """Beginnings of the test commands it stands in for."""
    select: Callable[[Files], tuple[str, ...]]
    """Arguments that run these files and let no failure end the run."""
    head: str
    test: str
    """A test module is `head` and any number of tests, made from `name`, `left` and `right`: equal or not."""
    node_id: Callable[[str, str], str]
    """The node id of the test of a name in the module at a path."""
    owned: Files = ()
    """Files of the repository that are a part of the runner."""
    file_by_file: bool = False
    """Each file is imported, by name in order, only when the ones before it have run."""


def _django_label(path: str) -> str:
    """As the harness makes labels (`harness/test_spec/python.py` of 4.1): dotted, as seen from `tests`."""
    return path.removesuffix(".py").removeprefix("tests/").replace("/", ".")


_FUNCTION = "\n\ndef {name}():\n    assert {left} == {right}\n"
_METHOD = '\n    def {name}(self):\n        """{name}"""\n        self.assertEqual({left}, {right})\n'

RUNNERS: Mapping[RunnerName, Runner] = {
    "pytest": Runner(
        script="pytest_runner.py",
        programs=(("pytest",), ("py.test",), ("python", "-m", "pytest"), ("python3", "-m", "pytest")),
        select=lambda files: ("--maxfail=0", *files),
        head="",
        test=_FUNCTION,
        node_id=lambda path, name: f"{path}::{name}",
    ),
    "django": Runner(
        script="django_runner.py",
        programs=(("./tests/runtests.py",), ("python", "tests/runtests.py")),
        select=lambda files: tuple(map(_django_label, files)),
        head="import unittest\n\n\nclass Control(unittest.TestCase):",
        test=_METHOD,
        node_id=lambda path, name: f"{_django_label(path)}.Control.{name}\n{name}",
    ),
    "sympy": Runner(
        script="sympy_runner.py",
        programs=(("bin/test",), ("./bin/test",), ("python", "bin/test")),
        select=lambda files: ("--no-subprocess", *files),
        head="",
        test=_FUNCTION,
        node_id=lambda path, name: f"{path}::{name}",
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
