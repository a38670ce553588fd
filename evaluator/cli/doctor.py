"""`assay doctor`: what works on this machine."""

import typer
from rich.table import Table
from rich.text import Text

from evaluator.cli import flags
from evaluator.cli.console import emit, out


def doctor(as_json: flags.Json = False) -> None:
    """Check what Assay needs, by really trying it, and give the remedy for what does not work.

    Exits with 5 when no sandbox works here or git is missing, else with 0.

    \b
    assay doctor
    """
    from sandbox.doctor import examine  # brings the Docker client, which takes its time

    checks = examine()
    if as_json:
        emit([vars(check) for check in checks])
    else:
        table = Table(box=None, show_header=False)
        for check in checks:
            mark = Text("ok", "green") if check.ok else Text("no", "red")
            table.add_row(mark, Text(check.name), Text(check.detail))
            if check.remedy:
                table.add_row("", "", Text(check.remedy, "yellow"))
        out().print(table)
    works = {check.name for check in checks if check.ok}
    if "git" not in works or not works & {"bubblewrap", "docker"}:
        raise typer.Exit(5)
