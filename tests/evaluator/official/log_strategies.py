"""Logs that look like those of test runs, as far as a parser looks, and nothing like them otherwise."""

from hypothesis import strategies as st

PARSERS = ("pytest", "pytest_options", "pytest_v2", "matplotlib", "seaborn", "django", "sympy")
MARKERS = (
    ">>>>> Start Test Output",
    ">>>>> End Test Output",
    ">>>>> Test Exit Code: 0",
    ">>>>> Test Exit Code: 1",
    ">>>>> Test Exit Code:\t-2",
    ">>>>> Test Exit Code: x",
    ">>>>> Patch Apply Failed",
    ">>>>> Tests Timed Out",
)
STATUSES = ("PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "XPASS", "PASSED:", "ok", "E", "F", "FAIL", "OK")
NAMES = (
    "t.py::test_a",
    "t.py::test_a[1 2]",
    "t.py::test_a[1",
    "t.py::test_b[/x/y/z]",
    "t.py::test_b[//x/y]",
    "t.py::test_b[/x/*]",
    "t.py::test_b]/x[/y/z",
    "t.py::test_c[[/u/v]]w",
    "t.py::test_d[MouseButton.LEFT]",
    "test_a",
    "test_a (mod.Case)",
    "A docstring.",
    "sympy/t.py:test_a",
    "--version is equivalent to version",
    "Applying sites.0002_alter_domain_unique...test_no_migrations (m.C)",
    "[100%]",
    "[2]",
)
PIECES = (
    *(
        " ",
        "  ",
        " ... ",
        " ...  ",
        " - ",
        "...",
        "_",
        "____ ",
        " ____",
        ".py:",
        "\t",
        "\x1b[32m",
        "[0m",
        "[",
    ),
    *("\x0c", "\x85", "\u2028", "\x00", "FAIL: ", "ERROR: ", "FAIL:", " ... ok", " ... skipped 'why'", "/"),
    "Testing against Django installed in ",
    " silenced).",
    "Internal Server Error: /",
    "System check identified no issues (0 silenced)",
    *(
        "12 passing",
        "Tests: 3",
        "# tests 2",
        "Test Suites: 1 failed, 2 total",
        "0 specs, 0 failures",
        "': ok",
    ),
)
LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r", "\nok\n")

words = st.one_of(
    st.sampled_from(PIECES), st.sampled_from(STATUSES), st.sampled_from(NAMES), st.text(max_size=4)
)
summary = st.tuples(st.sampled_from(STATUSES), st.sampled_from((" ", "  ")), st.sampled_from(NAMES))
verbose = st.tuples(
    st.sampled_from(NAMES), st.sampled_from((" ", " ... ", " ...  ")), st.sampled_from(STATUSES)
)
interrupted = st.tuples(st.sampled_from(NAMES), st.just(" ... "), st.sampled_from(PIECES[-10:]), words)
header = st.tuples(
    st.sampled_from(("____ ", "_ ", " ")), st.sampled_from(NAMES), st.sampled_from((" ____", " x"))
)
mess = st.lists(words, max_size=5)
marker = st.tuples(st.sampled_from(MARKERS))
line = st.tuples(
    st.one_of(summary, summary, verbose, verbose, interrupted, header, mess, marker).map("".join),
    st.sampled_from(LINE_ENDS),
).map("".join)
body = st.lists(line, max_size=12).map("".join)
framed = st.tuples(
    st.just("+ : '>>>>> Start Test Output'\n"),
    body,
    st.just("+ : '>>>>> End Test Output'\n>>>>> Test Exit Code: "),
    st.sampled_from("011"),
    st.just("\n"),
).map("".join)
logs = st.one_of(framed, framed, body, st.text(alphabet=st.characters(exclude_categories=["Cs"])))
test_ids = st.lists(
    st.sampled_from((*NAMES, "t.py::test_b[/z]", "t.py::test_c[", "t.py::test_d[1]", "test_b"))
)
