"""Logs made to break a parser."""

import json
import resource
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_strategies import PARSERS, logs, test_ids

from evaluator.official import EvalType, official_verdict
from evaluator.official.grading import REASONS

CPU_SECONDS = 60
MEMORY = 1 << 30
LENGTH = 2_000_000
"""Characters. Work that grows with their square takes minutes to hours."""

HOSTILE = [
    ("django", "\n"),
    ("pytest", "\r"),
    ("seaborn", " "),
    ("pytest", "1"),
    ("pytest", "PASSED a\n"),
    ("pytest_v2", "PASSED a "),
    ("pytest_v2", "\x1b[1"),
    ("pytest_v2", "[" + "1" * 30),
    ("pytest_options", "PASSED " + "[" * 1_000_000),
    ("pytest_options", "PASSED [" + "]/" * 400_000),
    ("matplotlib", "MouseButton."),
    ("sympy", "_"),
    ("sympy", "_ a.py:"),
    ("sympy", " .py:"),
    ("django", "x"),
    ("django", " ... "),
    ("django", "a ... Internal Server Error: /"),
    ("django", "a ... Internal Server Error: /\n"),
    ("django", "a ... Internal Server Error: //\nok.\n"),
    ("django", "a ... Testing against Django installed in \n"),
    ("django", "a ... System check identified no issues (0 silenced)\n"),
    ("pytest", "Test Suites: 1 a, "),
    ("pytest", "Test Suites: " + "1 a, " * 200_000),
    ("pytest", ">>>>> Test Exit Code: "),
    ("pytest", ">>>>> Start Test Output"),
]
"""A parser, and what it is given over and over."""
GRADE = """
import json, sys
from evaluator.official import official_verdict
length, pieces = json.load(sys.stdin)
for parser, piece in pieces:
    print(parser, ascii(piece[:40]), flush=True)
    log = f">>>>> Start Test Output\\n{piece * (length // len(piece))}\\n>>>>> End Test Output\\n"
    official_verdict(log, parser=parser, fail_to_pass=["a["], pass_to_pass=["a"])
"""


@pytest.mark.parametrize("parser", PARSERS)
def test_no_text_breaks_grading(parser: str) -> None:
    """Any text gets a verdict with a reason that can be explained."""

    @settings(max_examples=60, deadline=None)
    @given(logs, test_ids, st.sampled_from(("pass_and_fail", "fail_only")))
    def grade(log: str, ids: list[str], eval_type: EvalType) -> None:
        given = official_verdict(log, parser=parser, fail_to_pass=ids, pass_to_pass=ids, eval_type=eval_type)
        assert given.reason in REASONS
        assert given.graded or not given.resolved

    grade()


def test_a_long_log_takes_bounded_time_and_memory() -> None:
    """Repetitions of what a parser looks for, under limits that only linear work stays below."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    done = subprocess.run(
        [sys.executable, "-c", GRADE],
        input=json.dumps([LENGTH, HOSTILE]),
        text=True,
        capture_output=True,
        preexec_fn=limit,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == len(HOSTILE)
