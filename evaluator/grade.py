"""The verdict on a patch: the one function behind every number Assay gives."""

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from evaluator.apply import Changes, apply_patch
from evaluator.canary import Doubt, doubt
from evaluator.comparable import UNKNOWN, Comparable, comparable, refused
from evaluator.control import blame
from evaluator.judge import Judgement, judge
from evaluator.patch import parse_patch
from evaluator.paths import PatchError
from evaluator.reasons import EXPLANATIONS
from evaluator.runner.runners import runner_arguments
from evaluator.trial import Trial, run_tests
from evaluator.workshop import Setup, TaskFault, Workshop, environment_for
from results.record import Attempt, Record, Spent, Verdict
from sandbox.job import File, Limits, Sandbox
from tasks.digest import digest
from tasks.errors import BuildError, InfraError, InputError, SourceError
from tasks.facts import quarantine_of
from tasks.printable import printable
from tasks.task import Task

GRADER_VERSION = "3"
"""Raised when the same patch could get another verdict."""
TRIES = 3
LISTED_FAILURES = 50
_FAULTS: dict[type[Exception], str] = {BuildError: "build", SourceError: "source"}


def grade(
    task: Task,
    patch: str,
    *,
    workshop: Workshop,
    limits: Limits | None = None,
    sample: int = 0,
    allow_empty: bool = False,
) -> Record:
    """Grades one patch. Blocks; any number of threads may do so at once.

    Args:
        patch: a unified diff against the base commit, however it was made.
        limits: of the test run.
        allow_empty: runs the tests on the unpatched code for an empty patch, which is otherwise refused.

    Faults of the host never become a score: the run is tried `TRIES` times, then the verdict is INFRA_ERROR.
    Nor do symptoms that the machine can cause as well: where a run breaks down, the reference fix must not.

    Raises:
        InputError: this task cannot be graded here at all; `unsupported` tells beforehand.
        SandboxUnavailable: nothing can be graded here any more.
    """
    sheet = _Sheet(task, patch, sample, workshop)
    try:
        setup = workshop.setup(task)
        sheet.built()
        for attempt in Retrying(
            stop=stop_after_attempt(TRIES), retry=retry_if_exception_type((InfraError, OSError)), reraise=True
        ):
            with attempt:
                sheet.tries += 1
                graded = _try(setup, patch, workshop.sandbox, limits or Limits(), allow_empty)
    except TaskFault as fault:
        return sheet.record(Verdict.TASK_QUARANTINED, fault.code, fault.detail)
    except PatchError as error:
        return sheet.record(Verdict.INVALID_PATCH, error.code, error.detail, refused(error))
    except (BuildError, SourceError, InfraError, OSError) as error:
        return sheet.record(Verdict.INFRA_ERROR, _FAULTS.get(type(error), "infra"), str(error))
    return sheet.judged(*graded, comparable(task, graded[0]))


def unsupported(tasks: Iterable[Task], environments: str = "built") -> list[str]:
    """One line per task that cannot be graded here: no environment known, or no runner for its tests."""
    problems = []
    for task in tasks:
        if quarantine_of(task):
            continue
        try:
            runner_arguments(environment_for(task, environments))
        except InputError as error:
            problems.append(f"{task.instance_id}: {error.message}")
    return problems


@dataclass(frozen=True)
class Bench:
    """`grade` with everything but the attempt decided: what the pipeline works with."""

    workshop: Workshop
    limits: Limits
    allow_empty: bool = False

    def tree(self, task: Task) -> Path:
        """The repository at its base commit. Raises SourceError."""
        return self.workshop.tree(task)

    def grade(self, task: Task, attempt: Attempt) -> Record:
        """As the function of that name."""
        return grade(
            task,
            attempt.patch,
            workshop=self.workshop,
            limits=self.limits,
            sample=attempt.sample,
            allow_empty=self.allow_empty,
        )

    def still_works(self) -> None:
        """Raises SandboxUnavailable when the backend has died."""
        self.workshop.sandbox.probe()


def _try(
    setup: Setup, patch: str, sandbox: Sandbox, limits: Limits, allow_empty: bool
) -> tuple[Trial, Judgement, Doubt | None]:
    changes = Changes({})
    if patch.strip() or not allow_empty:
        changes = apply_patch(
            parse_patch(patch), setup.prepared.tree, lambda job: sandbox.run(setup.prepared, job)
        )
    trial = run_tests(setup, changes, sandbox, limits)
    judgement = judge(trial.expectation, trial.evidence)
    if judgement.verdict is not Verdict.RESOLVED:
        blame(setup, trial, judgement.reason, sandbox, limits)
        return trial, judgement, None
    doubted = doubt(setup, changes, sandbox, limits)
    return trial, doubted.cast_on(judgement), doubted


class _Sheet:
    """Gathers what every record of one grading has in common."""

    def __init__(self, task: Task, patch: str, sample: int, workshop: Workshop) -> None:
        self.task = task
        self.patch = patch
        self.sample = sample
        self.workshop = workshop
        self.started_at = datetime.now(UTC)
        self.began = time.monotonic()
        self.build_s = 0.0
        self.tries = 0

    def built(self) -> None:
        self.build_s = time.monotonic() - self.began

    def record(
        self, verdict: Verdict, reason: str, detail: str = "", official: Comparable = UNKNOWN
    ) -> Record:
        """A record without a test run behind it."""
        explanation = EXPLANATIONS[reason]
        return Record(
            instance_id=self.task.instance_id,
            sample=self.sample,
            verdict=verdict,
            reason=reason,
            explanation=f"{explanation} ({printable(detail, 300)})" if detail else explanation,
            flags=(),
            f2p_passed=0,
            f2p_total=len(self.task.fail_to_pass),
            p2p_passed=0,
            p2p_total=len(self.task.pass_to_pass),
            failed=(),
            tries=self.tries,
            spent=Spent(build=self.build_s),
            task_digest=self.task.digest,
            environment_digest=self._environment_digest(),
            patch_digest=digest(self.patch),
            backend=self.workshop.sandbox.name,
            grader_version=GRADER_VERSION,
            started_at=self.started_at,
            official=official.official,
            official_reason=official.reason,
            patch=self.patch,
            output=b"",
            evidence=({"detail": detail} if detail else {}) | official.to_json(),
        )

    def judged(
        self, trial: Trial, judgement: Judgement, doubted: Doubt | None, official: Comparable
    ) -> Record:
        execution = trial.execution
        return replace(
            self.record(judgement.verdict, judgement.reason, official=official),
            flags=tuple(sorted(trial.workspace.flags | judgement.flags)),
            f2p_passed=judgement.f2p_passed,
            f2p_total=judgement.f2p_total,
            p2p_passed=judgement.p2p_passed,
            p2p_total=judgement.p2p_total,
            failed=judgement.failed[:LISTED_FAILURES],
            spent=Spent(
                build=self.build_s,
                sandbox=execution.timings.start + execution.timings.stop,
                tests=execution.timings.run + (doubted.seconds if doubted else 0.0),
                cpu=execution.cpu_s,
                memory_peak_mb=execution.memory_peak_mb,
            ),
            output=execution.output,
            evidence=trial.evidence.to_json()
            | {
                "must_pass": trial.expectation.must_pass,
                "must_fail": trial.expectation.must_fail,
                "files": {path: _digest(file) for path, file in trial.workspace.files.items()},
                "removals": list(trial.workspace.removals),
                "checks": [check.to_json() for check in judgement.checks],
            }
            | (doubted.to_json() if doubted else {})
            | official.to_json(),
        )

    def _environment_digest(self) -> str:
        try:
            return self.workshop.environment_digest(self.task)
        except InputError:  # a quarantined task needs none
            return ""


def _digest(file: File) -> str:
    return hashlib.sha256(file.link.encode() or file.content).hexdigest()
