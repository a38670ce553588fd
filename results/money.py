"""Dollars: exact, and honest about what is not known.

A sum that lacks a price is a lower bound and prints as one. Unknown is never zero.
"""

from collections.abc import Iterable
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from results.record import Cost, Request

Bound = Literal["exact", "at_least", "more_than", "unknown", "no_model"]


def dollars(amount: Decimal, *, floor: bool = False) -> str:
    """`$1,234.50`; below a dollar two significant digits at least: `$0.014`, `$0.00042`.

    Args:
        amount: in dollars.
        floor: round down, for amounts shown as a lower bound.
    """
    places = max(2, 1 - amount.adjusted()) if amount else 2
    rounded = amount.quantize(Decimal(1).scaleb(-places), ROUND_FLOOR if floor else ROUND_HALF_EVEN)
    return f"-${-rounded:,f}" if rounded < 0 else f"${rounded:,f}"


def gpu_cost(dollars_per_hour: Decimal, gpus: int, seconds: float) -> Cost:
    """What holding GPUs for `seconds` costs, busy or not: they are paid for while they wait for tests, too.

    Requests to them are not `billable`: nobody charges for one.
    """
    amount = dollars_per_hour * gpus * Decimal(str(seconds)) / 3600
    return Cost("gpu_held", amount, f"{gpus} GPUs at {dollars(dollars_per_hour)} an hour for {seconds:.0f} s")


class Amount(BaseModel):
    """A sum of dollars and how sure it is. `usd` is None when the bound is `unknown` or `no_model`."""

    model_config = ConfigDict(frozen=True)

    usd: Decimal | None
    bound: Bound

    def __str__(self) -> str:
        if self.usd is None:
            return "no model was asked" if self.bound == "no_model" else "unknown"
        sign = {"at_least": "≥ ", "more_than": "> "}.get(self.bound, "")
        return sign + dollars(self.usd, floor=bool(sign))


class Bill(BaseModel):
    """All that is known to have been spent, and what is missing from it."""

    model_config = ConfigDict(frozen=True)

    known: Decimal = Decimal(0)
    asked: int = 0
    """Requests to a model, billable or not, and costs of the run."""
    priced: int = 0
    """Of those, how many `known` is the sum of."""
    unpriced: int = 0
    """Billable requests of unknown cost."""
    unpriced_tokens: int = 0
    """Tokens those are known to have used."""

    @classmethod
    def of(cls, requests: Iterable[Request], costs: Iterable[Cost] = ()) -> Self:
        bill = {"known": Decimal(0), "asked": 0, "priced": 0, "unpriced": 0, "unpriced_tokens": 0}
        for request in requests:
            bill["asked"] += 1
            if request.cost is not None:
                bill["known"] += request.cost
                bill["priced"] += 1
            elif request.billable:
                bill["unpriced"] += 1
                if usage := request.usage:
                    bill["unpriced_tokens"] += usage.input + usage.cached + usage.output
        for cost in costs:
            bill["asked"] += 1
            bill["priced"] += 1
            bill["known"] += cost.amount
        return cls.model_validate(bill)

    @property
    def total(self) -> Amount:
        return self._amount(self.known)

    def per(self, count: int) -> Amount:
        """The whole bill over `count` results; when there is none, one costs more than all that was spent."""
        total = self.total
        if total.usd is None:
            return total
        return (
            Amount(usd=total.usd / count, bound=total.bound)
            if count
            else Amount(usd=total.usd, bound="more_than")
        )

    def __str__(self) -> str:
        if self.unpriced and self.priced:
            plural = "" if self.unpriced == 1 else "s"
            return f"{self.total}, {self.unpriced:,} request{plural} unpriced"
        return str(self.total)

    def _amount(self, usd: Decimal) -> Amount:
        if not self.asked:
            return Amount(usd=None, bound="no_model")
        if not self.unpriced:
            return Amount(usd=usd, bound="exact")
        return Amount(usd=usd, bound="at_least") if self.priced else Amount(usd=None, bound="unknown")
