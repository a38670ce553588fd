"""The official-compatible verdict beside the trusted one, of the same run in a real sandbox."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import toy_project as toy

from evaluator.apply import Changes
from evaluator.comparable import comparable, refused
from evaluator.grade import grade
from evaluator.paths import PatchError
from evaluator.trial import Trial, run_tests
from evaluator.workshop import Workshop
from results.export import write_logs, write_report
from results.record import Attempt, Official, Record, RunConfig, Verdict
from results.store import Store
from results.summary import summarise
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
    noisy = toy.core(body="    print('x\\n' * 60_000)\n    return a + b")
    record = judged(workshop, noisy, limits=replace(LIMITS, output_kb=64))
    assert (record.verdict, record.official_reason) == (Verdict.RESOLVED, "long_log")


def test_a_refusal_that_tried_nothing_says_nothing(workshop: Workshop) -> None:
    """Where the fuzzy step could not be made, the harness might have applied the patch."""
    assert refused(PatchError("apply", "no program")).official is Official.NONE


def test_official_parsers_get_all_ids(trial: Trial) -> None:
    """Also those that are left out of the trusted verdict because they name no test."""
    task = toy.task(PASS_TO_PASS=["[100%]", *toy.TASK.pass_to_pass])
    assert comparable(task, trial).tests_status["PASS_TO_PASS"]["failure"] == ["[100%]"]


def test_both_verdicts_reach_every_view(workshop: Workshop, tmp_path: Path) -> None:
    """From a real run through the store to rates, disagreements and SWE-bench's own files."""
    task, patch = toy.TASK, CASES["expected to fail"][0]
    config = RunConfig(
        dataset="toy",
        taskset_digest="0",
        instances=(task.instance_id,),
        solver="replay",
        backend="bubblewrap",
        grader_version="1",
        assay_version="0",
    )
    with Store.open(tmp_path) as store:
        run = store.create_run(config)
        store.add_attempt(run.id, Attempt(task.instance_id, 0, patch))
        store.add_record(run.id, judged(workshop, patch))
        summary = summarise(store.ledger(run))
        write_report(store, run, tmp_path / "official.json")
        write_report(store, run, tmp_path / "trusted.json", by="trusted")
        write_logs(store, run, tmp_path)
    assert (summary.rate.resolved, summary.official_rate.resolved) == (0, 1)
    (dispute,) = summary.disputes
    assert (dispute.instance_id, dispute.reason, dispute.official_reason) == (
        task.instance_id,
        "f2p_fail",
        "resolved",
    )
    assert json.loads((tmp_path / "official.json").read_text())["resolved_ids"] == [task.instance_id]
    assert json.loads((tmp_path / "trusted.json").read_text())["unresolved_ids"] == [task.instance_id]
    (left,) = tmp_path.glob("logs/run_evaluation/*/replay/*/report.json")
    report = json.loads(left.read_text())[task.instance_id]
    assert report["resolved"] is True
    assert report["tests_status"]["FAIL_TO_PASS"]["success"] == list(task.fail_to_pass)
