"""How solvers tell of the money they spend."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from results.record import Request


class Biller(Protocol):
    """Told that a request is about to leave; gives back what to call with its bill once its end is known.

    A process that dies in between leaves a request without an end behind, and no money goes unnoticed.
    `billable` is False when a request whose end is never seen cannot have cost anything.
    """

    def __call__(self, model: str, started_at: datetime, billable: bool, /) -> Callable[[Request], None]: ...
