"""`assay runs`: what came of it."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer
from rich.table import Table
from rich.text import Text

from evaluator.cli import flags
from evaluator.cli.console import emit, out
from results.export import export_attempts, export_predictions, export_report
from results.store import Store
from results.summary import explain, summarise
from results.table import render, render_attempt
from results.text import line

app = typer.Typer(help="Runs: list them, look into one, export.", rich_markup_mode=None)

RunArgument = Annotated[str, typer.Argument(help="Id, name or unique beginning of an id; latest is the newest.")]


@app.callback(invoke_without_command=True)
def bare(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_runs()


@app.command("list")
def list_runs(output: flags.Output = flags.OUTPUT, as_json: flags.Json = False) -> None:
    """List the runs of a store, oldest first."""
    with Store.open(output) as store:
        summaries = [summarise(store, run.id) for run in store.runs()]
    if as_json:
        emit([summary.model_dump(mode="json") for summary in summaries])
        return
    table = Table("run", "name", "tasks", "done", "resolve rate", "cost", "per fix", box=None)
    for summary in summaries:
        table.add_row(
            summary.run_id,
            Text(line(summary.name, 40)),
            Text(line(summary.dataset, 40)),
            f"{summary.done}/{summary.total}",
            str(summary.rate),
            str(summary.cost),
            str(summary.cost_per_resolved),
        )
    out().print(table)


@app.command()
def show(
    run: RunArgument = "latest",
    instance: Annotated[Optional[str], typer.Option("-i", "--instance", help="Look at this attempt.")] = None,
    sample: Annotated[int, typer.Option(min=0, help="Which sample of it.")] = 0,
    patch: Annotated[bool, typer.Option("--patch", help="Print the whole patch and nothing else.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Print the whole test output and nothing else.")] = False,
    explain_numbers: Annotated[bool, typer.Option("--explain", help="Say what each number means.")] = False,
    output: flags.Output = flags.OUTPUT,
    as_json: flags.Json = False,
) -> None:
    """Show the summary of a run, or everything behind one verdict.

    \b
    assay runs show latest --explain
    assay runs show latest -i jinja2-3.1.3
    assay runs show latest -i jinja2-3.1.3 --log
    """
    console = out()
    with Store.open(output) as store:
        found = store.run(run)
        if instance is None:
            summary = summarise(store, found.id)
            if as_json:
                emit(summary.model_dump(mode="json"))
                return
            console.print(render(summary))
            if explain_numbers:
                console.print(Text("\n" + "\n".join(explain(summary))))
            return
        record = store.record(found.id, instance, sample)
        if as_json:
            emit(vars(record) | {"output": record.output.decode(errors="replace")})
        elif patch:
            typer.echo(record.patch, nl=False)
        elif log:
            typer.echo(record.output, nl=False)
        else:
            console.print(render_attempt(store, found.id, record))


@app.command()
def export(
    run: RunArgument,
    kind: Annotated[
        Literal["predictions", "report", "attempts"],
        typer.Option("-k", "--kind", help="predictions (preds.jsonl), report (SWE-bench's report JSON), attempts (JSONL)."),
    ] = "predictions",
    file: Annotated[Optional[Path], typer.Option("-f", "--file", help="Where to (default: named after the run).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    output: flags.Output = flags.OUTPUT,
) -> None:
    """Write a run in a format other tools read.

    \b
    assay runs export latest -k predictions -f preds.jsonl
    assay runs export latest -k report -f report.json
    """
    write = {"predictions": export_predictions, "report": export_report, "attempts": export_attempts}[kind]
    suffix = "report.json" if kind == "report" else f"{kind}.jsonl"
    with Store.open(output) as store:
        found = store.run(run)
        target = file or Path(f"{found.id}.{suffix}")
        write(store, found.id, target, force=force)
    out().print(Text(f"wrote {target}"))
