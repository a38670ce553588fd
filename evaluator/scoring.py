"""One run from what was asked to what came of it: check everything first, then work off what is owed."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evaluator import solvers
from evaluator.grade import GRADER_VERSION, Bench, unsupported
from evaluator.options import CONCURRENCY, Options
from evaluator.pipeline import Pipeline, Watcher, Work, by_environment
from evaluator.workshop import Workshop
from results.owed import Owed, difference, owed
from results.record import Ledger, Run, RunConfig
from results.store import Store
from sandbox.choose import choose
from sandbox.job import Limits, Sandbox
from tasks.errors import InputError
from tasks.load import SHORT_NAMES, STARTER, load
from tasks.mirror import Mirrors
from tasks.select import select
from tasks.task import TaskSet

NAMES = {STARTER, *SHORT_NAMES}
Stop = Callable[[], None]
Watch = Callable[[Ledger, Stop], AbstractContextManager[Watcher]]


@dataclass(frozen=True)
class Plan:
    """Everything a run needs, checked: nothing has been asked of a model and nothing was written yet."""

    options: Options
    config: RunConfig
    taskset: TaskSet
    solver: solvers.Solver
    sandbox: Sandbox
    repositories: Mirrors

    @property
    def concurrency(self) -> int:
        """Attempts being solved at once."""
        return int(self.config.solver_options.get("concurrency", CONCURRENCY))


def plan(options: Options) -> Plan:
    """Loads the tasks, finds a working sandbox and builds the solver.

    Raises:
        DatasetError, InputError: what was asked for makes no sense, every problem named.
        SourceError: the dataset cannot be had.
        SandboxUnavailable: nothing isolates here, with the remedy.
    """
    solver = solvers.make(options.solver, options.solver_options)
    repositories = Mirrors(url_template=options.repo_url)
    taskset = select(
        load(options.dataset, split=options.split, skip_invalid=options.skip_invalid),
        instances=options.instances,
        pattern=options.pattern,
        limit=options.limit,
    )
    sandbox = choose(options.sandbox, **options.backend_options)
    environments = options.environments
    if environments == "auto":
        environments = "published" if sandbox.name == "docker" else "built"
    if problems := unsupported(taskset, environments):
        raise InputError(
            "these tasks cannot be graded here:\n" + "\n".join(problems),
            "Leave them out with --instance or --filter.",
        )
    config = RunConfig(
        dataset=_lasting(options.dataset),
        split=options.split,
        taskset_digest=taskset.digest,
        instances=tuple(task.instance_id for task in taskset),
        samples=options.samples,
        solver=options.solver,
        solver_options=solver.options,
        backend=sandbox.name,
        backend_options=options.backend_options,
        environments=environments,
        repo_url=options.repo_url,
        limits={name: float(value) for name, value in vars(options.limits).items()},
        grader_version=GRADER_VERSION,
        assay_version=version("assay"),
    )
    return Plan(options, config, taskset, solver, sandbox, repositories)


def owes_nothing(store: Store, run: Run) -> bool:
    """Whether a run is done; notes its end where a killed process could not."""
    if _owed(store, run):
        return False
    if run.finished_at is None:
        store.finish(run.id)
    return True


def again(run: Run, options: Options) -> Plan:
    """A plan to go on with `run`, equal to the one it began with.

    Args:
        options: what may differ, for it changes no number: slots, and in `solver_options` how many requests
            are under way at once, how many leave in a minute, and where the same model is reached.

    Raises:
        InputError: the tasks or the program are no longer those it began with.
        DatasetError, SourceError, SandboxUnavailable: as `plan`.
    """
    config = run.config
    same = options.model_copy(
        update={
            "dataset": config.dataset,
            "split": config.split,
            "instances": config.instances,
            "pattern": None,
            "limit": None,
            "skip_invalid": True,
            "samples": config.samples,
            "solver": config.solver,
            "solver_options": config.solver_options | options.solver_options,
            "sandbox": config.backend,
            "backend_options": config.backend_options,
            "environments": config.environments,
            "repo_url": config.repo_url,
            "limits": Limits(**_limits(config)),
        }
    )
    planned = plan(same)
    begun = config.model_copy(update={"solver_options": same.solver_options})
    if changed := difference(begun, planned.config):
        raise InputError(
            f"run {run.id} cannot go on: {', '.join(changed)} changed since it began",
            "Put back what changed, or start a new run: attempts judged differently do not mix.",
        )
    return planned


async def work(store: Store, run: Run, plan: Plan, watch: Watch) -> Owed:
    """Works off what `run` owes, notes its end, and returns what it still owes.

    Args:
        watch: gives somebody to tell of the rest; is given what the run has so far, and `Pipeline.stop`.

    Raises:
        as `Pipeline.drain`; `again` goes on.
    """
    with store.lease(run.id):
        due = _owed(store, run)
        tasks = {task.instance_id: task for task in plan.taskset}
        works = [Work(tasks[name], sample) for name, sample in due.solve]
        works += [Work(tasks[name], sample, solved=True) for name, sample in due.grade]
        workshop = Workshop(plan.sandbox, plan.repositories, plan.config.environments)
        bench = Bench(workshop, plan.options.limits, allow_empty=plan.config.solver == "noop")
        pipeline = Pipeline(
            store, run.id, plan.solver, bench, slots=plan.options.slots, solvers=plan.concurrency
        )
        with watch(store.ledger(run), pipeline.stop) as watcher:
            try:
                await pipeline.drain(by_environment(works, workshop), watcher)
            finally:
                await plan.solver.close()
        left = _owed(store, run)
        if not left:
            store.finish(run.id)
        return left


def _lasting(dataset: str) -> str:
    """A name for `dataset` that means the same in any directory."""
    path = Path(dataset).expanduser()
    return str(path.resolve()) if path.exists() and dataset not in NAMES else dataset


def _owed(store: Store, run: Run) -> Owed:
    return owed(run.config, store.attempts(run.id), store.records(run.id))


def _limits(config: RunConfig) -> dict[str, Any]:
    return {name: value if name == "wall_s" else int(value) for name, value in config.limits.items()}
