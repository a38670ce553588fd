"""`assay grade`: verdicts on patches somebody already has."""

from pathlib import Path
from typing import Annotated

import typer

from evaluator.cli import flags
from evaluator.cli.run import backend_options
from evaluator.cli.session import score
from evaluator.options import CORES, REPO_URL, Options
from sandbox.job import Limits
from tasks.predictions import read


def grade(
    predictions: Annotated[
        Path, typer.Argument(metavar="FILE", help="preds.json or .jsonl: instance_id, model_patch.")
    ],
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
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the run (default: the file's).")] = "",
    as_json: flags.Json = False,
) -> None:
    """Grade a predictions file: only the instances it has a prediction for.

    Several predictions for an instance are its samples, in the order of the file.

    \b
    assay grade preds.jsonl -d verified
    """
    given = read(predictions)
    covered = tuple(dict.fromkeys(prediction.instance_id for prediction in given))
    score(
        Options(
            dataset=dataset,
            split=split,
            instances=tuple(instance) or covered,
            pattern=filter,
            limit=limit,
            skip_invalid=skip_invalid,
            samples=1 + max(prediction.sample for prediction in given),
            solver="replay",
            solver_options={"predictions": str(predictions.resolve())},
            sandbox=sandbox,
            backend_options=backend_options(base_image, registry, namespace),
            environments=environments,
            repo_url=repo_url,
            limits=Limits(wall_s=timeout, memory_mb=memory),
            output=output,
            name=name or predictions.stem,
            slots=workers or CORES,
        ),
        as_json=as_json,
    )
