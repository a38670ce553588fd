"""How long we put up with a failing endpoint."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    before_sleep_log,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_combine,
    wait_exponential,
    wait_random,
)

from evaluator.model.faults import Transient

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Patience:
    """Bounds of retrying one question. Seconds."""

    attempts: int = 8
    first_wait_s: float = 1.0
    """Doubles with each attempt; every wait is up to this much longer at random, so that callers part."""
    longest_wait_s: float = 120.0
    """Also of what `Retry-After` may ask for."""
    total_s: float = 900.0
    """No wait is begun that would end later than this after the first attempt."""
    first_contact_s: float = 20.0
    """The same, while the endpoint has never been reached: an address with a typo does not get better."""


def retrying(patience: Patience, reached: Callable[[], bool]) -> AsyncRetrying:
    """Repeats on Transient, raises the last one when patience is over, and everything else at once.

    `reached` tells whether the endpoint has ever been connected to.
    """
    over = stop_after_attempt(patience.attempts) | stop_before_delay(patience.total_s)
    no_contact = stop_before_delay(patience.first_contact_s)
    backoff = wait_exponential(multiplier=patience.first_wait_s, max=patience.longest_wait_s)

    def stop(state: RetryCallState) -> bool:
        return over(state) or (not reached() and no_contact(state))

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait_s if isinstance(error, Transient) else None
        return min(max(backoff(state), asked or 0.0), patience.longest_wait_s)

    return AsyncRetrying(
        retry=retry_if_exception_type(Transient),
        stop=stop,
        wait=wait_combine(wait, wait_random(0, patience.first_wait_s)),
        before_sleep=before_sleep_log(_log, logging.INFO),
        reraise=True,
    )
