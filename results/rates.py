"""How often attempts succeed, and how far that can be trusted."""

import math
from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean, stdev

from pydantic import BaseModel, ConfigDict

CONFIDENCE = 0.95


class Rate(BaseModel):
    """A share of successes between 0 and 1 with its 95 % interval; all three None when nothing was scored."""

    model_config = ConfigDict(frozen=True)

    resolved: int
    scored: int
    """Attempts."""
    tasks: int
    """Tasks with at least one scored attempt: the unit of which the interval speaks."""
    value: float | None
    low: float | None
    high: float | None
    method: str

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "unknown"
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's score interval (1927), 95 %: holds its level also for rates near 0 and 1. `trials` > 0."""
    from scipy.stats import binomtest  # takes a second to import

    interval = binomtest(successes, trials).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def resolve_rate(outcomes: Iterable[tuple[str, bool]]) -> Rate:
    """The rate over scored attempts, each given as its task's name and whether it was resolved.

    With one attempt a task: resolved over scored, Wilson's interval. With several: the mean of the tasks' own
    rates and Student's t interval over tasks, because samples of one task are alike and not news each (Miller
    2024, arXiv 2411.00640, with the task as cluster).
    """
    by_task: dict[str, list[bool]] = defaultdict(list)
    for task, resolved in outcomes:
        by_task[task].append(resolved)
    scored = sum(len(attempts) for attempts in by_task.values())
    fixed = sum(sum(attempts) for attempts in by_task.values())
    if not scored:
        value = low = high = None
        method = "nothing was scored"
    elif scored == len(by_task):
        value = fixed / scored
        low, high = wilson(fixed, scored)
        method = "Wilson"
    else:
        rates = [fmean(attempts) for attempts in by_task.values()]
        value = fmean(rates)
        low, high, method = _over_tasks(rates, value)
    return Rate(
        resolved=fixed, scored=scored, tasks=len(by_task), value=value, low=low, high=high, method=method
    )


def _over_tasks(rates: list[float], mean: float) -> tuple[float, float, str]:
    if len(rates) == 1 or (spread := stdev(rates)) == 0:
        # Without spread the t interval has no width, which is no reason to be certain: count each task once.
        trials = len(rates)
        successes = round(mean * trials, 9)
        low = wilson(math.floor(successes), trials)[0]
        high = wilson(math.ceil(successes), trials)[1]
        return low, high, "Wilson, each task counted once"
    from scipy.stats import t

    reach = float(t.ppf((1 + CONFIDENCE) / 2, len(rates) - 1)) * spread / math.sqrt(len(rates))
    return max(0.0, mean - reach), min(1.0, mean + reach), "Student's t over tasks"
