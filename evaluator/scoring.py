"""One run from what was asked to what came of it: check everything first, then work off what is owed."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evaluator import solvers
from evaluator.grade import GRADER_VERSION, Bench, unsupported
from evaluator.options import Options
from evaluator.pipeline import Pipeline, Watcher, Work, by_environment
from evaluator.workshop import Workshop
from results.owed import difference, keys, owed
from results.record import Run, RunConfig
from results.store import Store
from sandbox.choose import choose
from sandbox.job import Limits, Sandbox
from tasks.errors import InputError
from tasks.load import load
from tasks.mirror import Mirrors
from tasks.select import select
from tasks.task import TaskSet


@dataclass(frozen=True)
class Plan:
    """Everything a run needs, checked: nothing has been asked of a model and nothing was written yet."""

    options: Options
    config: RunConfig
    taskset: TaskSet
    solver: solvers.Solver
    sandbox: Sandbox


def plan(options: Options) -> Plan:
    """Loads the tasks, finds a working sandbox and builds the solver.

    Raises:
        DatasetError, InputError: what was asked for makes no sense, every problem named.
        SourceError: the dataset cannot be had.
        SandboxUnavailable: nothing isolates here, with the remedy.
    """
    taskset = select(
        load(options.dataset, split=options.split, skip_invalid=options.skip_invalid),
        instances=options.instances,
        pattern=options.pattern,
        limit=options.limit,
    )
    solver = solvers.make(options.solver, options.solver_options)
    sandbox = choose(options.sandbox, **options.backend_options)
    environments = options.environments
    if environments == "auto":
        environments = "published" if sandbox.name == "docker" else "built"
    if problems := unsupported(taskset, environments):
        raise InputError(
            "these tasks cannot be graded here:\n" + "\n".join(problems),
            "Leave them out with --instance or --filter.",
        )
    local = Path(options.dataset)
    config = RunConfig(
        dataset=str(local.resolve()) if local.exists() else options.dataset,
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
    return Plan(options, config, taskset, solver, sandbox)


def begin(store: Store, options: Options) -> tuple[Run, Plan]:
    """Checks `options` and records a new run of them."""
    planned = plan(options)
    return store.create_run(planned.config, options.name), planned


def again(store: Store, reference: str, options: Options) -> tuple[Run, Plan]:
    """The run to resume, with a plan equal to the one it began with.

    Args:
        options: only what does not change a number is taken from it (slots, concurrency, output).

    Raises:
        InputError: no such run, or the tasks or the program are no longer those it began with.
    """
    run = store.run(reference)
    config = run.config
    same = options.model_copy(
        update={
            "dataset": config.dataset,
            "split": config.split,
            "instances": config.instances,
            "skip_invalid": True,
            "samples": config.samples,
            "solver": config.solver,
            "solver_options": config.solver_options,
            "sandbox": config.backend,
            "backend_options": config.backend_options,
            "environments": config.environments,
            "repo_url": config.repo_url,
            "limits": Limits(**_limits(config)),
        }
    )
    planned = plan(same)
    if changed := difference(config, planned.config):
        raise InputError(
            f"run {run.id} cannot go on: {', '.join(changed)} changed since it began",
            "Put back what changed, or start a new run: attempts judged differently do not mix.",
        )
    return run, planned


async def work(
    store: Store, run: Run, plan: Plan, watch: Callable[[int, int], AbstractContextManager[Watcher]]
) -> None:
    """Works off what `run` owes and notes its end. `watch(total, done)` gives somebody to tell.

    Raises:
        EndpointError, SandboxUnavailable, StoreError: the run stopped; `again` goes on.
    """
    with store.lease(run.id):
        due = owed(run.config, store.attempts(run.id), store.records(run.id))
        tasks = {task.instance_id: task for task in plan.taskset}
        works = [Work(tasks[name], sample) for name, sample in due.solve]
        works += [
            Work(tasks[name], sample, store.attempt(run.id, name, sample)) for name, sample in due.grade
        ]
        total = len(keys(run.config))
        workshop = Workshop(
            plan.sandbox, Mirrors(url_template=plan.config.repo_url), plan.config.environments
        )
        bench = Bench(workshop, plan.options.limits, allow_empty=plan.config.solver == "noop")
        with watch(total, total - len(works)) as watcher:
            pipeline = Pipeline(
                store, run.id, plan.solver, bench, watcher, plan.options.slots, plan.options.concurrency
            )
            await pipeline.drain(by_environment(works, workshop))
        if not owed(run.config, store.attempts(run.id), store.records(run.id)):
            store.finish(run.id)


def _limits(config: RunConfig) -> dict[str, Any]:
    return {name: value if name == "wall_s" else int(value) for name, value in config.limits.items()}
