from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_factories import START, a_config, a_request

from results.money import Bill, dollars, gpu_cost
from results.record import Cost, Session, Usage

AMOUNTS = st.decimals(min_value=0, max_value=10**6, places=8)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0", "$0.00"),
        ("1.23", "$1.23"),
        ("1234.5", "$1,234.50"),
        ("0.10", "$0.10"),
        ("0.014", "$0.014"),
        ("0.00042", "$0.00042"),
        ("0.000000123", "$0.00000012"),
        ("0.999", "$1.00"),
        ("-2.5", "-$2.50"),
        ("1E+3", "$1,000.00"),
    ],
)
def test_small_amounts_keep_their_digits(amount, shown):
    """Amounts show cents, and below a dollar never fewer than two significant digits."""
    assert dollars(Decimal(amount)) == shown


@given(AMOUNTS)
def test_a_lower_bound_is_never_rounded_up(amount):
    """What is printed as a lower bound is not more than what is known."""
    assert Decimal(dollars(amount, floor=True)[1:].replace(",", "")) <= amount


@given(st.lists(AMOUNTS, max_size=20), st.lists(AMOUNTS, max_size=3))
def test_a_total_is_the_exact_sum(requests, costs):
    """No cent is lost or made in adding up."""
    bill = Bill.of(
        [a_request(cost=cost) for cost in requests], [Cost("gpu_held", cost, "") for cost in costs]
    )
    assert bill.known == sum(requests + costs, Decimal(0))


@pytest.mark.parametrize(
    ("costs", "resolved", "total", "each"),
    [
        ([], 0, "no model was asked", "no model was asked"),
        (["1.00", "0.50"], 3, "$1.50", "$0.50"),
        (["1.00", "0.50"], 0, "$1.50", "> $1.50"),
        (["1.23", None, None], 3, "≥ $1.23, 2 requests unpriced", "≥ $0.41"),
        (["1.23", None], 0, "≥ $1.23, 1 request unpriced", "> $1.23"),
        ([None, None], 3, "unknown", "unknown"),
        ([None, None], 0, "unknown", "unknown"),
        (["0"], 1, "$0.00", "$0.00"),
    ],
)
def test_what_is_not_known_is_said(costs, resolved, total, each):
    """A bill prints as exact, as a lower bound or as unknown, and so does its share per result."""
    bill = Bill.of([a_request(cost=None if cost is None else Decimal(cost)) for cost in costs])
    assert str(bill) == total
    assert str(bill.per(resolved)) == each


def test_requests_nobody_charges_for_are_not_missing():
    """A request that never reached the provider has no cost and takes nothing from what is known."""
    refused = a_request(cost=None, usage=None, billable=False)
    assert str(Bill.of([a_request(cost=Decimal(1)), refused])) == "$1.00"
    assert str(Bill.of([refused])) == "$0.00"


def test_tokens_of_unpriced_requests_are_counted():
    """An unknown cost comes with the tokens it is the cost of."""
    unpriced = a_request(cost=None, usage=Usage(input=10, cached=5, output=3, reasoning=2))
    lost = a_request(cost=None, usage=None)
    assert Bill.of([a_request(), unpriced, lost]).unpriced_tokens == 18


def sessions(*seconds: int) -> list[Session]:
    return [Session("h", 1, START + timedelta(seconds=s), START + timedelta(seconds=s)) for s in seconds]


def test_gpus_are_paid_while_they_are_held():
    """GPUs cost from a session's first request to the end of its last, idle time between included."""
    config = a_config(solver_options={"gpu_hour": "2.50", "gpus": 8})
    requests = [
        a_request(started_at=START + timedelta(seconds=second), seconds=60.0) for second in (0, 10, 3540)
    ]
    cost = gpu_cost(config, sessions(0), requests)
    assert cost is not None
    assert cost.amount == Decimal(20)


def test_gpus_are_not_paid_between_sessions():
    """The time between a session and its resumption is nobody's bill, whether or not the first was killed."""
    config = a_config(solver_options={"gpu_hour": 3.6})
    requests = [
        a_request(started_at=START + timedelta(seconds=second), seconds=10.0) for second in (1, 100_001)
    ]
    cost = gpu_cost(config, sessions(0, 100_000), requests)
    assert cost is not None
    assert cost.amount == Decimal("0.02")


def test_no_gpu_price_no_gpu_cost():
    """A run that names no GPU price has no such cost, which is not a cost of zero."""
    assert gpu_cost(a_config(), sessions(0), [a_request()]) is None
