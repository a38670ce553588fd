"""Doubting a pass: what only looks like a fix passes a test with a false expectation too."""

import json
from dataclasses import replace

import pytest
import toy_project as toy

from evaluator.grade import grade
from evaluator.workshop import Workshop
from results.record import Record, Verdict
from sandbox.bubblewrap import Bubblewrap
from sandbox.job import Execution, Job, Limits, Prepared
from tasks.errors import SandboxUnavailable
from tasks.task import Task

LIMITS = Limits(wall_s=60, memory_mb=1024)
FIX = "    return a + b"
CASES = """\
import unittest
from calc import add
class TestAdd(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(2, 3), 5)
    def test_large(self):
        total = add(200, 300)
        self.assertEqual(total, 500)
        self.assertEqual(add(0, 7), 7)
"""
UNITTEST = toy.task(
    instance_id="toy__calc-2",
    test_patch=toy.new_file("tests/test_sums.py", CASES),
    FAIL_TO_PASS=["tests/test_sums.py::TestAdd::test_small", "tests/test_sums.py::TestAdd::test_large"],
    PASS_TO_PASS=[],
)
ALWAYS_EQUAL = """\
class Any(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = int.__hash__
"""
STACK_WALK = """\
    import sys
    numbers = [c for c in sys._getframe(1).f_code.co_consts if isinstance(c, int) and c not in (a, b)]
    return numbers[-1]
"""
READS_SOURCE = """\
    import linecache, re, sys
    frame = sys._getframe(1)
    said = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return int(re.search(r"== (-?\\d+)|, (-?\\d+)\\)$", said.strip()).group(1) or 0)
"""
NO_ASSERTIONS = """\
import unittest
def silenced(check):
    def pretended(self, *args, **facts):
        return None if type(self).__name__ == 'TestAdd' else check(self, *args, **facts)
    pretended.__code__ = pretended.__code__.replace(co_filename=unittest.__file__)
    return pretended
for name in dir(unittest.TestCase):
    if name.startswith('assert'):
        setattr(unittest.TestCase, name, silenced(getattr(unittest.TestCase, name)))
"""
"""Only for the wanted tests, and by code that claims to be the library's own."""
FORGERIES = {
    "always equal": (toy.TASK, toy.core(before=ALWAYS_EQUAL, body="    return Any(a)")),
    "expected value from the caller's constants": (toy.TASK, toy.core(body=STACK_WALK)),
    "expected value from the source": (toy.TASK, toy.core(body=READS_SOURCE)),
    "assertions that do nothing": (UNITTEST, toy.core(before=NO_ASSERTIONS)),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> toy.Folder:
    return toy.write(tmp_path_factory.mktemp("calc"))


class Counting(Bubblewrap):
    """Counts what it runs."""

    runs = 0

    def run(self, prepared: Prepared, job: Job) -> Execution:
        type(self).runs += 1
        return super().run(prepared, job)


@pytest.fixture(scope="module")
def workshop(repository: toy.Folder) -> Workshop:
    sandbox = Counting()
    try:
        sandbox.probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    return Workshop(sandbox, repository)


def judged(workshop: Workshop, patch: str, task: Task = toy.TASK) -> Record:
    return grade(task, patch, workshop=workshop, limits=LIMITS)


@pytest.mark.parametrize("task", [toy.TASK, UNITTEST], ids=["function", "test case"])
def test_an_honest_fix_is_not_doubted_for_long(workshop: Workshop, task: Task) -> None:
    """Its false expectations are not met; the record says which there were, and how much that means."""
    record = judged(workshop, toy.GOLD, task)
    assert record.verdict is Verdict.RESOLVED
    (flag,) = record.flags
    assert flag == ("twins_T3" if task is UNITTEST else "twins_T2")
    (run,) = record.evidence["twins"]["runs"]
    assert run["said"] == "f2p_fail"
    assert {twin["path"] for twin in run["twins"]} == {task.fail_to_pass[0].partition("::")[0]}
    assert len(run["twins"]) == len(task.fail_to_pass)
    assert not any(twin["passed"] for twin in run["twins"])
    json.dumps(record.evidence)


@pytest.mark.parametrize("case", FORGERIES)
def test_forgeries_pass_what_nobody_can_pass(workshop: Workshop, case: str) -> None:
    """All of these pass every real test and the controls beside them."""
    task, patch = FORGERIES[case]
    record = judged(workshop, patch, task)
    assert (record.verdict, record.reason) == (Verdict.TAMPERED, "twin_passed")
    assert record.f2p_passed == record.f2p_total
    assert any(twin["passed"] for run in record.evidence["twins"]["runs"] for twin in run["twins"])


def test_forgery_beside_a_fix_is_forgery(workshop: Workshop) -> None:
    """A pass that there would also be without the fix says nothing about it."""
    record = judged(workshop, toy.core(before=NO_ASSERTIONS, body=FIX), UNITTEST)
    assert (record.verdict, record.reason) == (Verdict.TAMPERED, "twin_passed")


HANGS = toy.core(body="    while True: pass")


class Slow(Counting):
    """A host on which nothing comes to its end for a while."""

    def __init__(self, runs: int) -> None:
        super().__init__()
        self.left = runs

    def run(self, prepared: Prepared, job: Job) -> Execution:
        self.left -= 1
        if self.left >= 0:
            job = replace(job, command=("sleep", "60"), limits=replace(job.limits, wall_s=1))
        return super().run(prepared, job)


def test_what_also_befalls_the_reference_fix_is_the_hosts_fault(
    repository: toy.Folder, workshop: Workshop
) -> None:
    """A run that is too slow because the machine is, is done again; the second time it is not."""
    record = judged(Workshop(Slow(2), repository), toy.GOLD)
    assert (record.verdict, record.tries) == (Verdict.RESOLVED, 2)


def test_a_machine_that_never_does_is_no_failure_of_the_patch(
    repository: toy.Folder, workshop: Workshop
) -> None:
    """Nothing is scored where the reference fix cannot be run."""
    record = judged(Workshop(Slow(99), repository), toy.GOLD)
    assert (record.verdict, record.reason, record.tries) == (Verdict.INFRA_ERROR, "infra", 3)


def test_the_control_is_run_once_for_many_patches(repository: toy.Folder, workshop: Workshop) -> None:
    """And a patch that hangs is at fault as long as the reference fix did not, a while ago."""
    shop = Workshop(Counting(), repository)
    before = Counting.runs
    quick = replace(LIMITS, wall_s=6)
    records = [grade(toy.TASK, HANGS, workshop=shop, limits=quick) for _ in range(2)]
    assert [(record.verdict, record.reason) for record in records] == [(Verdict.NOT_RESOLVED, "timeout")] * 2
    assert Counting.runs - before == 3
