"""Turns what happens to one request into its bill."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from evaluator.billing import Biller
from evaluator.prices import Prices
from results.record import Request, Usage


@dataclass(frozen=True)
class Meter:
    """Bills the requests made for one attempt, noted as it leaves and again when its outcome is known."""

    instance_id: str
    sample: int
    prices: Prices
    biller: Biller

    def start(self) -> "Pending":
        """Call right before a request leaves."""
        started_at = datetime.now(UTC)
        billable = self.prices.gpu_hour is None
        return Pending(self, started_at, self.biller(self.prices.model, started_at, billable))


@dataclass(frozen=True)
class Pending:
    """A request on its way."""

    meter: Meter
    started_at: datetime
    bill: Callable[[Request], None]
    clock: float = field(default_factory=time.monotonic)

    def end(self, outcome: str, usage: Usage | None = None, billable: bool = True) -> None:
        """`usage` None with `billable` means an unknown cost, unless the price does not depend on tokens."""
        prices = self.meter.prices
        price = prices.row(usage, self.started_at) if billable else None
        self.bill(
            Request(
                instance_id=self.meter.instance_id,
                sample=self.meter.sample,
                model=prices.model,
                started_at=self.started_at,
                seconds=time.monotonic() - self.clock,
                outcome=outcome,
                usage=usage,
                price=price,
                cost=prices.cost(usage, price) if billable else None,
                billable=billable,
            )
        )
