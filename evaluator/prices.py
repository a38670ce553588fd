"""What tokens cost. An unknown price is None, never zero."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

from results.record import Price, Usage
from tasks.errors import InputError

_MILLION = Decimal(1_000_000)
_HOUR = Decimal(3600)
_BEYOND_TOKENS = (
    "requests_kcount",
    "output_reasoning_mtok",
    "output_citation_mtok",
    "input_text_messages_kcount",
)


@dataclass(frozen=True)
class Prices:
    """Where the price of a request of `model` comes from; the first that is given counts:

    1. `gpu_hour` dollars an hour for each of `gpus` GPUs of one's own: a request costs nothing itself, the
       run pays for the time it holds them (`gpu_cost`).
    2. `price_in`, `price_out`, `price_cached`: dollars per million tokens; without `price_cached`, cached
       input costs what fresh input does.
    3. The list price in `genai-prices`: of the provider `base_url` belongs to, else by the model's name.

    Raises:
        InputError: at construction, when the figures are contradictory, incomplete or no prices.
    """

    model: str
    base_url: str = ""
    price_in: Decimal | None = None
    price_out: Decimal | None = None
    price_cached: Decimal | None = None
    gpu_hour: Decimal | None = None
    gpus: int | None = None

    def __post_init__(self) -> None:
        tokens = (self.price_in, self.price_out, self.price_cached)
        for figure in (*tokens, self.gpu_hour):
            if figure is not None and not (figure.is_finite() and figure >= 0):
                raise InputError(f"{figure} is not a price", "Prices are US dollars, zero or more.")
        if any(figure is not None for figure in tokens) and (self.price_in is None or self.price_out is None):
            raise InputError(
                "A token price needs both directions",
                "Give --price-in and --price-out, or neither of the --price flags.",
            )
        if self.gpu_hour is not None and self.price_in is not None:
            raise InputError("Tokens and GPU hours would pay twice", "Give the token prices or --gpu-price.")
        if self.gpus is not None and (self.gpu_hour is None or self.gpus < 1):
            raise InputError(
                "--gpus counts what --gpu-price is for", "Give --gpu-price and at least one GPU."
            )

    def row(self, usage: Usage | None, at: datetime) -> Price | None:
        """The price of a request of `usage` sent at `at`; long prompts may have a row of their own."""
        if self.gpu_hour is not None:
            source = f"{self.gpus or 1} GPU at ${self.gpu_hour}/h each, paid by the run for the time held"
            return Price(Decimal(0), Decimal(0), Decimal(0), source)
        if self.price_in is not None and self.price_out is not None:
            if self.price_cached is None:
                source = "given on the command line; cached input at the input price"
                return Price(self.price_in, self.price_in, self.price_out, source)
            return Price(self.price_in, self.price_cached, self.price_out, "given on the command line")
        return self._listed(usage.input + usage.cached if usage else 0, at)

    def cost(self, usage: Usage | None, price: Price | None) -> Decimal | None:
        """Dollars for `usage` at `price`, exact; None when either is unknown."""
        if self.gpu_hour is not None:
            return Decimal(0)
        if usage is None or price is None:
            return None
        total = usage.input * price.input + usage.cached * price.cached + usage.output * price.output
        return total / _MILLION

    def gpu_cost(self, seconds_held: float) -> Decimal | None:
        """Dollars for holding the GPUs that long, idle or busy; None when no GPU price is given."""
        if self.gpu_hour is None:
            return None
        return Decimal(str(seconds_held)) / _HOUR * self.gpu_hour * (self.gpus or 1)

    def _listed(self, prompt_tokens: int, at: datetime) -> Price | None:
        found = _find(self.model, self.base_url)
        if found is None:
            return None
        provider, model, remark = found
        listed = model.get_prices(at)
        fresh, output = _rate(listed.input_mtok, prompt_tokens), _rate(listed.output_mtok, prompt_tokens)
        if fresh is None or output is None or _charges_more_than_tokens(listed):
            return None
        cached = _rate(listed.cache_read_mtok, prompt_tokens)
        source = f"genai-prices {version('genai-prices')}, {provider.id}/{model.id}{remark}"
        if cached is None:
            return Price(fresh, fresh, output, f"{source}; cached input at the input price")
        return Price(fresh, cached, output, source)


def _find(name: str, base_url: str) -> tuple[Provider, ModelInfo, str] | None:
    snapshot, provider, remark = get_snapshot(), None, ""
    try:
        provider = snapshot.find_provider(None, None, base_url)
    except LookupError:
        # `owner/name` is a checkpoint that anybody may serve; its maker's list price says nothing.
        if "/" in name:
            return None
        remark = " by model name, list price"
    try:
        return *snapshot.find_provider_model(name, provider, None, None), remark
    except LookupError:
        return None


def _rate(listed: Decimal | TieredPrices | None, prompt_tokens: int) -> Decimal | None:
    """Passing a tier's start reprices the whole request, as providers do."""
    if not isinstance(listed, TieredPrices):
        return listed
    passed = [tier.price for tier in listed.tiers if prompt_tokens > tier.start]
    return passed[-1] if passed else listed.base


def _charges_more_than_tokens(listed: ModelPrice) -> bool:
    return any(getattr(listed, name) is not None for name in _BEYOND_TOKENS)
