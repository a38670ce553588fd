"""What a request costs, and when nobody knows."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from evaluator.prices import Prices
from results.record import Price, Usage
from tasks.errors import InputError

AT = datetime(2026, 6, 1, tzinfo=UTC)
USAGE = Usage(input=1_000_000, cached=500_000, output=100_000, reasoning=90_000)


def test_prices_given_win_over_any_list() -> None:
    """Flags price a request even of a listed model, each kind of token once."""
    prices = Prices("gpt-4o", price_in=Decimal("2"), price_cached=Decimal("0.5"), price_out=Decimal("10"))
    row = prices.row(USAGE, AT)
    assert row is not None and (row.input, row.cached, row.output) == (
        Decimal(2),
        Decimal("0.5"),
        Decimal(10),
    )
    assert prices.cost(USAGE, row) == Decimal("3.25")


def test_cached_tokens_without_a_price_cost_what_fresh_ones_do() -> None:
    """The assumption is the dearer one, and the stored row says that it is one."""
    prices = Prices("m", price_in=Decimal(2), price_out=Decimal(10))
    row = prices.row(USAGE, AT)
    assert row is not None and row.cached == Decimal(2)
    assert "cached input at the input price" in row.source
    assert prices.cost(USAGE, row) == Decimal(4)


def test_a_listed_model_has_its_list_price() -> None:
    """The table's row for the provider behind the address applies, and names its source."""
    row = Prices("gpt-4o", "https://api.openai.com/v1").row(USAGE, AT)
    assert row is not None
    assert (row.input, row.cached, row.output) == (Decimal("2.5"), Decimal("1.25"), Decimal(10))
    assert "openai/gpt-4o" in row.source and "by model name" not in row.source


def test_a_listed_name_behind_another_address_says_so() -> None:
    """A gateway's price is the list price by name, and the stored row tells."""
    row = Prices("gpt-4o", "http://127.0.0.1:4000/v1").row(USAGE, AT)
    assert row is not None and "by model name, list price" in row.source


def test_a_long_prompt_has_the_price_of_its_tier() -> None:
    """Passing the provider's threshold reprices the whole request."""
    prices = Prices("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai")
    short, long = (prices.row(Usage(tokens, 0, 1), AT) for tokens in (1_000, 300_000))
    assert short is not None and long is not None
    assert long.input > short.input


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("my-checkpoint-1200", "http://10.0.0.7:8000/v1"),
        ("my-checkpoint-1200", "https://api.openai.com/v1"),
        ("deepseek-ai/DeepSeek-V3", "http://10.0.0.7:8000/v1"),
        ("assay-demo", ""),
    ],
)
def test_an_unknown_price_is_unknown(model: str, base_url: str) -> None:
    """A model no list has, or somebody's own copy of an open one, has no price, and its cost is not zero."""
    prices = Prices(model, base_url)
    assert prices.row(USAGE, AT) is None
    assert prices.cost(USAGE, None) is None


def test_unknown_usage_has_an_unknown_cost() -> None:
    """A price alone makes no cost."""
    price = Price(Decimal(1), Decimal(1), Decimal(1), "test")
    assert Prices("m").cost(None, price) is None


def test_gpu_hours_are_paid_by_the_run() -> None:
    """With a GPU price a request costs nothing itself, whatever tokens it reports, and its row says why."""
    prices = Prices("m", gpu_hour=Decimal("2.5"), gpus=4)
    row = prices.row(None, AT)
    assert row is not None and "4 GPU at $2.5/h" in row.source
    assert prices.cost(None, row) == prices.cost(USAGE, row) == 0


@pytest.mark.parametrize(
    "figures",
    [
        {"price_in": Decimal(1)},
        {"price_out": Decimal(1)},
        {"price_cached": Decimal(1)},
        {"price_in": Decimal(-1), "price_out": Decimal(1)},
        {"price_in": Decimal("NaN"), "price_out": Decimal(1)},
        {"gpu_hour": Decimal("Infinity")},
        {"gpu_hour": Decimal(1), "price_in": Decimal(1), "price_out": Decimal(1)},
        {"gpus": 4},
        {"gpu_hour": Decimal(1), "gpus": 0},
    ],
)
def test_figures_that_make_no_price_are_refused(figures: dict[str, Any]) -> None:
    """Half a price, a contradiction or no number is the user's mistake, told before anything is spent."""
    with pytest.raises(InputError):
        Prices("m", **figures)
