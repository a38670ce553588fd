"""The runner inside the sandbox, run here as a plain process, and the host's reading of its frames."""

import ast
import hashlib
import hmac
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_runner import outcomes, run_here

from evaluator.evidence import Session
from evaluator.runner.frames import read_frames
from evaluator.runner.plan import Plan, plant_canaries
from evaluator.runner.runners import runner_arguments
from tasks.environment import Environment
from tasks.errors import InputError

KEY = b"k" * 32
Run = Callable[..., tuple[Session, int, str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the given test module (and other files) under the runner: its session, exit status and output."""

    def start(test: str, *arguments: str, **files: str) -> tuple[Session, int, str]:
        for name, content in {"test_it": test, **files}.items():
            (tmp_path / f"{name}.py").write_text(content)
        plan = Plan(("-rA", "-p", "no:cacheprovider", *arguments), ("test_it.py",))
        return run_here(plan, tmp_path)

    return start


def test_every_outcome_is_told_apart(run: Run) -> None:
    """Passes, failures, errors at either end, skips and expected failures, and the marks that excuse them."""
    session, status, output = run(
        "import pytest, unittest\n"
        "def test_ok(): pass\n"
        "def test_bad(): assert 1 == 2, 'why'\n"
        "def test_skip(): pytest.skip('now')\n"
        "@pytest.mark.skipif(True, reason='always')\n"
        "def test_marked(): pass\n"
        "@pytest.mark.xfail\n"
        "def test_xfail(): assert 0\n"
        "@pytest.mark.xfail\n"
        "def test_xpass(): pass\n"
        "def test_sudden(): pytest.xfail('now')\n"
        "@pytest.fixture\n"
        "def up(): raise ValueError\n"
        "def test_up(up): pass\n"
        "@pytest.fixture\n"
        "def down():\n"
        "    yield\n"
        "    raise ValueError\n"
        "def test_down(down): pass\n"
        "class TestOld(unittest.TestCase):\n"
        "    @unittest.expectedFailure\n"
        "    def test_expected(self): self.assertTrue(0)\n"
    )
    assert outcomes(session) == {
        "test_ok": "passed",
        "test_bad": "failed",
        "test_skip": "skipped",
        "test_marked": "skipped",
        "test_xfail": "xfailed",
        "test_xpass": "xpassed",
        "test_sudden": "xfailed",
        "test_up": "failed",
        "test_down": "failed",
        "test_expected": "xfailed",
    }
    assert {name.partition("::")[2]: marks for name, marks in session.collected if marks} == {
        "test_marked": ("skipif",),
        "test_xfail": ("xfail",),
        "test_xpass": ("xfail",),
        "TestOld::test_expected": ("xfail",),
    }
    assert (session.status, status, session.gap, session.foreign_bytes) == (1, 1, "", 0)
    assert any("why" in report.excerpt for report in session.reports)
    assert "PASSED test_it.py::test_ok" in output


def test_a_broken_module_is_reported(run: Run) -> None:
    """It has no tests to report on, so it is reported itself."""
    session, status, _ = run("import absent_module\n")
    assert [(broken.node_id, broken.outcome) for broken in session.broken] == [("test_it.py", "failed")]
    assert "absent_module" in session.broken[0].excerpt
    assert (session.collected, session.status, status) == ((), 2, 2)


def test_beacons_tell_how_bodies_end(run: Run) -> None:
    """A second witness of tests that are surely what they look like; of others it says nothing."""
    session, _, _ = run(
        "import functools, pytest, unittest\n"
        "def test_ok():\n    'text'\n"
        "def test_bad(): raise KeyError\n"
        "@pytest.mark.parametrize('x', [1, 2])\n"
        "def test_each(x):\n    global y\n    y = x\n"
        "def wrapped(test):\n    return functools.wraps(test)(lambda: None)\n"
        "@wrapped\n"
        "def test_wrapped(): assert 0\n"
        "def test_twice(): assert 0\n"
        "def test_twice(): pass\n"
        "class TestOld(unittest.TestCase):\n    def test_in(self): self.assertTrue(1)\n"
    )
    calls = [report for report in session.reports if report.when == "call"]
    told = {report.node_id.partition("::")[2]: report.body for report in calls}
    assert told == {
        "test_ok": "",
        "test_bad": "KeyError",
        "test_each[1]": "",
        "test_each[2]": "",
        "test_wrapped": None,
        "test_twice": None,
        "TestOld::test_in": "",
    }
    (source,) = session.sources
    watched = {name.partition("[")[0] for name, body in told.items() if body is not None}
    assert set(source.tests) == {f"test_it.py::{name}" for name in watched}


def test_a_conftest_among_the_files_is_compiled_before_the_session_begins(tmp_path: Path) -> None:
    """It is a file of the test patch like others."""
    (tmp_path / "conftest.py").write_text("import pytest\n")
    (tmp_path / "test_it.py").write_text("def test_ok(): pass\n")
    session, status, _ = run_here(Plan((), ("conftest.py", "test_it.py")), tmp_path)
    assert (session.gap, status, session.start is None) == ("", 0, False)
    assert [source.file for source in session.sources] == ["conftest.py", "test_it.py"]


def test_the_session_says_what_ran_it(run: Run) -> None:
    """Version, files and plugins of the runner are evidence too."""
    session, _, _ = run("def test_ok(): pass\n")
    assert session.start is not None
    assert session.start["pytest"] == pytest.__version__
    assert session.start["files"]["pytest"] == pytest.__file__


def test_the_repository_cannot_shadow_what_the_runner_imports(run: Run) -> None:
    """As with the `pytest` program, the current directory is no place to import from."""
    trap = "raise SystemExit('shadowed')\n"
    session, _, _ = run("def test_ok(): pass\n", json=trap, hmac=trap, pytest=trap, _pytest=trap)
    assert outcomes(session) == {"test_ok": "passed"}


def test_programs_a_test_starts_cannot_reach_the_channel(run: Run) -> None:
    """Only the runner's own process holds the descriptor, and its input is used up."""
    session, _, output = run(
        "import os, subprocess, sys\n"
        "def test_child():\n"
        "    code = 'import os, sys; print(sorted(os.listdir(\"/proc/self/fd\")), repr(sys.stdin.read()))'\n"
        "    print(subprocess.run([sys.executable, '-c', code], stdout=-1).stdout.decode())\n"
        "    assert os.readlink('/proc/self/fd/0') == '/dev/null'\n"
    )
    assert outcomes(session) == {"test_child": "passed"}
    assert "['0', '1', '2', '3'] ''" in output


def test_a_forked_child_reports_nothing(run: Run) -> None:
    """It is a copy of the runner, but not the one that was asked."""
    session, _, _ = run(
        "import os\ndef test_fork():\n    if os.fork() == 0: raise SystemError\n    os.wait()\n"
    )
    assert (outcomes(session), session.gap) == ({"test_fork": "passed"}, "")


def test_exit_handlers_of_the_repository_have_no_last_word(run: Run) -> None:
    """The process ends with the runner's status before they are asked."""
    session, status, output = run(
        "import atexit, os\n"
        "atexit.register(lambda: os.write(1, b'LAST') and os._exit(0))\n"
        "def test_bad(): assert 0\n"
    )
    assert (session.status, status) == (1, 1)
    assert "LAST" not in output


@pytest.mark.parametrize("script", ["channel.py", "pytest_runner.py", "django_runner.py", "sympy_runner.py"])
def test_the_programs_are_python_3_6(script: str) -> None:
    """They run inside every environment, the oldest included."""
    source = Path(__file__).parents[2].joinpath("evaluator", "runner", script).read_text()
    ast.parse(source, feature_version=(3, 6))
    assert "{frames}" not in source


def frame(number: int, kind: str, key: bytes = KEY, **facts: object) -> bytes:
    payload = json.dumps([number, kind, facts]).encode()
    mark = hmac.digest(key, b"", hashlib.sha256)[:16]
    return mark + len(payload).to_bytes(4, "big") + hmac.digest(key, payload, hashlib.sha256) + payload


START = {"python": "3", "pytest": "8", "rootdir": "/", "inifile": "", "files": {}, "plugins": []}
WHOLE = [
    frame(0, "start", **START),
    frame(1, "collected", tests=[["t::a", []]]),
    frame(2, "test", id="t::a", when="setup", outcome="passed", seconds=0.1),
    frame(3, "end", status=0),
]


def test_a_whole_session_is_read() -> None:
    """Frames as they should be leave no remark."""
    session = read_frames(b"".join(WHOLE), KEY)
    assert (session.gap, session.foreign_bytes, session.status, len(session.reports)) == ("", 0, 0, 1)


@pytest.mark.parametrize("missing", range(3))
def test_a_missing_frame_is_a_gap(missing: int) -> None:
    """What follows it is not read."""
    session = read_frames(b"".join(WHOLE[:missing] + WHOLE[missing + 1 :]), KEY)
    assert session.gap
    assert session.status is None


@pytest.mark.parametrize(
    "odd",
    [
        frame(2, "test", id="t::a", when="later", outcome="passed", seconds=0),
        frame(2, "test", id="t::a", when="call", outcome="fine", seconds=0),
        frame(2, "test", id=7, when="call", outcome="passed", seconds=0),
        frame(2, "test", id="t::a", when="call", outcome="passed", seconds=float("nan")),
        frame(2, "collected", tests=[]),
        frame(2, "start", **START),
        frame(2, "end", status="0"),
        frame(2, "unheard of"),
    ],
)
def test_a_malformed_frame_is_a_gap(odd: bytes) -> None:
    """A genuine key does not make nonsense genuine."""
    assert read_frames(b"".join(WHOLE[:2]) + odd, KEY).gap


def test_bytes_between_frames_are_foreign_and_hide_none() -> None:
    """Spraying the channel is noticed, and what the runner said is still read."""
    forged = frame(0, "start", key=b"x" * 32, **START)
    session = read_frames(b"noise" + WHOLE[0] + forged + b"".join(WHOLE[1:]) + b"tail", KEY)
    assert session.foreign_bytes == len(b"noise") + len(forged) + len(b"tail")
    assert (session.gap, session.status) == ("", 0)


@settings(deadline=None)
@given(st.binary() | st.lists(st.sampled_from(WHOLE) | st.binary(max_size=40)).map(b"".join))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    """The answer is always a session, a clean one only for the frames as they were sent."""
    session = read_frames(data, KEY)
    clean = not session.gap and not session.foreign_bytes and session.status is not None
    assert not clean or data == b"".join(WHOLE)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("pytest -rA", ("-rA",)), ("python -m pytest -q 'a b'", ("-q", "a b")), ("py.test", ())],
)
def test_arguments_of_a_test_command(command: str, arguments: tuple[str, ...]) -> None:
    """The runner stands in for the program, with the same arguments."""
    assert runner_arguments(Environment(test_command=command)) == arguments


@pytest.mark.parametrize("command", ["./tests/runtests.py", "bin/test -C", "", "pytest 'open", "tox -e py"])
def test_other_test_commands_are_refused(command: str) -> None:
    """Before a run, not in the middle of it."""
    with pytest.raises(InputError):
        runner_arguments(Environment(test_command=command))


def test_canaries_lie_beside_the_first_test_file_under_fresh_names() -> None:
    """Nobody can know them beforehand, and what a test does to the runner shows in those that come after."""
    drawn = [plant_canaries(("tests/unit/test_a.py", "tests/test_b.py")) for _ in range(20)]
    paths = [path for canaries in drawn for path in canaries.files]
    assert len(set(paths)) == 40
    assert all(path.startswith("tests/unit/test_") for path in paths)
    first, *between, last = drawn[0].around(("a", "b"))
    assert ([first, last], between) == (paths[:2], ["a", "b"])
