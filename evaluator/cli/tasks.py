"""`assay tasks`: what can be solved."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from evaluator.admission.lock import locked, write
from evaluator.admission.validate import validate
from evaluator.cli import flags
from evaluator.cli.admitted import gather
from evaluator.cli.admitted import show as show_admissions
from evaluator.cli.console import emit, err, out
from evaluator.cli.noun import Noun
from evaluator.cli.starter import being_prepared, prepare_starter
from evaluator.grade import unsupported
from evaluator.miner import sandboxed
from evaluator.options import CORES, REPO_URL
from evaluator.workshop import Workshop
from results.text import line, plain
from sandbox.choose import choose
from sandbox.job import Limits
from tasks import bug, starter
from tasks import mine as mining
from tasks.cache import cache_root
from tasks.errors import InputError
from tasks.facts import quarantine_of, test_files
from tasks.load import load
from tasks.mirror import Mirrors
from tasks.printable import printable
from tasks.select import select
from tasks.task import Task

Repeats = Annotated[int, typer.Option("--runs", min=1, help="With the reference fix, and as many without.")]

app = typer.Typer(
    cls=Noun,
    help="Bug instances: list them, look at one, prepare the starter set or extend it.",
    rich_markup_mode=None,
)


@app.command("list")
def list_tasks(
    dataset: flags.Dataset = "starter",
    split: flags.Split = "test",
    filter: flags.Filter = None,
    limit: flags.Limit = None,
    skip_invalid: flags.SkipInvalid = False,
    as_json: flags.Json = False,
) -> None:
    """List the tasks of a set: how many tests a fix must make pass, and how many it must keep passing.

    \b
    assay tasks
    assay tasks list -d verified --filter sympy
    """
    prepare_starter(dataset)
    tasks = select(load(dataset, split=split, skip_invalid=skip_invalid), pattern=filter, limit=limit)
    if as_json:
        emit(
            {
                "name": tasks.name,
                "digest": tasks.digest,
                "left_out": tasks.left_out,
                "tasks": [_row(t) for t in tasks],
            }
        )
        return
    table = Table("instance", "repository", "version", "to fix", "to keep", "remark", box=None)
    for task in tasks:
        counts = str(len(task.fail_to_pass)), str(len(task.pass_to_pass))
        cells = (task.instance_id, task.repo, task.version, *counts, quarantine_of(task))
        table.add_row(*(Text(line(cell)) for cell in cells))
    out().print(table)
    out().print(Text(f"{len(tasks)} tasks of {printable(tasks.name)}, digest {tasks.digest[:12]}"))
    if tasks.left_out:
        err().print(Text(f"{len(tasks.left_out)} rows left out:\n" + "\n".join(tasks.left_out)))


@app.command()
def show(
    instance: Annotated[str, typer.Argument(metavar="ID", help="Instance id.")],
    dataset: flags.Dataset = "starter",
    split: flags.Split = "test",
    as_json: flags.Json = False,
) -> None:
    """Show one task: what the solver is told, and what the grader asks.

    \b
    assay tasks show psf__requests-6028 -d verified
    """
    prepare_starter(dataset)
    (task,) = select(load(dataset, split=split, skip_invalid=True), instances=[instance])
    if as_json:
        emit(_row(task) | task.model_dump(mode="json"))
        return
    console = out()
    console.print(Text(f"{task.instance_id}  {task.repo} at {task.base_commit}", "bold"))
    console.print(Text("\n" + plain(task.problem_statement)))
    console.print(Text("\nTest files: " + ", ".join(printable(path) for path in test_files(task))))
    for title, ids in (("Tests to fix", task.fail_to_pass), ("Tests to keep passing", task.pass_to_pass)):
        console.print(Text(f"\n{title}: {len(ids)}", "bold"))
        console.print(Text("\n".join(printable(name) for name in ids[:20])))
        if len(ids) > 20:
            console.print(Text(f"… and {len(ids) - 20} more (--json shows all)"))
    if reason := quarantine_of(task):
        console.print(Text(f"\nNo run here can judge a patch for it: {reason}", "yellow"))


@app.command()
def prepare(as_json: flags.Json = False) -> None:
    """Prepare the starter set: downloads its releases once, checks them by hash, keeps them in the cache.

    \b
    assay tasks prepare
    """
    starter.prepare(starter.bugs(), being_prepared)
    tasks = starter.load()
    if as_json:
        emit({"name": tasks.name, "digest": tasks.digest, "tasks": len(tasks)})
    else:
        out().print(Text(f"{len(tasks)} tasks ready, digest {tasks.digest[:12]}"))


@app.command()
def mine(
    package: Annotated[str, typer.Argument(help="Name on the package index.")],
    base: Annotated[str, typer.Argument(help="Release with the bug.")],
    fixed: Annotated[str, typer.Argument(help="The next release, whose tests show the bug.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File for the facts.")],
    python: Annotated[str, typer.Option(help="Version to run its tests with.")] = "3.11",
    requirement: Annotated[
        list[str], typer.Option("--with", help="Something its tests need besides; repeatable.")
    ] = [],  # noqa: B006 - typer wants a list
    repeats: Annotated[int, typer.Option(min=1, help="How often each test must show the same outcome.")] = 5,
    sandbox: flags.Sandbox = "auto",
) -> None:
    """Find the facts of one more starter bug: runs the tests before and after the fix, in a sandbox.

    \b
    assay tasks mine pathspec 0.12.0 0.12.1 -o tasks/data/starter/pathspec-0.12.1.json
    """
    run_tests = sandboxed(choose(sandbox))
    found = mining.mine(
        package, base, fixed, cache_root() / "sdists", run_tests,
        python=python, extra=tuple(requirement), repeats=repeats,
    )  # fmt: skip
    output.write_text(bug.dump(found.bug), "utf-8")
    turned, kept = (len(bug.ids(tests)) for tests in (found.bug.fail_to_pass, found.bug.pass_to_pass))
    out().print(Text(f"{turned} tests turn green, {kept} stay green, {len(found.dropped)} dropped:"))
    for test, reason in found.dropped.items():
        out().print(Text(printable(f"{reason}: {test}")))


@app.command("validate")
def validate_tasks(
    dataset: flags.Dataset = "starter",
    split: flags.Split = "test",
    instance: flags.Instance = [],  # noqa: B006 - typer wants a list
    filter: flags.Filter = None,
    limit: flags.Limit = None,
    skip_invalid: flags.SkipInvalid = False,
    runs: Repeats = 3,
    sandbox: flags.Sandbox = "auto",
    repo_url: flags.RepoUrl = REPO_URL,
    timeout: flags.Timeout = 1800,
    memory: flags.Memory = 4096,
    workers: flags.Workers = None,
    as_json: flags.Json = False,
) -> None:
    """Find out what can be relied on here: tests that flicker, fixes that do not pass, limits, twins.

    Begun again it goes on where it ended.

    \b
    assay tasks validate
    assay tasks validate -d verified --filter requests --runs 10 --json > requests.json
    """
    tasks = _chosen(dataset, split, skip_invalid, instance, filter, limit)
    workshop = Workshop(choose(sandbox), Mirrors(url_template=repo_url))
    limits = Limits(wall_s=timeout, memory_mb=memory)
    found = validate(tasks, workshop, runs=runs, limits=limits, workers=workers or CORES)
    seen, lost = gather(found, len(tasks))
    if as_json:
        emit([each.model_dump(mode="json") | {"outcomes": each.outcomes} for _, each in seen])
    else:
        show_admissions([each for _, each in seen])
    if lost:
        raise lost


@app.command()
def lock(
    output: Annotated[Path, typer.Option("-o", "--output", help="File for the set, as JSONL.")],
    dataset: flags.Dataset = "starter",
    split: flags.Split = "test",
    instance: flags.Instance = [],  # noqa: B006 - typer wants a list
    filter: flags.Filter = None,
    limit: flags.Limit = None,
    skip_invalid: flags.SkipInvalid = False,
    runs: Repeats = 10,
    sandbox: flags.Sandbox = "auto",
    repo_url: flags.RepoUrl = REPO_URL,
    timeout: flags.Timeout = 1800,
    memory: flags.Memory = 4096,
    workers: flags.Workers = None,
) -> None:
    """Freeze a set: validated, without the ids that flicker here, unfit tasks quarantined by name.

    What is written is a dataset; runs over it carry its digest.

    \b
    assay tasks lock -o starter.jsonl
    assay run -d starter.jsonl --solver gold
    """
    tasks = _chosen(dataset, split, skip_invalid, instance, filter, limit)
    workshop = Workshop(choose(sandbox), Mirrors(url_template=repo_url))
    limits = Limits(wall_s=timeout, memory_mb=memory)
    found = validate(tasks, workshop, runs=runs, limits=limits, workers=workers or CORES)
    seen, lost = gather(found, len(tasks))
    if lost:
        raise lost
    write(output, [locked(task, admission) for task, admission in seen])
    frozen = load(str(output))
    out().print(Text(f"{len(frozen)} tasks in {printable(str(output))}, digest {frozen.digest[:12]}"))


def _chosen(
    dataset: str, split: str, skip_invalid: bool, instances: list[str], pattern: str | None, limit: int | None
) -> tuple[Task, ...]:
    """The tasks that were asked for, all of which can be run here."""
    prepare_starter(dataset)
    loaded = load(dataset, split=split, skip_invalid=skip_invalid)
    tasks = select(loaded, instances=instances, pattern=pattern, limit=limit).tasks
    if problems := unsupported(tasks):
        raise InputError(
            "these tasks cannot be run here:\n" + "\n".join(problems), "Leave them out with -i or --filter."
        )
    return tasks


def _row(task: Task) -> dict[str, Any]:
    return {
        "instance_id": task.instance_id,
        "repo": task.repo,
        "version": task.version,
        "fail_to_pass": len(task.fail_to_pass),
        "pass_to_pass": len(task.pass_to_pass),
        "quarantine": quarantine_of(task),
        "digest": task.digest,
    }
