"""The `assay` command: nouns, and one place where errors become a line and an exit code."""

import sys

import typer

from evaluator.cli import cache, demo, doctor, grade, run, runs, tasks
from evaluator.cli.console import complain
from tasks.errors import AssayError

HELP = """Measure what a code model is worth: verifiable rewards for real bug fixes, and what each fix costs.

Exit codes: 0 done · 1 unexpected · 2 wrong input · 3 something cannot be had from here · 4 an environment did
not build · 5 no working sandbox, or lost to the host · 6 the model endpoint · 7 the store · 130 interrupted
(resumable).
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("grade")(grade.grade)
app.command("doctor")(doctor.doctor)
app.command("demo")(demo.demo)
app.command("demo-model")(demo.demo_model)
app.add_typer(tasks.app, name="tasks")
app.add_typer(runs.app, name="runs")
app.add_typer(cache.app, name="cache")


def main() -> None:
    """Entry point: every failure that Assay foresees ends in one message and a documented exit code."""
    try:
        app()
    except AssayError as error:
        complain(error)
        sys.exit(error.exit_code)
