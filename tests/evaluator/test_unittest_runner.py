"""Projects whose tests a `tests/runtests.py` runs with unittest, as Django's do."""

from pathlib import Path

import pytest
import toy_project as toy
from toy_runner import outcomes, run_here

from evaluator.grade import grade, unsupported
from evaluator.runner.plan import Plan
from evaluator.runner.runners import RUNNERS
from evaluator.workshop import Workshop
from results.record import Official, Record, Verdict
from sandbox.bubblewrap import Bubblewrap
from sandbox.job import Limits
from tasks.environment import Environment
from tasks.errors import SandboxUnavailable

RUNTESTS = """\
import argparse, sys, unittest
parser = argparse.ArgumentParser()
parser.add_argument("--verbosity", type=int)
parser.add_argument("--settings")
parser.add_argument("--parallel")
parser.add_argument("labels", nargs="*")
options = parser.parse_args()
import test_sqlite
suite = unittest.defaultTestLoader.loadTestsFromNames(options.labels)
result = unittest.TextTestRunner(verbosity=options.verbosity).run(suite)
sys.exit(not result.wasSuccessful())
"""
FILES = {name: text for name, text in toy.FILES.items() if not name.startswith("tests/")} | {
    "tests/runtests.py": RUNTESTS,
    "tests/test_sqlite.py": "",
    "tests/maths/__init__.py": "",
}
TEST = """\
import unittest
from calc import add, mul
class MathsTests(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)
    def test_mul(self):
        "Products (of integers) are right."
        self.assertEqual(mul(2, 3), 6)
"""
COMMAND = "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1"
ENVIRONMENT = Environment(python="3.9", runner="django", log_parser="django", test_command=COMMAND)
TASK = toy.task(
    base_commit=toy.commit_of(FILES),
    test_patch=toy.new_file("tests/maths/tests.py", TEST),
    FAIL_TO_PASS=["test_add (maths.tests.MathsTests)"],
    PASS_TO_PASS=["Products (of integers) are right."],
    environment=ENVIRONMENT,
)
FIX = "    return a + b"


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    folder = tmp_path_factory.mktemp("maths")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    sandbox = Bubblewrap()
    try:
        sandbox.probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    return Workshop(sandbox, toy.Folder(folder))


def judged(workshop: Workshop, patch: str) -> Record:
    return grade(TASK, patch, workshop=workshop, limits=Limits(wall_s=60, memory_mb=1024), allow_empty=True)


def test_the_reference_fix_is_resolved(workshop: Workshop) -> None:
    """Both verdicts come from the one run, and tests are known by their docstrings too."""
    record = judged(workshop, toy.GOLD)
    assert (record.verdict, record.reason) == (Verdict.RESOLVED, "resolved")
    assert (record.f2p_passed, record.p2p_passed, record.official) == (1, 1, Official.RESOLVED)
    assert b"\nProducts (of integers) are right. ... ok\n" in record.output


def test_no_change_shows_the_bug(workshop: Workshop) -> None:
    """Failing is no fault of the runner, and the other test's pass is still seen."""
    record = judged(workshop, "")
    assert (record.verdict, record.reason, record.p2p_passed) == (Verdict.NOT_RESOLVED, "f2p_fail", 1)
    assert (record.failed, record.official) == (TASK.fail_to_pass, Official.NOT_RESOLVED)


SAYS_OK = "print('test_add (maths.tests.MathsTests) ... ok\\nProducts (of integers) are right. ... ok')\n"
LAST = SAYS_OK + "import os, atexit; atexit.register(os._exit, 0)"
SKIPS = "def mul(a, b): raise unittest.SkipTest"
PRAISE = "import unittest\nunittest.TextTestResult.addFailure = lambda self, test, err: self.addSuccess(test)"
DEAF = "import unittest\nunittest.TextTestRunner.resultclass = unittest.TestResult"
AGREE = "import unittest\nunittest.TestCase.assertEqual = lambda *values: None"
EQUAL = """\
    class Equal(int):
        def __eq__(self, other): return True
        def __ne__(self, other): return False
    return Equal()"""
IDLE = "import unittest\nunittest.TestCase._callTestMethod = lambda self, method: None"


@pytest.mark.parametrize(
    ("patch", "verdict", "reason"),
    [
        (toy.core("import sys; sys.exit(0)"), Verdict.NOT_RESOLVED, "incomplete"),
        (toy.core("import os; os._exit(0)"), Verdict.NOT_RESOLVED, "incomplete"),
        (toy.core("import sys; sys.exit(0)", FIX), Verdict.NOT_RESOLVED, "incomplete"),
        (toy.core(body="    return (a +"), Verdict.NOT_RESOLVED, "collection_error"),
        (toy.core(body="    import sys; sys.exit(0)"), Verdict.NOT_RESOLVED, "f2p_fail"),
        (toy.core(body="    import unittest; raise unittest.SkipTest"), Verdict.NOT_RESOLVED, "f2p_fail"),
        (toy.core("import unittest", FIX, SKIPS), Verdict.NOT_RESOLVED, "p2p_regress"),
        (toy.core(SAYS_OK), Verdict.NOT_RESOLVED, "f2p_fail"),
        (toy.core(LAST), Verdict.NOT_RESOLVED, "f2p_fail"),
        (toy.core(PRAISE), Verdict.TAMPERED, "canary_passed"),
        (toy.core(DEAF), Verdict.NOT_RESOLVED, "incomplete"),
        (toy.core(AGREE), Verdict.TAMPERED, "canary_passed"),
        (toy.core(IDLE), Verdict.TAMPERED, "canary_passed"),
        (toy.core(body=EQUAL), Verdict.TAMPERED, "twin_passed"),
    ],
    ids=[
        *("exit", "_exit", "exit with fix", "syntax", "exit in test", "skip", "skip in another", "ok lines"),
        *("exit handler", "result class", "runner", "assertion", "bodies", "equal"),
    ],
)
def test_no_trick_is_worth_a_pass(workshop: Workshop, patch: str, verdict: Verdict, reason: str) -> None:
    """Whatever the patched code does to the test framework it runs in."""
    record = judged(workshop, patch)
    assert (record.verdict, record.reason) == (verdict, reason)


def test_the_program_that_runs_the_tests_is_the_graders(workshop: Workshop) -> None:
    """A patch that replaces it is judged without that part."""
    forged = toy.new_file("tests/maths/test_x.py", "raise SystemExit(0)")
    record = judged(workshop, toy.GOLD + forged)
    assert (record.verdict, "reverted_test_edit" in record.flags) == (Verdict.RESOLVED, True)


def test_a_test_command_of_another_program_is_refused() -> None:
    """Before a run, by name."""
    strange = toy.task(environment=ENVIRONMENT.model_copy(update={"test_command": "tox -e py"}))
    assert "does not start django" in unsupported([strange])[0]
    assert not unsupported([TASK])


KINDS = """\
import io, unittest
class Plain(unittest.TestCase):
    def test_ok(self): pass
    def test_bad(self): self.fail("why")
    def test_error(self): raise ValueError
    def test_skip(self): self.skipTest("now")
    @unittest.skip("always")
    def test_marked(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1)
    def test_part_skipped(self):
        with self.subTest(): self.skipTest("now")
    def test_inner(self):
        inner = unittest.defaultTestLoader.loadTestsFromTestCase(Bad)
        unittest.TextTestRunner(io.StringIO()).run(inner)
class Bad(unittest.TestCase):
    def runTest(self): self.fail()
class SetUp(unittest.TestCase):
    def setUp(self): raise ValueError
    def test_up(self): pass
class TearDown(unittest.TestCase):
    def tearDown(self): raise ValueError
    def test_down(self): pass
class Class(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError
    def test_never(self): pass
class Around(unittest.TestCase):
    def __call__(self, result):
        super().__call__(result)
        try: raise ValueError
        except ValueError: import sys; result.addError(self, sys.exc_info())
    def test_around(self): pass
"""


def test_every_outcome_is_told_apart(tmp_path: Path) -> None:
    """Also where unittest spreads it over parts of a test, or over a class of them."""
    for name, content in {"runtests": RUNTESTS, "test_sqlite": "", "kinds": KINDS}.items():
        (tmp_path / "tests").mkdir(exist_ok=True)
        (tmp_path / "tests" / f"{name}.py").write_text(content)
    plan = Plan(("--verbosity", "2"), ("tests/kinds.py",), RUNNERS["django"])
    session, status, output = run_here(plan, tmp_path)
    found = outcomes(session)
    assert {name: found[name] for name in found if name.startswith("test_")} == {
        "test_ok": "passed",
        "test_bad": "failed",
        "test_error": "failed",
        "test_skip": "skipped",
        "test_marked": "skipped",
        "test_expected": "xfailed",
        "test_unexpected": "failed",
        "test_parts": "failed",
        "test_part_skipped": "skipped",
        "test_inner": "passed",
        "test_up": "failed",
        "test_down": "failed",
        "test_never": "incomplete",
        "test_around": "failed",
    }
    marks = {name.partition("\n")[0]: marks for name, marks in session.collected if marks}
    assert marks == {
        "kinds.Plain.test_marked": ("skip",),
        "kinds.Plain.test_expected": ("xfail",),
        "kinds.Plain.test_unexpected": ("xfail",),
    }
    assert (session.status, status, session.gap, session.foreign_bytes) == (1, 1, "", 0)
    assert any("why" in report.excerpt for report in session.reports)
    assert "test_ok (kinds.Plain" in output


def test_a_module_that_does_not_load_is_reported(tmp_path: Path) -> None:
    """It has no tests to report on, so it is reported itself; so is a suite that does not even begin."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "runtests.py").write_text(RUNTESTS)
    plan = Plan(("--verbosity", "2"), ("tests/absent.py",), RUNNERS["django"])
    session, status, _ = run_here(plan, tmp_path)
    assert (session.broken[0].node_id, session.status, status) == ("tests/runtests.py", 2, 2)
    (tmp_path / "tests" / "test_sqlite.py").write_text("")
    session, status, _ = run_here(plan, tmp_path)
    assert ("absent" in session.broken[0].node_id, session.status, status) == (True, 1, 1)
