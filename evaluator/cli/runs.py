"""`assay runs`: what came of it."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from evaluator.cli import flags
from evaluator.cli.console import emit, out, write
from evaluator.cli.noun import Noun, existing_store
from evaluator.cli.worth import policy_table, rules, worth
from results.export import write_attempts, write_logs, write_predictions, write_report
from results.record import Verdict
from results.summary import summarise
from results.swebench import By
from results.table import STYLES, render, render_attempt
from results.text import line

app = typer.Typer(cls=Noun, help="Runs: list them, look into one, export.", rich_markup_mode=None)

ENDINGS = {
    "predictions": "preds.jsonl",
    "report": "report.json",
    "logs": "logs",
    "attempts": "attempts.jsonl",
}
RunArgument = Annotated[
    str, typer.Argument(help="Id, name or unique beginning of an id; latest is the newest.")
]


@app.command("list")
def list_runs(output: flags.Output = flags.OUTPUT, as_json: flags.Json = False) -> None:
    """List the runs, oldest first.

    \b
    assay runs
    assay runs list -o elsewhere --json
    """
    summaries = []
    if (output / "assay.db").exists():
        with existing_store(output) as store:
            summaries = [summarise(store.ledger(run)) for run in store.runs()]
    if as_json:
        emit([summary.model_dump(mode="json") for summary in summaries])
        return
    if not summaries:
        out().print(Text(f"No runs are kept in {output}. `assay run` makes the first one."))
        return
    headers = ("run", "tasks", "done", "resolve rate", "official", "cost", "per fix")
    table = Table(*headers, box=None, pad_edge=False)
    table.columns[0].no_wrap = True  # it is there to be copied
    for summary in summaries:
        table.add_row(
            summary.run_id,
            Text(line(Path(summary.dataset).name, 40)),
            f"{summary.done}/{summary.total}",
            str(summary.rate),
            str(summary.official_rate),
            str(summary.cost),
            str(summary.cost_per_resolved),
        )
    out().print(table)


@app.command()
def show(
    run: RunArgument = "latest",
    instance: Annotated[str | None, typer.Option("-i", "--instance", help="Look at this attempt.")] = None,
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
    with existing_store(output) as store:
        found = store.run(run)
        if instance is None:
            summary = summarise(store.ledger(found))
            if as_json:
                emit(summary.model_dump(mode="json") | {"policy": rules()})
                return
            console.print(render(summary, explain=explain_numbers))
            if explain_numbers:
                console.print(policy_table())
            return
        record = store.record(found.id, instance, sample)
        if as_json:
            emit(
                asdict(record)
                | {"spent": record.spent.model_dump(), "output": record.output.decode(errors="replace")}
                | worth(record)
            )
        elif patch:
            write(record.patch.encode(errors="surrogatepass"))
        elif log:
            write(record.output)
        else:
            asked = [r for r in store.requests(found.id) if (r.instance_id, r.sample) == (instance, sample)]
            console.print(render_attempt(record, asked))
            if explain_numbers:
                console.print(policy_table())


@app.command()
def attempts(
    run: RunArgument = "latest",
    verdict: Annotated[Verdict | None, typer.Option(help="Only attempts with this verdict.")] = None,
    output: flags.Output = flags.OUTPUT,
    as_json: flags.Json = False,
) -> None:
    """List the attempts of a run: both verdicts, tests passed of those required, seconds.

    \b
    assay runs attempts latest
    assay runs attempts latest --verdict NOT_RESOLVED
    """
    with existing_store(output) as store:
        found = store.run(run)
        judged = [row for row in store.records(found.id) if verdict in (None, row.verdict)]
    judged.sort(key=lambda row: (row.instance_id, row.sample))
    if as_json:
        emit([asdict(row) | {"spent": row.spent.model_dump()} | worth(row) for row in judged])
        return
    headers = ("instance", "verdict", "reason", "official", "fixed", "kept", "build s", "tests s")
    table = Table(*headers, box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for row in judged:
        sample = f" #{row.sample}" if found.config.samples > 1 else ""
        table.add_row(
            Text(line(row.instance_id) + sample),
            Text(row.verdict.value, STYLES[row.verdict]),
            Text(line(row.reason)),
            Text(row.official.value or "unknown", "bold" if row.disputed else ""),
            f"{row.f2p_passed}/{row.f2p_total}",
            f"{row.p2p_passed}/{row.p2p_total}",
            f"{row.spent.build:.1f}",
            f"{row.spent.tests:.1f}",
        )
    out().print(table)


@app.command()
def export(
    run: RunArgument,
    kind: Annotated[
        Literal["predictions", "report", "logs", "attempts"],
        typer.Option(
            "-k",
            "--kind",
            help="predictions (preds.jsonl), report (SWE-bench's report JSON), logs (its folder of patches, "
            "outputs and reports), attempts (everything, JSONL).",
        ),
    ] = "predictions",
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="Where to (default: named after the run).")
    ] = None,
    sample: Annotated[int, typer.Option(min=0, help="Which sample; attempts holds all.")] = 0,
    by: Annotated[
        By,
        typer.Option(
            help="Which verdict report and logs go by: official (comparable with leaderboards) or trusted."
        ),
    ] = "official",
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    output: flags.Output = flags.OUTPUT,
    as_json: flags.Json = False,
) -> None:
    """Write a run in a format other tools read.

    \b
    assay runs export latest -k predictions -f preds.jsonl
    assay runs export latest -k report -f report.json
    """
    with existing_store(output) as store:
        found = store.run(run)
        target = file or Path(f"{found.id}.{ENDINGS[kind]}")
        if kind == "predictions":
            write_predictions(store, found, target, sample, force=force)
        elif kind == "report":
            write_report(store, found, target, sample, by=by, force=force)
        elif kind == "logs":
            write_logs(store, found, target, sample, by=by, force=force)
        else:
            write_attempts(store, found, target, force=force)
    if as_json:
        emit({"run": found.id, "kind": kind, "file": str(target)})
    else:
        out().print(Text(f"wrote {target}"))
