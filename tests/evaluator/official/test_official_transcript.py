"""One run with canaries, against the official way to run the same tests: a traced shell script."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from threading import Thread

import pytest

from evaluator.official import OfficialVerdict, exit_status_without, official_verdict, transcript
from evaluator.runner.frames import read_frames
from evaluator.runner.plan import CANARY_NAME, Plan, plant_canaries

SCRIPT = """
set -uxo pipefail
: '>>>>> Start Test Output'
{python} -m pytest {arguments} test_it.py
SWEBENCH_TEST_EXIT_CODE=$?
: '>>>>> End Test Output'
echo ">>>>> Test Exit Code: $SWEBENCH_TEST_EXIT_CODE"
"""
ARGUMENTS = ("-rA", "-v", "-p", "no:cacheprovider")
ENVIRONMENT = {"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
OK = "def test_a(): pass\n"
FORGED = """
def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("PASSED test_it.py::test_a")
"""
KILLED = (
    FORGED
    + """
    import os
    terminalreporter._tw._file.flush()
    os._exit({})
"""
)
CASES = {
    "all pass": (OK, "", "resolved"),
    "another fails": (OK + "def test_b(): assert 0\n", "", "resolved"),
    "it fails": ("def test_a(): assert 0\n", "", "tests_failed"),
    "fails behind its end": (
        "import pytest\n@pytest.fixture(autouse=True)\ndef f():\n    yield\n    assert 0\n" + OK,
        "",
        "resolved",
    ),
    "broken module": ("import nowhere\n" + OK, "", "tests_failed"),
    "no tests": ("", "", "no_results"),
    "forged without a test": ("", FORGED, "exit_status"),
    "forged and killed": ("def test_a(): assert 0\n", KILLED.format(3), "exit_status"),
    "forged with success": ("def test_a(): assert 0\n", KILLED.format(0), "resolved"),
}


def official_log(directory: Path) -> str:
    script = SCRIPT.format(python=sys.executable, arguments=" ".join(ARGUMENTS))
    done = subprocess.run(
        ["bash", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=directory,
        env=ENVIRONMENT,
        text=True,
        check=False,
    )
    return done.stdout


def our_log(directory: Path) -> str:
    canaries = plant_canaries(["test_it.py"])
    for path, content in canaries.files.items():
        (directory / path).write_bytes(content)
    plan = Plan(ARGUMENTS, canaries.around(("test_it.py",)))
    reader, writer = os.pipe()
    frames: list[bytes] = []
    drainer = Thread(target=lambda: frames.extend(iter(lambda: os.read(reader, 1 << 16), b"")))
    drainer.start()
    done = subprocess.run(
        [sys.executable, *plan.command[1:-1], str(writer)],
        input=plan.stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writer],
        cwd=directory,
        env=ENVIRONMENT,
        check=False,
    )
    os.close(writer)
    drainer.join()
    os.close(reader)
    session = read_frames(b"".join(frames), plan.key)
    tests = (*canaries.must_pass, *canaries.must_fail)
    status = exit_status_without(tests, done.returncode, session)
    return transcript(done.stdout, status, names(tests))


def names(tests: Iterable[str]) -> set[str]:
    return {name for test in tests for name in CANARY_NAME.findall(test)}


def verdict(log: str, parser: str = "pytest_v2") -> OfficialVerdict:
    return official_verdict(log, parser=parser, fail_to_pass=["test_it.py::test_a"], pass_to_pass=[])


@pytest.mark.parametrize(("tests", "conftest", "reason"), CASES.values(), ids=CASES)
def test_a_run_with_canaries_gets_the_verdict_of_the_run_without(
    tmp_path: Path, tests: str, conftest: str, reason: str
) -> None:
    """Honest, broken and forged runs alike."""
    (tmp_path / "test_it.py").write_text(tests)
    (tmp_path / "conftest.py").write_text(conftest)
    expected, ours = official_log(tmp_path), our_log(tmp_path)
    assert verdict(expected).reason == reason
    for parser in ("pytest", "pytest_options", "pytest_v2", "matplotlib", "seaborn"):
        assert verdict(ours, parser) == verdict(expected, parser)


def test_a_run_that_a_limit_ended_is_not_graded() -> None:
    """The harness writes no report after a timeout either."""
    assert verdict(transcript(b"PASSED test_it.py::test_a\n", None)).reason == "no_markers"


def test_lines_that_name_a_canary_are_left_out() -> None:
    """However they end."""
    log = transcript(b"PASSED a\r\nx canary PASSED\rPASSED b\ncanary\n", 0, ["canary"])
    assert verdict(log).statuses == {"a": "PASSED", "b": "PASSED"}


def test_bytes_that_are_no_text_are_replaced() -> None:
    """As the harness does; the rest of the log counts."""
    assert verdict(transcript(b"PASSED a\xff\n", 0)).statuses == {"a\ufffd": "PASSED"}


def test_the_late_result_of_a_canary_is_no_other_tests() -> None:
    """A message of Django's may come between a test's name and its result, on a line of its own."""
    output = b"test_a (m.T) ... FAIL\ntest_c (n.Control)\ntest_c ... Testing against Django\nok\n"
    log = transcript(output, 1, ["test_c"])
    statuses = official_verdict(log, parser="django", fail_to_pass=["test_a (m.T)"], pass_to_pass=[]).statuses
    assert statuses["test_a (m.T)"] == "FAILED"
