"""What each parser makes of the lines of a log."""

import pytest

from evaluator.official.parsers import PARSERS, parser_named
from evaluator.official.parsers.status import ParserCrash
from tasks.errors import InputError


@pytest.mark.parametrize(
    ("parser", "log", "statuses"),
    [
        pytest.param("pytest", "PASSED t.py::a[1 2]", {"t.py::a[1": "PASSED"}, id="cut at a space"),
        pytest.param("pytest", "FAILED t.py::a - boom", {"t.py::a": "FAILED"}, id="message"),
        pytest.param("pytest", "FAILED - t.py::a", {"t.py::a": "FAILED"}, id="dash first"),
        pytest.param("pytest", "SKIPPED [2] t.py:7: why", {}, id="count of skips"),
        pytest.param("pytest", "PASSED [100%]", {"[100%]": "PASSED"}, id="wrapped progress"),
        pytest.param("pytest", "PASSED [2] t.py", {"[2]": "PASSED"}, id="count of passes"),
        pytest.param("pytest", "PASSED", {}, id="status alone"),
        pytest.param("pytest", " PASSED t.py::a", {}, id="indented"),
        pytest.param("pytest", "XPASS t.py::a", {}, id="unexpected pass"),
        pytest.param("pytest", "ERRORS: no tests", {"no": "ERRORS:"}, id="another word"),
        pytest.param("pytest", "PASSED a\nFAILED a", {"a": "FAILED"}, id="later line"),
        pytest.param("pytest_options", "PASSED a[/x/y]", {"a[/y]": "PASSED"}, id="path"),
        pytest.param("pytest_options", "PASSED a[//x/y]", {"a[//x/y]": "PASSED"}, id="double slash"),
        pytest.param("pytest_options", "PASSED a[/x/*]", {"a[/x/*]": "PASSED"}, id="star"),
        pytest.param("pytest_options", "PASSED a[1]b", {"a[1]": "PASSED"}, id="tail lost"),
        pytest.param("pytest_options", "PASSED a]/x[/y/z", {"a]/x[/y/z": "PASSED"}, id="no pair"),
        pytest.param("pytest_v2", "PASSED a[1  2]", {"a[1 2]": "PASSED"}, id="whole"),
        pytest.param("pytest_v2", "\x1b[32mPASSED\x1b[0m a", {"a": "PASSED"}, id="colours"),
        pytest.param("pytest_v2", "FAILED a[x - y] - boom", {"a[x": "FAILED"}, id="first dash"),
        pytest.param("pytest_v2", "t.py::a PASSED", {"t.py::a": "PASSED"}, id="old style"),
        pytest.param("pytest_v2", "SKIPPED [1] t.py:7: x", {}, id="count of skips, v2"),
        pytest.param("matplotlib", "PASSED a[MouseButton.LEFT]", {"a[1]": "PASSED"}, id="left button"),
        pytest.param("matplotlib", "PASSED a[MouseButton.RIGHT]", {"a[3]": "PASSED"}, id="right button"),
        pytest.param("seaborn", "t.py::a PASSED [ 5%]", {"t.py::a": "PASSED"}, id="verbose pass"),
        pytest.param("seaborn", "PASSED a\nFAILED b", {"a": "PASSED", "b": "FAILED"}, id="summary"),
        pytest.param("seaborn", "ERROR a\nSKIPPED b\nXFAIL c", {}, id="passes and failures only"),
        pytest.param("sympy", "test_a ok\ntest_b F\ntest_c[3] E", {
            "test_a": "PASSED", "test_b": "FAILED", "test_c[3]": "ERROR",
        }, id="functions"),
        pytest.param("sympy", "____ core/t.py:test_a ____", {"core/t.py:test_a": "FAILED"}, id="header"),
        pytest.param("sympy", "test_a F\ntest_a ok", {"test_a": "PASSED"}, id="one name in two files"),
        pytest.param("django", "test_a (m.C) ... ok", {"test_a (m.C)": "PASSED"}, id="name"),
        pytest.param("django", "A docstring. ... OK", {"A docstring.": "PASSED"}, id="docstring"),
        pytest.param("django", "test_a (m.C) ... skipped 'x'", {"test_a (m.C)": "SKIPPED"}, id="skip"),
        pytest.param("django", "FAIL: test_a (m.C)", {"test_a": "FAILED"}, id="first word of a header"),
        pytest.param("django", "a ... ERROR\nb ... FAIL", {"a": "ERROR", "b": "FAILED"}, id="failures"),
        pytest.param("django", "a ... x\nmore\nok", {"a": "PASSED"}, id="ok on a later line"),
        pytest.param("django", "a ... ERROR\nokay then", {"a": "PASSED"}, id="any line that starts with ok"),
        pytest.param("django", "a ...\nok", {}, id="nothing after the dots"),
        pytest.param("django", "x --version is equivalent to version", {
            "--version is equivalent to version": "PASSED",
        }, id="version"),
        pytest.param(
            "django",
            "Applying sites.0002_alter_domain_unique...test_no_migrations (m.C) ... ok",
            {"test_no_migrations (m.C)": "PASSED"},
            id="printed behind a migration",
        ),
        pytest.param(
            "django",
            "a ... Testing against Django installed in /d\nx ... FAIL\n with 2 silenced).\nok",
            {"a": "PASSED", "x": "PASSED"},
            id="versions between",
        ),
        pytest.param(
            "django",
            "a (b)\t...\nInternal Server Error: /x/\nok",
            {"a (b)": "PASSED"},
            id="server error between",
        ),
        pytest.param(
            "django",
            "a\n... System check identified no issues (0 silenced)\nok",
            {"a": "PASSED"},
            id="system check between",
        ),
    ],
)  # fmt: skip
def test_lines_are_read_as_the_harness_reads_them(parser: str, log: str, statuses: dict[str, str]) -> None:
    """Each quirk of each parser, alone."""
    assert PARSERS[parser](log) == statuses


@pytest.mark.parametrize("header", ["FAIL:", " ERROR: "])
def test_a_header_without_a_name_stops_the_django_parser(header: str) -> None:
    """The harness ends with an error there, so nothing can be said of the log."""
    with pytest.raises(ParserCrash):
        PARSERS["django"](f"a ... ok\n{header}\n")


def test_parsers_go_by_the_names_of_dataset_rows() -> None:
    """With their prefix or without."""
    assert parser_named("parse_log_xarray") is parser_named("xarray") is PARSERS["pytest"]


def test_an_unknown_parser_is_the_users_mistake() -> None:
    """And the error lists those there are."""
    with pytest.raises(InputError, match="pytest_v2"):
        parser_named("parse_log_karma")
