"""Runs every task several times, with the reference fix and without, and keeps what that shows."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from evaluator.admission.findings import Admission, Sight, admission
from evaluator.admission.proving import TWINS_VERSION, bank_of
from evaluator.apply import Changes
from evaluator.control import reference
from evaluator.judge import judge
from evaluator.trial import run_tests
from evaluator.workshop import Setup, TaskFault, Workshop
from sandbox.job import Limits
from tasks.cache import cache_root, publish
from tasks.digest import digest
from tasks.errors import BuildError, InfraError, SourceError
from tasks.task import Task

Lost = BuildError | SourceError | InfraError


def validate(
    tasks: Sequence[Task], workshop: Workshop, *, runs: int, limits: Limits, workers: int
) -> Iterator[tuple[Task, Admission | Lost]]:
    """What is found of each task, as it is found; what was found before is not looked for again.

    Args:
        runs: with the reference fix, and as many without.

    Faults of the host are given in place of what is found; such a task can be validated again.
    """
    pool = ThreadPoolExecutor(workers)
    try:
        due = {pool.submit(_kept, task, workshop, runs, limits): task for task in tasks}
        for done in as_completed(due):
            try:
                yield due[done], done.result()
            except (BuildError, SourceError, InfraError) as fault:
                yield due[done], fault
    finally:
        pool.shutdown(cancel_futures=True)


def _kept(task: Task, workshop: Workshop, runs: int, limits: Limits) -> Admission:
    draft = Admission(
        instance_id=task.instance_id,
        task_digest=task.digest,
        environment_digest=workshop.environment_digest(task),
    )
    asked = [TWINS_VERSION, runs, workshop.sandbox.name, limits.wall_s, limits.memory_mb]
    target = cache_root() / "admission" / digest([*asked, draft.task_digest, draft.environment_digest])
    with publish(target) as folder:
        if folder:
            found = _find(draft, task, workshop, runs, limits)
            (folder / "admission.json").write_text(found.model_dump_json(indent=1), "utf-8")
    return Admission.model_validate_json((target / "admission.json").read_bytes())


def _find(draft: Admission, task: Task, workshop: Workshop, runs: int, limits: Limits) -> Admission:
    try:
        setup = workshop.setup(task)
    except TaskFault as fault:
        return draft.model_copy(update={"quarantine": fault.detail})
    gold = reference(setup, workshop.sandbox)
    fixed, bare = (
        [_sight(setup, changes, workshop, limits) for _ in range(runs)] for changes in (gold, Changes({}))
    )
    found = admission(draft, task.fail_to_pass, fixed, bare)
    if found.quarantine:
        return found
    return found.model_copy(update={"twins": bank_of(setup, workshop.sandbox, limits).grade})


def _sight(setup: Setup, changes: Changes, workshop: Workshop, limits: Limits) -> Sight:
    trial = run_tests(setup, changes, workshop.sandbox, limits)
    judgement = judge(trial.expectation, trial.evidence)
    return Sight(
        reason=judgement.reason,
        failed=judgement.failed,
        seconds=trial.execution.timings.run,
        memory_mb=trial.execution.memory_peak_mb,
    )
