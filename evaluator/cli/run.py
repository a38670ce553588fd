"""`assay run`: score a model."""

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from evaluator.cli import flags
from evaluator.cli.session import perform
from evaluator.options import CONCURRENCY, CORES, REPO_URL, Options
from sandbox.job import Limits
from tasks.errors import InputError

SESSION_FLAGS = {"resume", "output", "workers", "concurrency", "rpm", "as_json"}
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
    concurrency: Annotated[
        int | None, typer.Option(min=1, help=f"Requests at once (default: {CONCURRENCY}).")
    ] = None,
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
    pace = {"concurrency": concurrency, "per_minute": rpm}
    if resume:
        _refuse_changes(context)
        session = Options(solver_options=_given(pace), output=output, slots=workers or CORES)
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
            "price_in": price_in,
            "price_out": price_out,
            "price_cached": price_cached,
            "gpu_hour": gpu_price,
            "gpus": gpus,
            **pace,
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
            solver_options=_given(options.get(solver, {})),
            sandbox=cast(Literal["auto"], sandbox),
            backend_options=backend_options(base_image, registry, namespace),
            environments=cast(Literal["auto"], environments),
            repo_url=repo_url,
            limits=Limits(wall_s=timeout, memory_mb=memory),
            name=name or model or solver,
            output=output,
            slots=workers or CORES,
        ),
        as_json=as_json,
    )


def backend_options(base_image: str | None, registry: str | None, namespace: str | None) -> dict[str, Any]:
    return _given({"base_image": base_image, "registry": registry, "namespace": namespace})


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}


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
            "Only -o, -j, --concurrency, --rpm and --json may be given with --resume.",
        )
