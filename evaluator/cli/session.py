"""One run on a terminal: begun or gone on with, watched, interrupted, reported."""

import asyncio
import os
import shlex
import signal

import typer
from rich.console import Console
from rich.text import Text

from evaluator.cli.console import complain, emit, err, out
from evaluator.cli.noun import existing_store
from evaluator.cli.progress import Progress
from evaluator.cli.starter import prepare_starter
from evaluator.options import Options
from evaluator.scoring import Plan, Stop, again, owes_nothing, plan, work
from results.owed import Owed
from results.record import Ledger, Run
from results.store import Store
from results.summary import summarise
from results.table import render
from results.text import line
from tasks.errors import AssayError, InfraError, InputError

INTERRUPTED = 130
SESSION_FLAGS = {"resume", "output", "workers", "concurrency", "rpm", "port", "as_json"}
"""Parameters that change no number."""
CONTEXTS = {
    "bm25": "Context bm25: up to {} tokens of the files that rank best for the issue",
    "oracle": "Context ORACLE: up to {} tokens of the very files the reference fix changes",
}


def score(options: Options, *, command: str = "assay run", as_json: bool = False) -> None:
    """Begins a run, shows it happen, and prints what came of it. `command` can go on with it."""
    prepare_starter(options.dataset)
    planned = plan(options)
    with Store.open(options.output) as store:
        _perform(store, store.create_run(planned.config, options.name), planned, command, as_json)


def resume(reference: str, options: Options, *, command: str = "assay run", as_json: bool = False) -> None:
    """Goes on with a run, or only prints what came of it when it owes nothing."""
    with existing_store(options.output) as store:
        run = store.run(reference)
        if owes_nothing(store, run):
            _report(store, run, as_json)
        else:
            prepare_starter(run.config.dataset)
            _perform(store, run, again(run, options), command, as_json)


def _perform(store: Store, run: Run, plan: Plan, command: str, as_json: bool) -> None:
    console = err()
    console.print(Text(_opening(run, plan)))
    going_on = f"Go on with: {command} --resume {run.id} -o {shlex.quote(str(store.directory))}"
    try:
        left, interrupted = asyncio.run(_work(store, run, plan, console, going_on))
    except AssayError as error:
        console.print(Text(f"Run {run.id} stopped. What it has is kept. {going_on}"))
        raise typer.Exit(error.exit_code) from None
    if interrupted:
        console.print(Text(f"Run {run.id} was interrupted. What it has is kept. {going_on}"))
        raise typer.Exit(INTERRUPTED)
    _report(store, run, as_json)
    if left:
        console.print(Text(f"{len(left)} attempts were lost to faults outside the patches. {going_on}"))
        raise typer.Exit(InfraError.exit_code)


def refuse_changes(context: typer.Context) -> None:
    """Raises InputError for flags that a resumed run cannot have anew."""
    changed = [
        parameter.opts[-1]
        for parameter in context.command.params
        if parameter.name not in SESSION_FLAGS
        and (source := context.get_parameter_source(parameter.name or ""))
        and source.name == "COMMANDLINE"
    ]
    if changed:
        raise InputError(
            f"a resumed run keeps its settings; drop {', '.join(changed)}",
            "Only where it is kept and how much happens at once may be given anew.",
        )


async def _work(store: Store, run: Run, plan: Plan, console: Console, going_on: str) -> tuple[Owed, bool]:
    """What `run` owes in the end, and whether it was interrupted. An error is shown when it happens.

    Ctrl-C begins nothing more; where that is so already, it leaves at once. Whatever was stored stays.
    """
    loop, shown, interrupted = asyncio.get_running_loop(), None, False

    def watch(ledger: Ledger, stop: Stop) -> Progress:
        nonlocal shown
        shown = progress = Progress(console, ledger)

        def interrupt() -> None:
            nonlocal interrupted
            interrupted = True
            if not progress.stopped:
                stop()
                return
            progress.close()
            console.print(Text(f"Left. What run {run.id} has is kept. {going_on}"))
            os._exit(INTERRUPTED)  # threads wait for sandboxes, which end with this process

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
        return progress

    try:
        return await work(store, run, plan, watch), interrupted
    except AssayError as error:
        if not (shown and shown.stopping_for is error):
            complain(error)
        raise


def _report(store: Store, run: Run, as_json: bool) -> None:
    summary = summarise(store.ledger(store.run(run.id)))
    if as_json:
        emit(summary.model_dump(mode="json"))
        return
    console = out()
    console.print(render(summary))
    place = f"{run.id} -o {shlex.quote(str(store.directory))}"
    console.print(Text(f"\nEvery attempt: assay runs attempts {place}"))
    console.print(Text(f"One of them:   assay runs show {place} -i INSTANCE"))


def _opening(run: Run, plan: Plan) -> str:
    config, options = run.config, run.config.solver_options
    tasks, samples = len(config.instances), config.samples
    lines = [
        f"Run {run.id}",
        f"{tasks} {'task' if tasks == 1 else 'tasks'} of {line(config.dataset)}"
        + (f", {samples} samples each" if samples > 1 else ""),
        f"Sandbox {config.backend}, environments {config.environments}, {plan.options.slots} at once",
    ]
    if "model" in options:
        lines.insert(2, f"Model {line(options['model'])} at {line(options['base_url'])}")
        lines.append(CONTEXTS[options["context"]].format(options["context_tokens"]))
    else:
        lines.insert(2, f"Solver {config.solver}; no model is asked")
    if plan.taskset.left_out:
        lines.append(f"{len(plan.taskset.left_out)} rows were left out as invalid")
    return "\n".join(lines)
