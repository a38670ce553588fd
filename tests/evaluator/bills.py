"""What is billed, gathered in a list."""

from collections.abc import Callable
from datetime import datetime

from evaluator.billing import Biller
from results.record import Request


def into(bills: list[Request]) -> Biller:
    """A biller that appends each bill to `bills`."""

    def depart(model: str, started_at: datetime, billable: bool) -> Callable[[Request], None]:
        return bills.append

    return depart
