"""`assay cache`: what preparation left on this machine."""

import shutil
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from evaluator.cli import flags
from evaluator.cli.console import emit, out
from tasks.cache import cache_root, usage

app = typer.Typer(
    help="Prepared repositories and environments: how much they take, and removing them.",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def bare(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_cache()


@app.command("list")
def list_cache(as_json: flags.Json = False) -> None:
    """List what the cache holds, by kind."""
    sizes = usage()
    if as_json:
        emit({"root": str(cache_root()), "bytes": sizes})
        return
    table = Table("kind", "MiB", box=None)
    for kind, size in sizes.items():
        table.add_row(kind, f"{size / 2**20:,.0f}")
    console = out()
    console.print(Text(f"{cache_root()} (set ASSAY_CACHE to move it)"))
    console.print(table)


@app.command()
def clear(
    kind: Annotated[str, typer.Argument(help="Which kind, as `assay cache list` names it; or all.")],
) -> None:
    """Remove one kind of prepared thing. Runs and their results are kept elsewhere and stay."""
    sizes = usage()
    chosen = list(sizes) if kind == "all" else [kind]
    for name in chosen:
        if name not in sizes:
            raise typer.BadParameter(f"no kind {name!r}; there are: {', '.join(sizes) or 'none'}")
        shutil.rmtree(cache_root() / name)
        out().print(Text(f"removed {name}: {sizes[name] / 2**20:,.0f} MiB"))
