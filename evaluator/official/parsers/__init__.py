"""Reads test statuses off a log, as each parser of `harness/log_parsers/python.py` does.

A parser takes text whose only line ends are `\\n` and gives a dict from test id to status, in the order the
ids first appear; of several lines about one id the last counts. The order matters to the grading of ids that
were cut short. Statuses are words of the log: those of `status.py`, and now and then any other.
"""

from collections.abc import Callable, Mapping

from evaluator.official.parsers.django import django
from evaluator.official.parsers.pytest_family import matplotlib, pytest, pytest_options, pytest_v2, seaborn
from evaluator.official.parsers.sympy import sympy
from tasks.errors import InputError

Parser = Callable[[str], dict[str, str]]

PARSERS: Mapping[str, Parser] = {
    "astroid": pytest,
    "astropy": pytest_v2,
    "django": django,
    "flask": pytest,
    "marshmallow": pytest,
    "matplotlib": matplotlib,
    "pvlib": pytest,
    "pydicom": pytest_options,
    "pylint": pytest_options,
    "pytest": pytest,
    "pytest_options": pytest_options,
    "pytest_v2": pytest_v2,
    "pyvista": pytest,
    "requests": pytest_options,
    "scikit": pytest_v2,
    "seaborn": seaborn,
    "sphinx": pytest_v2,
    "sqlfluff": pytest,
    "sympy": sympy,
    "xarray": pytest,
}
"""By the harness's name, without its `parse_log_`."""


def parser_named(name: str) -> Parser:
    """The parser of that name, with or without `parse_log_`.

    Raises:
        InputError: there is none.
    """
    try:
        return PARSERS[name.removeprefix("parse_log_")]
    except KeyError:
        raise InputError(
            f"no log parser is called {name!r}", f"The log parsers are {', '.join(PARSERS)}."
        ) from None
