"""The official-compatible verdict beside the trusted one, of the same run in a real sandbox."""

from dataclasses import replace

import pytest
import toy_project as toy

from evaluator.apply import Changes
from evaluator.comparable import comparable, refused
from evaluator.grade import grade
from evaluator.paths import PatchError
from evaluator.trial import Trial, run_tests
from evaluator.workshop import Workshop
from results.record import Official, Record, Verdict
from sandbox.bubblewrap import Bubblewrap
from sandbox.job import Limits
from tasks.errors import SandboxUnavailable
from tasks.task import Task

LIMITS = Limits(wall_s=60, memory_mb=1024)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    sandbox = Bubblewrap()
    try:
        sandbox.probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    return Workshop(sandbox, toy.write(tmp_path_factory.mktemp("calc")))


def judged(workshop: Workshop, patch: str, task: Task = toy.TASK, limits: Limits = LIMITS) -> Record:
    return grade(task, patch, workshop=workshop, limits=limits)


@pytest.fixture(scope="module")
def trial(workshop: Workshop) -> Trial:
    """The unpatched code, run."""
    return run_tests(workshop.setup(toy.TASK), Changes({}), workshop.sandbox, LIMITS)


CASES = {
    "fixed": (toy.GOLD, Verdict.RESOLVED, Official.RESOLVED, "resolved"),
    "still wrong": (
        toy.core(body="    return 7"),
        Verdict.NOT_RESOLVED,
        Official.NOT_RESOLVED,
        "tests_failed",
    ),
    "expected to fail": (
        toy.core(body="    import pytest; pytest.xfail('no')"),
        Verdict.NOT_RESOLVED,
        Official.RESOLVED,
        "resolved",
    ),
    "does not apply": (
        toy.GOLD.replace("return a - b", "return nothing like it"),
        Verdict.INVALID_PATCH,
        Official.NOT_GRADED,
        "apply",
    ),
    "no patch": ("\n", Verdict.INVALID_PATCH, Official.NOT_RESOLVED, "empty"),
    "out of bounds": (toy.new_file("../outside.py", "x"), Verdict.INVALID_PATCH, Official.NONE, ""),
    "fixed, and says that it does not apply": (
        toy.core(body="    print('>>>>> Patch Apply Failed')\n    return a + b"),
        Verdict.RESOLVED,
        Official.NOT_GRADED,
        "rejected",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_record_carries_both_verdicts(workshop: Workshop, case: str) -> None:
    """The trusted one and the harness's, which differ where the harness believes the tested code."""
    patch, trusted, official, reason = CASES[case]
    record = judged(workshop, patch)
    assert (record.verdict, record.official, record.official_reason) == (trusted, official, reason)


def test_no_trace_of_the_canaries_reaches_it(workshop: Workshop) -> None:
    """One fails in every run, which the harness would not have seen."""
    status = judged(workshop, toy.GOLD).evidence["tests_status"]
    assert status["FAIL_TO_PASS"] == {"success": ["tests/test_add.py::test_add"], "failure": []}
    assert status["PASS_TO_PASS"]["success"] == list(toy.TASK.pass_to_pass)


def test_a_run_cut_short_has_no_official_verdict(workshop: Workshop) -> None:
    """The harness gives none after its own time limit either."""
    record = judged(workshop, toy.core(body="    while True: pass"), limits=replace(LIMITS, wall_s=8))
    assert (record.reason, record.official, record.official_reason) == ("timeout", "not_graded", "limit")


def test_a_log_with_a_hole_is_not_graded(workshop: Workshop) -> None:
    """Passing lines may lie in the dropped middle, failing ones too."""
    noisy = toy.core(body="    print('x\\n' * 20_000)\n    return a + b")
    record = judged(workshop, noisy, limits=replace(LIMITS, output_kb=16))
    assert (record.verdict, record.official_reason) == (Verdict.RESOLVED, "long_log")


def test_a_refusal_that_tried_nothing_says_nothing(workshop: Workshop) -> None:
    """Where the fuzzy step could not be made, the harness might have applied the patch."""
    assert refused(PatchError("apply", "no program")).official is Official.NONE


def test_official_parsers_get_all_ids(trial: Trial) -> None:
    """Also those that are left out of the trusted verdict because they name no test."""
    task = toy.task(PASS_TO_PASS=["[100%]", *toy.TASK.pass_to_pass])
    assert comparable(task, trial).tests_status["PASS_TO_PASS"]["failure"] == ["[100%]"]
