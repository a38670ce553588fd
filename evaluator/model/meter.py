"""Turns what happened to one request into its bill."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from evaluator.prices import Prices
from results.record import Request, Usage


@dataclass(frozen=True)
class Meter:
    """Bills the requests made for one attempt, each the moment its outcome is known."""

    instance_id: str
    sample: int
    prices: Prices
    bill: Callable[[Request], None]

    def record(
        self, started: datetime, seconds: float, outcome: str, usage: Usage | None, billable: bool
    ) -> None:
        """`usage` None with `billable` means an unknown cost, unless the price does not depend on tokens."""
        price = self.prices.row(usage, started) if billable else None
        self.bill(
            Request(
                instance_id=self.instance_id,
                sample=self.sample,
                model=self.prices.model,
                started_at=started,
                seconds=seconds,
                outcome=outcome,
                usage=usage,
                price=price,
                cost=self.prices.cost(usage, price) if billable else None,
                billable=billable,
            )
        )
