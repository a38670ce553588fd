"""`assay run`: score a model."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from evaluator.cli import flags
from evaluator.cli.session import refuse_changes, score
from evaluator.cli.session import resume as go_on
from evaluator.options import CONCURRENCY, CORES, REPO_URL, Options
from sandbox.job import Limits


def run(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option("-m", "--model", metavar="NAME", help="Model, as the endpoint names it.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="OpenAI-compatible endpoint (default: OPENAI_BASE_URL)."),
    ] = None,
    solver: Annotated[
        Literal["oneshot", "gold", "noop", "replay"] | None,
        typer.Option(
            help="oneshot: a model, one request (the default). gold: the reference fixes. noop: no change. "
            "replay: --predictions."
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("-p", "--predictions", metavar="FILE", help="preds.json or .jsonl for replay."),
    ] = None,
    dataset: flags.Dataset = "starter",
    split: flags.Split = "test",
    instance: flags.Instance = [],  # noqa: B006 - typer wants a list
    filter: flags.Filter = None,
    limit: flags.Limit = None,
    skip_invalid: flags.SkipInvalid = False,
    samples: flags.Samples = 1,
    context_kind: Annotated[
        Literal["bm25", "oracle"] | None,
        typer.Option(
            "--context",
            help="Files shown to the model. bm25: those that rank best for the issue (the default). oracle: "
            "those the reference fix changes, which no user knows.",
        ),
    ] = None,
    context_tokens: Annotated[
        int | None, typer.Option(min=100, metavar="N", help="Token budget of those files (default: 16000).")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, metavar="T", help="Default: the endpoint's.")
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="P", help="Default: the endpoint's.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Longest answer (default: the endpoint's).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Sample k is asked with seed N + k (default: 0).")
    ] = None,
    request_timeout: Annotated[
        float | None, typer.Option(min=1, metavar="SECONDS", help="What one request may take (default: 600).")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, metavar="N", help=f"Requests at once (default: {CONCURRENCY}).")
    ] = None,
    rpm: Annotated[
        float | None, typer.Option(min=0.1, metavar="N", help="Requests a minute, at most.")
    ] = None,
    price_in: Annotated[
        str | None, typer.Option(metavar="USD", help="Dollars per million input tokens.")
    ] = None,
    price_out: Annotated[
        str | None, typer.Option(metavar="USD", help="Dollars per million output tokens.")
    ] = None,
    price_cached: Annotated[
        str | None, typer.Option(metavar="USD", help="Dollars per million cached input tokens.")
    ] = None,
    gpu_price: Annotated[
        str | None, typer.Option(metavar="USD", help="Dollars per hour and GPU of your own.")
    ] = None,
    gpus: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="GPUs the model is served on (default: 1).")
    ] = None,
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
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the run (default: the model).")] = "",
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with this run (id, name or latest): only what it owes."),
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
        refuse_changes(context)
        session = Options(solver_options=_given(pace), output=output, slots=workers or CORES)
        go_on(resume, session, as_json=as_json)
        return
    asked = {
        "predictions": str(predictions.resolve()) if predictions else None,
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
    }
    chosen = solver or ("replay" if predictions else "oneshot")
    score(
        Options(
            dataset=dataset,
            split=split,
            instances=tuple(instance),
            pattern=filter,
            limit=limit,
            skip_invalid=skip_invalid,
            samples=samples,
            solver=chosen,
            solver_options=_given(asked),
            sandbox=sandbox,
            backend_options=backend_options(base_image, registry, namespace),
            environments=environments,
            repo_url=repo_url,
            limits=Limits(wall_s=timeout, memory_mb=memory),
            name=name or model or chosen,
            output=output,
            slots=workers or CORES,
        ),
        as_json=as_json,
    )


def backend_options(base_image: str | None, registry: str | None, namespace: str | None) -> dict[str, Any]:
    return _given({"base_image": base_image, "registry": registry, "namespace": namespace})


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}
