"""`assay grade`: verdicts on patches somebody already has."""

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from evaluator.cli import flags
from evaluator.cli.run import backend_options
from evaluator.cli.session import perform
from evaluator.options import CORES, REPO_URL, Options
from sandbox.job import Limits
from tasks.predictions import read


def grade(
    predictions: Annotated[Path, typer.Argument(help="preds.json or .jsonl: instance_id, model_patch.")],
    dataset: flags.Dataset = "starter",
    split: flags.Split = "test",
    instance: flags.Instance = [],  # noqa: B006 - typer wants a list
    filter: flags.Filter = None,
    limit: flags.Limit = None,
    skip_invalid: flags.SkipInvalid = False,
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
    name: Annotated[str, typer.Option(help="Name of the run (default: the file's).")] = "",
    as_json: flags.Json = False,
) -> None:
    """Grade a predictions file: only the instances it has a prediction for.

    \b
    assay grade preds.jsonl -d verified
    """
    covered = {prediction.instance_id: None for prediction in read(predictions)}
    perform(
        Options(
            dataset=dataset,
            split=split,
            instances=tuple(instance) or tuple(covered),
            pattern=filter,
            limit=limit,
            skip_invalid=skip_invalid,
            solver="replay",
            solver_options={"predictions": str(predictions.resolve())},
            sandbox=cast(Literal["auto"], sandbox),
            backend_options=backend_options(base_image, registry, namespace),
            environments=cast(Literal["auto"], environments),
            repo_url=repo_url,
            limits=Limits(wall_s=timeout, memory_mb=memory),
            output=output,
            name=name or predictions.stem,
            slots=workers or CORES,
        ),
        as_json=as_json,
    )
