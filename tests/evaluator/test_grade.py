"""Grading, on real sandboxes: what is worth a pass, and all that is not."""

from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
import toy_project as toy

from evaluator.grade import grade, unsupported
from evaluator.workshop import Workshop
from results.record import Record, Verdict
from sandbox.bubblewrap import Bubblewrap
from sandbox.docker import Docker
from sandbox.job import Execution, Job, Limits, Prepared, Sandbox
from tasks.environment import Environment
from tasks.errors import BuildError, InfraError, SandboxUnavailable
from tasks.task import Task

LIMITS = Limits(wall_s=60, memory_mb=1024)
FIX = "    return a + b"


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> toy.Folder:
    return toy.write(tmp_path_factory.mktemp("calc"))


@pytest.fixture(scope="session")
def workshop(repository: toy.Folder) -> Workshop:
    sandbox = Bubblewrap()
    try:
        sandbox.probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    return Workshop(sandbox, repository)


def judged(workshop: Workshop, patch: str, task: Task = toy.TASK, limits: Limits = LIMITS) -> Record:
    return grade(task, patch, workshop=workshop, limits=limits)


def test_the_reference_fix_is_resolved(workshop: Workshop) -> None:
    """And the record says everything about it."""
    record = judged(workshop, toy.GOLD)
    assert (record.verdict, record.reason, record.flags) == (Verdict.RESOLVED, "resolved", ("twins_T2",))
    assert (record.f2p_passed, record.f2p_total, record.p2p_passed, record.p2p_total) == (1, 1, 2, 2)
    assert (record.failed, record.tries, record.backend) == ((), 1, "bubblewrap")
    assert record.spent.tests > 0
    assert b"PASSED" in record.output or b"passed" in record.output
    assert set(record.evidence["files"]) >= {"calc/core.py", "tests/test_add.py", "tests/test_calc.py"}


@pytest.mark.docker
def test_docker_says_the_same(repository: toy.Folder) -> None:
    """Backends differ in speed, not in verdicts."""
    sandbox: Sandbox = Docker(base_image="host")
    try:
        sandbox.probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    there = Workshop(sandbox, repository)
    assert judged(there, toy.GOLD).verdict is Verdict.RESOLVED
    assert judged(there, toy.core(body="    return 0")).reason == "f2p_fail"


def test_no_change_shows_the_bug(workshop: Workshop) -> None:
    """On purpose only: a solver's empty answer is refused without running anything."""
    record = grade(toy.TASK, "", workshop=workshop, limits=LIMITS, allow_empty=True)
    assert (record.verdict, record.reason) == (Verdict.NOT_RESOLVED, "f2p_fail")
    assert record.failed == toy.TASK.fail_to_pass
    assert judged(workshop, "\n").reason == "empty"


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        (toy.core(body="    return 7"), "f2p_fail"),
        (toy.core(body=FIX, after="mul = add"), "p2p_regress"),
        (toy.core(body="    return (a +"), "collection_error"),
        (toy.core(body="    while True: pass"), "timeout"),
        (
            toy.core(body="    import time; held = [b'x' * (60 << 20) for _ in range(10)]; time.sleep(9)"),
            "memory",
        ),
        (toy.core(body="    import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"), "crash"),
    ],
    ids=["wrong", "regression", "syntax error", "endless", "greedy", "crash"],
)
def test_what_the_patch_does_wrong_is_its_own_fault(workshop: Workshop, patch: str, reason: str) -> None:
    """Also where it looks like trouble of the machine: no score is lost to a symptom a patch can cause."""
    limits = replace(LIMITS, wall_s=8, memory_mb=512)
    record = judged(workshop, patch, limits=limits)
    assert (record.verdict, record.reason, record.tries) == (Verdict.NOT_RESOLVED, reason, 1)


HOOK = (
    "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    "    report = (yield).get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n"
)
PRINTS = "print('\\nPASSED tests/test_add.py::test_add\\n>>>>> Test Exit Code: 0')"
SPRAY = """\
import os
for number in range(3, 300):
    try:
        os.write(number, b"{}")
    except OSError:
        pass
"""
OVERRIDE = (
    "def lie(report):\n    def init(self, *args, **facts):\n        report(self, *args, **facts)\n"
    "        self.outcome, self.longrepr = 'passed', None\n    return init\n"
    "import _pytest.reports as r\nr.TestReport.__init__ = lie(r.TestReport.__init__)"
)
REVERTED = {
    "conftest hook": (toy.new_file("conftest.py", HOOK), "reverted_runner_config"),
    "nested conftest": (toy.new_file("tests/conftest.py", HOOK), "reverted_runner_config"),
    "plugin by ini": (
        toy.new_file("pytest.ini", "[pytest]\naddopts = -p calc.helper")
        + toy.new_file("calc/helper.py", HOOK),
        "reverted_runner_config",
    ),
    "plugin by setup.cfg": (
        toy.rewritten("setup.cfg", "[metadata]\nauthor = x\n\n[tool:pytest]\naddopts = -p calc.helper\n")
        + toy.new_file("calc/helper.py", HOOK),
        "reverted_runner_config",
    ),
    "deselect": (
        toy.rewritten("setup.cfg", "[tool:pytest]\naddopts = -k nothing\n[metadata]\nauthor = x\n"),
        "reverted_runner_config",
    ),
    "sitecustomize": (toy.new_file("sitecustomize.py", OVERRIDE), "reverted_startup_file"),
    "shadowed runner": (toy.new_file("pytest.py", "raise SystemExit(0)"), "reverted_startup_file"),
    "shadowed library": (toy.new_file("json/__init__.py", "raise SystemExit(0)"), "reverted_startup_file"),
    "entry point": (
        toy.new_file("calc.egg-info/entry_points.txt", "[pytest11]\nx = calc.helper"),
        "reverted_startup_file",
    ),
    "test weakened": (
        toy.rewritten("tests/test_calc.py", "def test_mul(): pass\ndef test_zero(): pass\n"),
        "reverted_test_edit",
    ),
    "test forestalled": (toy.new_file("tests/test_add.py", "def test_add(): pass"), "reverted_test_edit"),
    "helper changed": (toy.rewritten("tests/helper.py", "EXPECTED = 7\n"), "reverted_test_edit"),
    "test added": (
        toy.new_file("tests/test_more.py", "def test_x(): pass"),
        "reverted_test_edit",
    ),
}


@pytest.mark.parametrize("case", REVERTED)
def test_what_is_the_graders_is_reverted(workshop: Workshop, case: str) -> None:
    """The rest of the patch is judged as if it had never been: the bug stays unless something fixes it."""
    attack, flag = REVERTED[case]
    alone, with_fix = judged(workshop, attack), judged(workshop, attack + toy.GOLD)
    assert (alone.verdict, alone.reason) == (Verdict.NOT_RESOLVED, "f2p_fail")
    assert flag in alone.flags
    assert with_fix.verdict is Verdict.RESOLVED
    assert flag in with_fix.flags


ATTACKS = {
    "exit at import": toy.core(before="import sys\nsys.exit(0)"),
    "hard exit at import": toy.core(before="import os\nos._exit(0)"),
    "exit in the function": toy.core(body="    import sys; sys.exit(0)"),
    "hard exit in the function": toy.core(body="    import os; os._exit(1)"),
    "pytest.exit": toy.core(body="    import pytest; pytest.exit('done', returncode=1)"),
    "skip": toy.core(body="    import pytest; pytest.skip('no')"),
    "xfail": toy.core(body="    import pytest; pytest.xfail('no')"),
    "SkipTest for regressions": toy.core(
        body=FIX, after="import unittest\ndef mul(a, b): raise unittest.SkipTest"
    ),
    "prints passes": toy.core(before=PRINTS),
    "prints passes at exit": toy.core(
        before=f"import atexit, os\natexit.register(lambda: ({PRINTS}, os._exit(0)))"
    ),
    "reports rewritten": toy.core(before=OVERRIDE),
    "tests not run": toy.core(before="import _pytest.python as p\np.Function.runtest = lambda self: None"),
    "assertions expected to fail": toy.core(
        before="import builtins, pytest\nbuiltins.AssertionError = pytest.xfail.Exception"
    ),
    "live plugin": toy.core(
        before="import gc\nfrom _pytest.config import PytestPluginManager as M\n"
        "class P:\n    def pytest_pyfunc_call(self, pyfuncitem): return True\n"
        "[m.register(P()) for m in gc.get_objects() if isinstance(m, M)]"
    ),
    "channel sprayed": toy.core(before=SPRAY),
    "channel sprayed, with the fix": toy.core(before=SPRAY, body=FIX),
    "channel closed": toy.core(before="import os\nos.closerange(3, 300)"),
    "runner killed": toy.core(body="    import os; os.kill(os.getppid(), 9); os.kill(os.getpid(), 9)"),
}


@pytest.mark.parametrize("case", ATTACKS)
def test_attacks_from_source_files_earn_no_pass(workshop: Workshop, case: str) -> None:
    """Nothing the tested code does in its own process is taken for a fix."""
    record = judged(workshop, ATTACKS[case])
    assert record.verdict in (Verdict.NOT_RESOLVED, Verdict.TAMPERED)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("reports rewritten", "canary_passed"),
        ("tests not run", "canary_passed"),
        ("live plugin", "canary_passed"),
        ("channel sprayed, with the fix", "foreign_frames"),
    ],
)
def test_forgery_is_called_by_its_name(workshop: Workshop, case: str, reason: str) -> None:
    """Where a control test contradicts the rest, the record says that it was no honest failure."""
    record = judged(workshop, ATTACKS[case])
    assert (record.verdict, record.reason) == (Verdict.TAMPERED, reason)


@pytest.mark.parametrize(
    "patch",
    [
        toy.core(body=FIX, before="import atexit, gc, sys\natexit.register(print)\nframe = sys._getframe()"),
        toy.GOLD + toy.new_file("reproduce.py", "from calc import add\nprint(add(1, 2))"),
        toy.GOLD + toy.rewritten("setup.cfg", "[metadata]\nauthor = me\n\n[tool:pytest]\naddopts = -q\n"),
        toy.GOLD + toy.new_file("calc/extra.py", "x = 1") + toy.new_file("notes/ü b.md", "text"),
        toy.GOLD.replace("\n", "\r\n"),
        "```diff\n" + toy.GOLD + "```",
        toy.GOLD.replace(" a/", " ").replace(" b/", " "),
        toy.GOLD.replace("@@ -1,5 +1,5 @@", "@@ -1,7 +1,9 @@"),
    ],
    ids=[
        "introspection",
        "scratch file",
        "metadata",
        "new files",
        "crlf",
        "fence",
        "no prefix",
        "miscounted",
    ],
)
def test_honest_oddities_are_resolved(workshop: Workshop, patch: str) -> None:
    """Looking like an attack is none."""
    assert judged(workshop, patch).verdict is Verdict.RESOLVED


def test_context_that_has_moved_on_is_applied_in_the_sandbox(workshop: Workshop) -> None:
    """A patch with some wrong context is taken as GNU patch would, flagged."""
    record = judged(workshop, toy.GOLD.replace(" def mul(a, b):", " def times(a, b):"))
    assert record.verdict is Verdict.RESOLVED
    assert "fuzzy_apply" in record.flags


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("please fix it yourself", "unparsable"),
        (toy.new_file("../outside.py", "x"), "illegal_path"),
        (toy.new_file(".git/hooks/pre-commit", "x", "100755"), "illegal_path"),
        (toy.new_file("calc", "x"), "path_conflict"),
        (toy.new_file("link", "/etc/passwd", "120000"), "illegal_link"),
        (toy.GOLD.replace("return a - b", "return nothing like it"), "apply"),
    ],
)
def test_invalid_patches_are_not_run(workshop: Workshop, patch: str, reason: str) -> None:
    """The record says why; it counts as an answer, of no worth."""
    record = judged(workshop, patch)
    assert (record.verdict, record.reason) == (Verdict.INVALID_PATCH, reason)
    assert record.spent.tests == 0


def test_tasks_that_cannot_be_judged_are_not_scored(workshop: Workshop) -> None:
    """A quarantined task, or one whose own tests do not fit, says nothing about any patch."""
    quarantined = toy.task(quarantine="needs network: example")
    record = judged(workshop, toy.GOLD, quarantined)
    assert (record.verdict, record.reason) == (Verdict.TASK_QUARANTINED, "quarantined")
    assert "needs network" in record.explanation
    broken = toy.task(test_patch=toy.TEST_PATCH.replace("test_zero", "test_nil"))
    assert judged(workshop, toy.GOLD, broken).reason == "test_patch"


def test_a_broken_environment_is_not_the_patchs_fault(workshop: Workshop) -> None:
    """Where the runner cannot begin on the unpatched code either, the patch is not to blame."""
    bare = toy.task(environment=Environment(python=toy.ENVIRONMENT.python))
    record = judged(workshop, toy.GOLD, bare)
    assert (record.verdict, record.reason) == (Verdict.TASK_QUARANTINED, "environment")
    assert "pytest" in record.explanation


def test_ids_that_name_no_file_are_left_aside(workshop: Workshop) -> None:
    """A log parser's misreading (`[100%]`) is no test a patch could pass."""
    task = toy.task(PASS_TO_PASS=[*toy.TASK.pass_to_pass, "[100%]", "inner.py::test_x"])
    record = judged(workshop, toy.GOLD, task)
    assert (record.verdict, record.flags, record.p2p_total) == (
        Verdict.RESOLVED,
        ("ignored_ids", "twins_T2"),
        2,
    )


def test_without_a_test_patch_the_required_ids_name_the_files(workshop: Workshop) -> None:
    """A task whose tests are in its base commit already runs those."""
    task = toy.task(test_patch="", FAIL_TO_PASS=["tests/test_calc.py::test_zero"], PASS_TO_PASS=[])
    assert judged(workshop, toy.GOLD, task).verdict is Verdict.RESOLVED


class Faulty(Bubblewrap):
    """A backend whose host fails the first executions."""

    def __init__(self, faults: int) -> None:
        super().__init__()
        self.faults = faults

    def run(self, prepared: Prepared, job: Job) -> Execution:
        if self.faults:
            self.faults -= 1
            raise InfraError("the host lost the sandbox")
        return super().run(prepared, job)


@pytest.mark.parametrize(("faults", "verdict", "tries"), [(2, "RESOLVED", 3), (3, "INFRA_ERROR", 3)])
def test_faults_of_the_host_are_retried_and_never_scored(
    repository: toy.Folder, workshop: Workshop, faults: int, verdict: str, tries: int
) -> None:
    """Two lost executions cost nothing but time; a third is no failure of the patch."""
    record = judged(Workshop(Faulty(faults), repository), toy.GOLD)
    assert (record.verdict, record.tries) == (verdict, tries)
    assert record.verdict.scored is (verdict == "RESOLVED")


def test_an_environment_that_does_not_build_is_not_the_patchs_fault(
    repository: toy.Folder, workshop: Workshop
) -> None:
    """It is built once, and its failure remembered."""

    class Unbuildable(Bubblewrap):
        builds = 0

        def prepare(self, environment: Environment, tree: Path, key: str, version: str) -> Prepared:
            Unbuildable.builds += 1
            raise BuildError("pip failed", "see the log")

    shop = Workshop(Unbuildable(), repository)
    records = [judged(shop, toy.GOLD) for _ in range(2)]
    assert [(record.verdict, record.reason) for record in records] == [(Verdict.INFRA_ERROR, "build")] * 2
    assert Unbuildable.builds == 1


def test_threads_share_one_preparation(repository: toy.Folder, workshop: Workshop) -> None:
    """However many want a task at once, it is prepared once."""

    class Counting(Bubblewrap):
        builds = 0

        def prepare(self, environment: Environment, tree: Path, key: str, version: str) -> Prepared:
            Counting.builds += 1
            return super().prepare(environment, tree, key, version)

    shop = Workshop(Counting(), repository)
    threads = [Thread(target=shop.setup, args=(toy.TASK,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counting.builds == 1


def test_unsupported_tasks_are_named_before_a_run() -> None:
    """One line each; quarantined ones are never run and cannot be in the way."""
    django = toy.ENVIRONMENT.model_copy(update={"runner": "django"})
    odd = toy.ENVIRONMENT.model_copy(update={"test_command": "make test"})
    tasks = [
        toy.TASK,
        toy.task(instance_id="a-1", environment=django),
        toy.task(instance_id="b-1", environment=odd),
        toy.task(instance_id="c-1", environment=None),
        toy.task(instance_id="d-1", environment=None, quarantine="no"),
    ]
    assert [line.partition(":")[0] for line in unsupported(tasks)] == ["a-1", "b-1", "c-1"]
