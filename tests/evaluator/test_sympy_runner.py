"""Projects with a `bin/test` as sympy's: its reporter is told of each file and each function."""

from pathlib import Path

import pytest
import toy_project as toy
from toy_runner import outcomes, run_here

from evaluator.grade import grade
from evaluator.runner.plan import Plan
from evaluator.runner.runners import RUNNERS
from evaluator.workshop import Workshop
from results.record import Official, Record, Verdict
from sandbox.bubblewrap import Bubblewrap
from sandbox.job import Limits
from tasks.environment import Environment
from tasks.errors import SandboxUnavailable

PROGRAM = """\
import sys
from get_sympy import path_hack
path_hack()
import sympy
words = [word for word in sys.argv[1:] if not word.startswith("-")]
assert "--no-subprocess" in sys.argv
sys.exit(0 if sympy.test(*words) else 1)
"""
PATH_HACK = """\
import os, sys
def path_hack():
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""
RUNTESTS = """\
import os, sys
class Skipped(Exception): pass
class XFail(Exception): pass
class XPass(Exception): pass
class PyTestReporter:
    def __init__(self): self.failures, self.active = 0, None
    def write(self, text): sys.stdout.write(text)
    def entering_filename(self, filename, n): self.write("%s[%d] " % (filename, n))
    def leaving_filename(self): self.write("\\n")
    def entering_test(self, f): self.write("\\n" + f.__name__ + " ")
    def test_pass(self, char="."): self.write("ok")
    def test_skip(self, v=None): self.write("%s s" % v)
    def test_xfail(self): self.write("f")
    def test_xpass(self, v): self.write("X")
    def test_fail(self, exc_info):
        self.failures += 1
        self.write("F")
    def test_exception(self, exc_info):
        self.failures += 1
        self.write("E")
    def import_error(self, filename, exc_info):
        self.failures += 1
        self.write(filename + "[?] Failed to import")
def test(*paths):
    reporter = PyTestReporter()
    for path in sorted(map(os.path.abspath, paths)):
        names = {"__file__": path}
        try:
            with open(path) as file: exec(compile(file.read(), path, "exec"), names)
        except ImportError:
            reporter.import_error(path, sys.exc_info())
            continue
        except Exception:
            reporter.test_exception(sys.exc_info())
        functions = [value for name, value in names.items() if name.startswith("test_")]
        reporter.entering_filename(path, len(functions))
        for function in functions:
            reporter.entering_test(function)
            try:
                function()
            except Exception as error:
                kind = type(error).__name__
                if kind == "AssertionError": reporter.test_fail(sys.exc_info())
                elif kind == "Skipped": reporter.test_skip(error)
                elif kind == "XFail": reporter.test_xfail()
                elif kind == "XPass": reporter.test_xpass(error)
                else: reporter.test_exception(sys.exc_info())
            else:
                reporter.test_pass()
        reporter.leaving_filename()
    return not reporter.failures
"""
FILES = {
    "bin/test": PROGRAM,
    "bin/get_sympy.py": PATH_HACK,
    "setup.py": "from setuptools import setup\nsetup(name='sympy', packages=['sympy', 'sympy.testing'])\n",
    "sympy/__init__.py": "from sympy.testing.runtests import test\n",
    "sympy/core.py": toy.FILES["calc/core.py"],
    "sympy/testing/__init__.py": "",
    "sympy/testing/runtests.py": RUNTESTS,
    "sympy/tests/__init__.py": "",
}
TEST = """\
from sympy.core import add, mul
def test_add():
    assert add(2, 3) == 5
def test_mul():
    assert mul(2, 3) == 6
"""
ENVIRONMENT = Environment(
    python="3.9", runner="sympy", log_parser="sympy", test_command="bin/test -C --verbose"
)
TASK = toy.task(
    base_commit=toy.commit_of(FILES),
    patch=toy.GOLD.replace("calc/", "sympy/"),
    test_patch=toy.new_file("sympy/tests/test_core.py", TEST),
    FAIL_TO_PASS=["test_add"],
    PASS_TO_PASS=["test_mul"],
    environment=ENVIRONMENT,
)
FIX = "    return a + b"


def write(folder: Path, **more: str) -> None:
    for name, content in (FILES | more).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    folder = tmp_path_factory.mktemp("sympy")
    write(folder)
    sandbox = Bubblewrap()
    try:
        sandbox.probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    return Workshop(sandbox, toy.Folder(folder))


def core(before: str = "", body: str = "    return a - b", after: str = "") -> str:
    return toy.core(before, body, after).replace("calc/", "sympy/")


def judged(workshop: Workshop, patch: str) -> Record:
    return grade(TASK, patch, workshop=workshop, limits=Limits(wall_s=60, memory_mb=1024), allow_empty=True)


def test_the_reference_fix_is_resolved(workshop: Workshop) -> None:
    """Ids are bare function names, and both verdicts come from the one run."""
    record = judged(workshop, TASK.patch)
    assert (record.verdict, record.reason) == (Verdict.RESOLVED, "resolved")
    assert (record.f2p_passed, record.p2p_passed, record.official) == (1, 1, Official.RESOLVED)


def test_no_change_shows_the_bug(workshop: Workshop) -> None:
    """Failing is no fault of the runner, and the other test's pass is still seen."""
    record = judged(workshop, "")
    assert (record.verdict, record.reason, record.p2p_passed) == (Verdict.NOT_RESOLVED, "f2p_fail", 1)
    assert (record.failed, record.official) == (TASK.fail_to_pass, Official.NOT_RESOLVED)


SKIPS = "from sympy.testing.runtests import Skipped\ndef mul(a, b): raise Skipped"
EQUAL = """\
    class Equal(int):
        def __eq__(self, other): return True
        def __ne__(self, other): return False
    return Equal()"""
PRAISE = (
    "import sympy.testing.runtests as r\n"
    "r.PyTestReporter.test_fail = lambda self, exc_info: self.test_pass()\n"
    "r.PyTestReporter.test_exception = r.PyTestReporter.test_fail"
)
OTHER = (
    "import sys, sympy.testing.runtests as r\nr.PyTestReporter = r.PyTestReporter.__mro__[1]\n"
    "r.PyTestReporter.test_fail = lambda self, exc_info: self.test_pass()"
)


@pytest.mark.parametrize(
    ("patch", "verdict", "reason"),
    [
        (core("import sys; sys.exit(0)"), Verdict.NOT_RESOLVED, "incomplete"),
        (core("import os; os._exit(0)", FIX), Verdict.NOT_RESOLVED, "incomplete"),
        (core(body="    import sys; sys.exit(0)"), Verdict.NOT_RESOLVED, "incomplete"),
        (core(body="    return (a +"), Verdict.NOT_RESOLVED, "collection_error"),
        (
            core(body="    from sympy.testing.runtests import Skipped; raise Skipped"),
            Verdict.NOT_RESOLVED,
            "f2p_fail",
        ),
        (
            core(body="    from sympy.testing.runtests import XFail; raise XFail"),
            Verdict.NOT_RESOLVED,
            "f2p_fail",
        ),
        (core("", FIX, SKIPS), Verdict.NOT_RESOLVED, "p2p_regress"),
        (core("print('test_add ok\\ntest_mul ok')"), Verdict.NOT_RESOLVED, "f2p_fail"),
        (core(PRAISE), Verdict.TAMPERED, "canary_passed"),
        (core(OTHER), Verdict.TAMPERED, "canary_passed"),
        (core(body=EQUAL), Verdict.TAMPERED, "twin_passed"),
    ],
    ids=[
        "exit",
        "_exit",
        "exit in test",
        "syntax",
        "skip",
        "xfail",
        "skip in another",
        "ok lines",
        "reporter",
        "class",
        "equal",
    ],
)
def test_no_trick_is_worth_a_pass(workshop: Workshop, patch: str, verdict: Verdict, reason: str) -> None:
    """Whatever the patched code does to the runner it is itself a part of."""
    record = judged(workshop, patch)
    assert (record.verdict, record.reason) == (verdict, reason)


def test_the_program_that_runs_the_tests_is_the_graders(workshop: Workshop) -> None:
    """A patch that replaces it is judged without that part."""
    forged = (
        "diff --git a/bin/test b/bin/test\n--- a/bin/test\n+++ b/bin/test\n"
        "@@ -1,1 +1,2 @@\n+print('test_add ok')\n import sys\n"
    )
    record = judged(workshop, TASK.patch + forged)
    assert (record.verdict, "reverted_test_edit" in record.flags) == (Verdict.RESOLVED, True)


KINDS = """\
from sympy.testing.runtests import Skipped, XFail, XPass
def test_ok(): pass
def test_bad(): assert 0, "why"
def test_error(): raise ValueError
def test_skip(): raise Skipped("Slow")
def test_expected(): raise XFail
def test_unexpected(): raise XPass("it")
"""


def test_every_outcome_is_told_apart(tmp_path: Path) -> None:
    """In files that load, partly load, or do not."""
    half = "def test_half(): pass\nraise ValueError\n"
    write(tmp_path, **{"test_kinds.py": KINDS, "test_lost.py": "import absent", "test_part.py": half})
    files = ("test_kinds.py", "test_lost.py", "test_part.py")
    session, status, output = run_here(
        Plan(("-C",), files, RUNNERS["sympy"]), tmp_path, PYTHONPATH=str(tmp_path)
    )
    assert outcomes(session) == {
        "test_ok": "passed",
        "test_bad": "failed",
        "test_error": "failed",
        "test_skip": "skipped",
        "test_expected": "xfailed",
        "test_unexpected": "xpassed",
        "test_half": "passed",
    }
    assert [broken.outcome for broken in session.broken] == ["failed", "failed"]
    assert session.broken[0].node_id == "test_lost.py"
    assert (session.status, status, session.gap, session.foreign_bytes) == (1, 1, "", 0)
    assert any("why" in report.excerpt for report in session.reports)
    assert "\ntest_ok ok\n" in output


def test_a_project_that_does_not_load_is_reported(tmp_path: Path) -> None:
    """The program's own failure counts as a broken file."""
    write(tmp_path, **{"sympy/__init__.py": "import absent"})
    session, status, _ = run_here(Plan((), ("a.py",), RUNNERS["sympy"]), tmp_path, PYTHONPATH=str(tmp_path))
    assert (session.broken[0].node_id, session.status, status) == ("bin/test", 2, 2)
