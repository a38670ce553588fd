"""What repeated runs show of a task before anybody is graded on it."""

from pathlib import Path

import pytest
import toy_project as toy

from evaluator.admission.findings import Admission, Sight, admission
from evaluator.admission.lock import locked, write
from evaluator.admission.validate import validate
from evaluator.twins.grade import TwinGrade
from evaluator.workshop import Workshop
from sandbox.bubblewrap import Bubblewrap
from sandbox.job import Execution, Job, Limits, Prepared
from tasks.errors import InfraError, SandboxUnavailable
from tasks.load import load
from tasks.task import Task

LIMITS = Limits(wall_s=60, memory_mb=1024)
DRAFT = Admission(instance_id="toy__calc-1", task_digest="t", environment_digest="e")


def sight(*failed: str, seconds: float = 1.0) -> Sight:
    return Sight(reason="f2p_fail" if failed else "resolved", failed=failed, seconds=seconds, memory_mb=300)


def test_a_clean_task_is_admitted_with_room_to_run() -> None:
    """Its limits are three times what it took, and never less than a floor."""
    found = admission(DRAFT, ["fix"], [sight(), sight(seconds=40)], [sight("fix"), sight("fix")])
    assert (found.quarantine, found.flaky, found.failing, found.passing) == ("", (), (), ())
    assert found.outcomes == {"fix": ("pp", "ff")}
    assert (found.wall_s, found.memory_mb) == (120, 900)
    assert admission(DRAFT, ["fix"], [sight()], [sight("fix")]).wall_s == 60


def test_ids_that_say_nothing_are_named() -> None:
    """Those that flicker, that fail with the fix, and that pass without."""
    found = admission(
        DRAFT,
        ["fix", "always"],
        [sight(), sight("sometimes")],
        [sight("fix", "sometimes")] * 2,
    )
    assert found.flaky == ("sometimes",)
    assert found.passing == ("always",)
    fails = admission(DRAFT, ["fix"], [sight("keep")] * 2, [sight("fix", "keep")] * 2)
    assert fails.failing == ("keep",)


@pytest.mark.parametrize(
    ("fixed", "bare", "why"),
    [
        ([sight("fix")], [sight("fix")], "the reference fix does not pass here: f2p_fail"),
        ([sight()], [sight()], "no test tells the fixed code from the unfixed code every time"),
        ([sight()] * 2, [sight("fix"), sight()], "no test tells the fixed code from the unfixed"),
    ],
    ids=["broken", "weak", "flaky"],
)
def test_tasks_that_cannot_judge_are_quarantined(fixed: list[Sight], bare: list[Sight], why: str) -> None:
    """With the reason; where it is a missing network, text cannot tell."""
    assert admission(DRAFT, ["fix"], fixed, bare).quarantine.startswith(why)


class Counting(Bubblewrap):
    """Counts what it runs, and loses the first of them."""

    def __init__(self, faults: int = 0) -> None:
        super().__init__()
        self.faults = faults
        self.runs = 0

    def run(self, prepared: Prepared, job: Job) -> Execution:
        self.runs += 1
        if self.runs <= self.faults:
            raise InfraError("the host lost the sandbox")
        return super().run(prepared, job)


def test_what_was_found_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost task is validated when asked again, a finished one never runs again."""
    sandbox = Counting(faults=1)
    try:
        sandbox.probe()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    shop = Workshop(sandbox, toy.write(tmp_path / "calc"))

    def found() -> Admission | Exception:
        ((_, seen),) = validate([task], shop, runs=2, limits=LIMITS, workers=1)
        return seen

    task: Task = toy.task(problem_statement=str(tmp_path))
    assert isinstance(found(), InfraError)
    seen = found()
    assert isinstance(seen, Admission)
    assert seen.outcomes == {toy.TASK.fail_to_pass[0]: ("pp", "ff")}
    assert (seen.quarantine, seen.twins) == ("", TwinGrade.T2)
    done = sandbox.runs
    assert found() == seen
    assert sandbox.runs == done


def test_a_locked_set_holds_what_can_be_relied_on(tmp_path: Path) -> None:
    """It is a dataset like any other, with another digest than the set it was made of."""
    keep, flicker = toy.TASK.pass_to_pass
    bare = [sight(*toy.TASK.fail_to_pass)] * 2
    seen = admission(DRAFT, toy.TASK.fail_to_pass, [sight(), sight(flicker)], bare)
    other = toy.task(instance_id="toy__calc-2")
    unfit = admission(DRAFT, other.fail_to_pass, [sight(keep)], bare)
    file = tmp_path / "locked.jsonl"
    write(file, [locked(toy.TASK, seen), locked(other, unfit)])
    first, second = load(str(file))
    assert (first.fail_to_pass, first.pass_to_pass) == (toy.TASK.fail_to_pass, (keep,))
    assert first.digest != toy.TASK.digest
    assert second.quarantine == unfit.quarantine
    assert second.pass_to_pass == other.pass_to_pass
    assert [path.name for path in tmp_path.iterdir()] == ["locked.jsonl"]
