"""`assay cache`: what preparation left on this machine."""

import shutil
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from evaluator.cli import flags
from evaluator.cli.console import emit, out
from evaluator.cli.noun import Noun
from tasks.cache import cache_root, usage
from tasks.errors import InputError

app = typer.Typer(
    cls=Noun,
    help="Prepared repositories and environments: how much they take, and removing them.",
    rich_markup_mode=None,
)


@app.command("list")
def list_cache(as_json: flags.Json = False) -> None:
    """List what the cache holds, by kind.

    \b
    assay cache
    """
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
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="Which kind, as `assay cache list` names it; or all.")
    ],
    as_json: flags.Json = False,
) -> None:
    """Remove one kind of prepared thing. Runs and their results are kept elsewhere and stay.

    \b
    assay cache clear environments
    assay cache clear all
    """
    sizes = usage()
    chosen = list(sizes) if kind == "all" else [kind]
    if unknown := [name for name in chosen if name not in sizes]:
        raise InputError(
            f"the cache holds nothing called {unknown[0]!r}", f"It holds {', '.join(sizes) or 'nothing'}."
        )
    for name in chosen:
        shutil.rmtree(cache_root() / name)
        if not as_json:
            out().print(Text(f"removed {name}: {sizes[name] / 2**20:,.0f} MiB"))
    if as_json:
        emit({"root": str(cache_root()), "removed": {name: sizes[name] for name in chosen}})
