"""How one request to a model endpoint fails, and what follows from it.

    Fault
    ├── Transient        try again: 408, 409, 429, 5xx, connection faults, time-outs, answers that are none
    ├── Refused          no request of this run can succeed: key, model, address, credit, parameters
    └── PromptRefused    this prompt cannot be answered: too long, or against the provider's rules

`billable` is False only where the provider cannot have done paid work. Faults stay inside the adapter, but
for PromptRefused: it is an answer about the prompt, and becomes an attempt without a patch.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from results.record import Usage

_RETRIED = frozenset({408, 409, 425, 429})
_STOPPING = frozenset({401, 402, 403, 404, 405})
_UNSENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)
UNREACHED = frozenset({"no connection", "connection timed out"})
"""Outcomes of a request that never left."""
_TOO_LONG = (
    "context_length",
    "context length",
    "context window",
    "max_model_len",
    "too long",
    "too many tokens",
)
_FILTERED = ("content_filter", "content_policy", "content management policy", "invalid_prompt")


class Fault(Exception):  # noqa: N818 - ends one try; nobody outside the adapter sees it as an error
    """`outcome` in a few words for the bill; `detail` is what the other side said, not to be trusted."""

    def __init__(
        self, outcome: str, *, detail: str = "", billable: bool = True, usage: Usage | None = None
    ) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.detail = detail
        self.billable = billable
        self.usage = usage


class Transient(Fault):
    """`wait_s` is how long the endpoint asked us to wait, None when it did not."""

    wait_s: float | None = None


class Refused(Fault):
    pass


class PromptRefused(Fault):
    pass


def of_connection(error: openai.APIConnectionError) -> Transient:
    """Nothing came back, or not all of it. Billable unless the request never left."""
    cause = error.__cause__
    sent = not isinstance(cause, _UNSENT)
    if isinstance(error, openai.APITimeoutError):
        return Transient("time-out" if sent else "connection timed out", billable=sent)
    return Transient("connection broken" if sent else "no connection", detail=str(cause or ""), billable=sent)


def of_status(error: openai.APIStatusError, proven: bool) -> Fault:
    """An HTTP status other than 2xx; `proven` when the endpoint has answered this run before."""
    status, detail, outcome = error.status_code, _detail(error), f"HTTP {error.status_code}"
    if 300 <= status < 400:
        detail = f"it redirects to {error.response.headers.get('location', 'nowhere')}"
    if status < 400 or status in _STOPPING or error.code == "insufficient_quota":
        return Refused(outcome, detail=detail, billable=False)
    if status in _RETRIED or status >= 500:
        fault = Transient(outcome, detail=detail, billable=status == 408 or status >= 500)
        fault.wait_s = retry_after(error.response.headers, datetime.now(UTC))
        return fault
    return _of_bad_request(f"{error.code or ''} {detail}".lower(), outcome, detail, proven)


def _of_bad_request(told: str, outcome: str, detail: str, proven: bool) -> Fault:
    """About this prompt, or about all of them? An endpoint that has answered before objects to the prompt."""
    if outcome == "HTTP 413" or any(sign in told for sign in _TOO_LONG):
        return PromptRefused(outcome, detail="the prompt is longer than the model's context", billable=False)
    if any(sign in told for sign in _FILTERED):
        return PromptRefused(outcome, detail="the provider's filter refused the prompt", billable=False)
    if proven and "model" not in told:
        return PromptRefused(outcome, detail="the endpoint refused the prompt", billable=False)
    return Refused(outcome, detail=detail, billable=False)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds the `Retry-After` header asks for, given as seconds or as an HTTP date."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        then = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return max(0.0, ((then if then.tzinfo else then.replace(tzinfo=UTC)) - now).total_seconds())


def _detail(error: openai.APIStatusError) -> str:
    """What the endpoint said, when it said it as JSON; an HTML page says nothing a line could hold."""
    body = error.body
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else None
    return message if isinstance(message, str) else ""
