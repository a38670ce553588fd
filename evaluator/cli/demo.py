"""`assay demo` and `assay demo-model`: the whole path without a key."""

import threading
from typing import Annotated

import typer
from rich.text import Text

from evaluator.cli import flags
from evaluator.cli.console import err, out
from evaluator.cli.session import refuse_changes, score
from evaluator.cli.session import resume as go_on
from evaluator.cli.starter import prepare_starter
from evaluator.demo import serve
from evaluator.options import CORES, Options
from tasks.load import load

PORT = 8321
PRICES = {"price_in": "0.25", "price_out": "2.00", "price_cached": "0.025"}
"""Dollars per million tokens: made up, like the model."""


def demo(
    context: typer.Context,
    sandbox: flags.Sandbox = "auto",
    base_image: flags.BaseImage = None,
    workers: flags.Workers = None,
    limit: flags.Limit = None,
    samples: flags.Samples = 1,
    port: Annotated[int, typer.Option(metavar="N", help="Port of the demo model on 127.0.0.1.")] = PORT,
    output: flags.Output = flags.OUTPUT,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Go on with this demo run.")] = None,
    as_json: flags.Json = False,
) -> None:
    """Score the demo model on the starter set, over real HTTP.

    The demo model is no model: it answers from the reference fixes with a fixed rate of seeded mistakes, so
    that the whole path can be seen without a key, a GPU or a bill. Its prices are made up.

    \b
    assay demo
    assay demo --sandbox docker --limit 3
    """
    if resume:
        refuse_changes(context)
    prepare_starter("starter")
    tasks = load("starter")
    console = err()
    with serve(tasks.tasks, port=port) as served:
        console.print(Text(f"The demo model answers at {served.base_url}: {served.notice}."))
        options = Options(
            limit=limit,
            samples=samples,
            solver_options={"base_url": served.base_url},
            sandbox=sandbox,
            backend_options={"base_image": base_image} if base_image else {},
            environments="built",
            name="demo",
            output=output,
            slots=workers or CORES,
        )
        if resume:
            go_on(resume, options, command="assay demo", as_json=as_json)
        else:
            asked = {"model": served.models[0], **options.solver_options, **PRICES}
            options = options.model_copy(update={"solver_options": asked})
            score(options, command="assay demo", as_json=as_json)


def demo_model(
    dataset: flags.Dataset = "starter",
    split: flags.Split = "test",
    port: Annotated[int, typer.Option(metavar="N", help="Port on 127.0.0.1; 0 for a free one.")] = PORT,
    seed: Annotated[int, typer.Option(metavar="N", help="Which answers are wrong.")] = 0,
) -> None:
    """Serve the demo model until interrupted, to try `assay run` or another client against it.

    \b
    assay demo-model &
    assay run -m assay-demo --base-url http://127.0.0.1:8321/v1
    """
    prepare_starter(dataset)
    tasks = load(dataset, split=split, skip_invalid=True)
    with serve(tasks.tasks, port=port, seed=seed) as served:
        out().print(
            Text(f"{served.notice}\n{served.base_url}  models: {', '.join(served.models)}\nCtrl-C ends it.")
        )
        threading.Event().wait()
