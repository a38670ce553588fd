"""What the nouns of the command line have in common."""

from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from results.store import Store
from tasks.errors import InputError


class Noun(TyperGroup):
    """A group of commands, of which `list` is meant when none is named: `assay runs -o here`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def existing_store(directory: Path) -> Store:
    """Where runs were kept before: looking at them makes none.

    Raises:
        InputError: there is none.
    """
    if not (directory / "assay.db").exists():
        raise InputError(
            f"no runs are kept in {directory}", "`assay run` makes the first one; -o names another directory."
        )
    return Store.open(directory)
