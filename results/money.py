"""Dollars: exact, and honest about what is not known.

A sum that lacks a price is a lower bound and prints as one. Unknown is never zero.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from results.record import Cost, Request, RunConfig, Session

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


def gpu_cost(config: RunConfig, sessions: Iterable[Session], requests: Iterable[Request]) -> Cost | None:
    """What holding one's own GPUs cost a run, busy or idle; None when it names no `gpu_hour` price.

    Each session held them from its first request to the end of its last. That is worked out from what was
    recorded anyway, so a session that was killed counts like any other. The requests themselves cost nothing.
    """
    price = config.solver_options.get("gpu_hour")
    if price is None:
        return None
    gpus = int(config.solver_options.get("gpus") or 1)
    resumed = [session.started_at for session in sessions][1:]
    spans: dict[int, list[datetime]] = defaultdict(list)
    for request in requests:
        end = request.started_at + timedelta(seconds=request.seconds)
        spans[bisect_right(resumed, request.started_at)] += request.started_at, end
    held = sum(((max(span) - min(span)) for span in spans.values()), timedelta())
    hours = Decimal(held // timedelta(microseconds=1)) / 3_600_000_000
    rate = Decimal(str(price))
    detail = f"{gpus} GPU at {dollars(rate)} an hour each, held {held.total_seconds():,.0f} s"
    return Cost("gpu_held", rate * gpus * hours, detail)


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
        asked, held = list(requests), list(costs)
        known = [amount for request in asked if (amount := request.cost) is not None]
        known += [cost.amount for cost in held]
        open_ = [request for request in asked if request.cost is None and request.billable]
        used = [request.usage for request in open_ if request.usage is not None]
        return cls(
            known=sum(known, Decimal(0)),
            asked=len(asked) + len(held),
            priced=len(known),
            unpriced=len(open_),
            unpriced_tokens=sum(usage.input + usage.cached + usage.output for usage in used),
        )

    @property
    def total(self) -> Amount:
        return self._amount(self.known)

    def per(self, count: int) -> Amount:
        """The whole bill over `count` results; when there is none, one costs more than all that was spent."""
        total = self.total
        if total.usd is None:
            return total
        if not count and not total.usd:
            return Amount(usd=None, bound="unknown")  # "more than nothing" would say nothing
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
