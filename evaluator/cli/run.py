"""`assay run`: score a model."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer
from rich.text import Text

from evaluator.cli import flags
from evaluator.cli.console import complain, emit, err, out
from evaluator.options import CORES, REPO_URL, Options
from evaluator.progress import Progress
from evaluator.scoring import Plan, again, begin, work
from results.record import Run
from results.store import Store
from results.summary import summarise
from results.table import render
from sandbox.job import Limits
from tasks.errors import AssayError, InputError

SESSION_FLAGS = {"resume", "output", "workers", "concurrency", "as_json"}
"""Flags that change no number: the ones a resumed run may have anew."""


def run(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option("-m", "--model", help="Model as the endpoint names it.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint (default: OPENAI_BASE_URL).")
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="oneshot (a model, one request), gold (reference fixes), noop, replay (--predictions)."
        ),
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option("-p", "--predictions", help="preds.json or .jsonl for replay.")
    ] = None,
    dataset: flags.Dataset = "starter",
    split: flags.Split = "test",
    instance: flags.Instance = [],  # noqa: B006 - typer wants a list
    filter: flags.Filter = None,
    limit: flags.Limit = None,
    skip_invalid: flags.SkipInvalid = False,
    samples: Annotated[int, typer.Option("-n", "--samples", min=1, help="Attempts per task.")] = 1,
    context_kind: Annotated[
        str,
        typer.Option("--context", help="Files shown: bm25 (ranked), or oracle (those the fix touches)."),
    ] = "bm25",
    context_tokens: Annotated[int, typer.Option(min=100, help="Token budget of the files shown.")] = 16_000,
    temperature: Annotated[float | None, typer.Option(min=0)] = None,
    top_p: Annotated[float | None, typer.Option(min=0, max=1)] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Longest answer.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of sample 0; sample k gets seed + k.")] = None,
    request_timeout: Annotated[float, typer.Option(min=1, help="Seconds one request may take.")] = 600,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at once.")] = 8,
    rpm: Annotated[float | None, typer.Option(min=0.1, help="Requests a minute, at most.")] = None,
    price_in: Annotated[str | None, typer.Option(help="Dollars per million input tokens.")] = None,
    price_out: Annotated[str | None, typer.Option(help="Dollars per million output tokens.")] = None,
    price_cached: Annotated[str | None, typer.Option(help="Dollars per million cached input tokens.")] = None,
    gpu_price: Annotated[str | None, typer.Option(help="Dollars per GPU hour, self-hosted.")] = None,
    gpus: Annotated[int | None, typer.Option(min=1, help="GPUs the checkpoint is served on.")] = None,
    sandbox: flags.Sandbox = "auto",
    environments: flags.Environments = "auto",
    repo_url: flags.RepoUrl = REPO_URL,
    base_image: flags.BaseImage = None,
    registry: flags.Registry = None,
    namespace: flags.Namespace = None,
    timeout: flags.Timeout = 1800,
    memory: flags.Memory = 4096,
    workers: flags.Workers = None,
    output: flags.Output = flags.OUTPUT,
    name: Annotated[str, typer.Option(help="Name of the run (default: the model).")] = "",
    resume: Annotated[
        str | None,
        typer.Option(help="Go on with this run (id, name, or latest): only what it owes."),
    ] = None,
    as_json: flags.Json = False,
) -> None:
    """Score a model on real bugs: how many it fixes, with what certainty, at what price per fix.

    \b
    assay run -m my-model --base-url http://localhost:8000/v1 -d verified --gpu-price 2.50 --gpus 4
    assay run -m gpt-5-mini -d starter -n 4
    assay run --solver gold
    assay run --resume latest
    """
    session = Options(concurrency=concurrency, output=output, slots=workers or CORES)
    if resume:
        _refuse_changes(context)
        perform(session, resume=resume, as_json=as_json)
        return
    solver = solver or ("replay" if predictions else "oneshot")
    options: dict[str, dict[str, Any]] = {
        "oneshot": {
            "model": model,
            "base_url": base_url,
            "context": context_kind,
            "context_tokens": context_tokens,
            "temperature": temperature,
            "top_p": top_p,
            "max_tokens": max_tokens,
            "seed": seed,
            "timeout_s": request_timeout,
            "concurrency": concurrency,
            "per_minute": rpm,
            "price_in": price_in,
            "price_out": price_out,
            "price_cached": price_cached,
            "gpu_hour": gpu_price,
            "gpus": gpus,
        },
        "replay": {"predictions": str(predictions.resolve()) if predictions else None},
    }
    perform(
        Options(
            dataset=dataset,
            split=split,
            instances=tuple(instance),
            pattern=filter,
            limit=limit,
            skip_invalid=skip_invalid,
            samples=samples,
            solver=solver,
            solver_options={
                key: value for key, value in options.get(solver, {}).items() if value is not None
            },
            sandbox=cast(Literal["auto"], sandbox),
            backend_options=backend_options(base_image, registry, namespace),
            environments=cast(Literal["auto"], environments),
            repo_url=repo_url,
            limits=Limits(wall_s=timeout, memory_mb=memory),
            name=name or model or solver,
            concurrency=session.concurrency,
            output=session.output,
            slots=session.slots,
        ),
        as_json=as_json,
    )


def backend_options(base_image: str | None, registry: str | None, namespace: str | None) -> dict[str, Any]:
    given = {"base_image": base_image, "registry": registry, "namespace": namespace}
    return {key: value for key, value in given.items() if value is not None}


def perform(options: Options, *, resume: str | None = None, as_json: bool = False) -> None:
    """Begins or resumes a run, shows it happen, and prints what came of it."""
    with Store.open(options.output) as store:
        started, plan = again(store, resume, options) if resume else begin(store, options)
        console = err()
        console.print(Text(_opening(started, plan)))
        try:
            asyncio.run(work(store, started, plan, lambda total, done: Progress(console, total, done)))
        except (AssayError, KeyboardInterrupt, asyncio.CancelledError) as error:
            complain(
                f"run {started.id} stopped; what it has is kept",
                f"Go on with: assay run --resume {started.id} -o {options.output}",
            )
            if isinstance(error, AssayError):
                raise
            raise typer.Exit(130) from None
        summary = summarise(store.ledger(started))
        if as_json:
            emit(summary.model_dump(mode="json"))
        else:
            out().print(render(summary))
            out().print(Text(f"\nLook closer: assay runs show {started.id} -i INSTANCE -o {options.output}"))


def _opening(run: Run, plan: Plan) -> str:
    config = run.config
    what = config.solver_options.get("model", config.solver)
    shown = f"Run {run.id}: {len(config.instances)} tasks × {config.samples}, {what}, "
    shown += f"{config.backend} sandbox, {plan.options.slots} at once"
    if plan.taskset.left_out:
        shown += f"\n{len(plan.taskset.left_out)} rows of {config.dataset} were left out as invalid"
    return shown


def _refuse_changes(context: typer.Context) -> None:
    changed = [
        name
        for name in context.params
        if (source := context.get_parameter_source(name))
        and source.name == "COMMANDLINE"
        and name not in SESSION_FLAGS
    ]
    if changed:
        raise InputError(
            f"a resumed run keeps its settings; drop {', '.join(sorted(changed))}",
            "Only -o, -j, --concurrency and --json may be given with --resume.",
        )
