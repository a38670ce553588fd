"""The starter set, prepared in sight of the user: the first time takes a minute."""

from rich.text import Text

from evaluator.cli.console import err
from tasks import starter


def prepare_starter(dataset: str) -> None:
    """Prepares the starter set if `dataset` names it and it is not ready. Raises SourceError."""
    if dataset == starter.NAME:
        starter.load(being_prepared)


def being_prepared(instance: str, done: int, owed: int) -> None:
    err().print(Text(f"preparing the starter set, {done + 1} of {owed}: {instance}"))
