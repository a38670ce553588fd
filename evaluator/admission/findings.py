"""What repeated runs with the reference fix and without any say about a task: a pure function."""

import math
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from evaluator.twins.grade import TwinGrade

ROOM = 3.0
"""Limits are this many times what was measured."""
LEAST_WALL_S, LEAST_MEMORY_MB = 60.0, 512
RESOLVED = "resolved"


class Sight(BaseModel):
    """One run: what the judge said, the required ids that did not pass, and what it took."""

    model_config = ConfigDict(frozen=True)

    reason: str
    failed: tuple[str, ...]
    seconds: float
    memory_mb: float | None = None


class Admission(BaseModel):
    """Whether verdicts on a task can be relied on here, and what to leave aside if so."""

    model_config = ConfigDict(frozen=True)

    instance_id: str
    task_digest: str
    environment_digest: str
    fixed: tuple[Sight, ...] = ()
    """Runs with the reference fix."""
    bare: tuple[Sight, ...] = ()
    """Runs without any change."""
    quarantine: str = ""
    """Why no run here says anything about a patch, or empty."""
    flaky: tuple[str, ...] = ()
    """Required ids that passed in some runs of the same code and failed in others."""
    failing: tuple[str, ...] = ()
    """Required ids that never pass with the reference fix."""
    passing: tuple[str, ...] = ()
    """Fail-to-pass ids that always pass without it."""
    wall_s: float = LEAST_WALL_S
    memory_mb: int = LEAST_MEMORY_MB
    twins: TwinGrade = TwinGrade.T0

    @property
    def outcomes(self) -> Mapping[str, tuple[str, str]]:
        """Of each id that ever failed, a letter a run: with the fix, without."""
        ids = dict.fromkeys(test_id for sight in (*self.fixed, *self.bare) for test_id in sight.failed)
        return {test_id: (_letters(test_id, self.fixed), _letters(test_id, self.bare)) for test_id in ids}


def admission(
    draft: Admission, fail_to_pass: Sequence[str], fixed: Sequence[Sight], bare: Sequence[Sight]
) -> Admission:
    """`draft` with what the runs show."""
    seen = draft.model_copy(update={"fixed": tuple(fixed), "bare": tuple(bare)})
    flaky = [name for name, of in seen.outcomes.items() if any(len(set(letters)) > 1 for letters in of)]
    failing = [name for name, (with_fix, _) in seen.outcomes.items() if set(with_fix) == {"f"}]
    passing = [name for name in fail_to_pass if name not in seen.outcomes]
    memory = [sight.memory_mb for sight in (*fixed, *bare) if sight.memory_mb is not None]
    return seen.model_copy(
        update={
            "quarantine": _quarantine(fixed, set(fail_to_pass) - {*flaky, *failing, *passing}),
            "flaky": tuple(flaky),
            "failing": tuple(failing),
            "passing": tuple(passing),
            "wall_s": max(LEAST_WALL_S, ROOM * _p99([sight.seconds for sight in (*fixed, *bare)])),
            "memory_mb": max(LEAST_MEMORY_MB, math.ceil(ROOM * _p99(memory)) if memory else 0),
        }
    )


def _letters(test_id: str, sights: Sequence[Sight]) -> str:
    return "".join("f" if test_id in sight.failed else "p" for sight in sights)


def _quarantine(fixed: Sequence[Sight], telling: set[str]) -> str:
    if not any(sight.reason == RESOLVED for sight in fixed):
        reasons = ", ".join(sorted({sight.reason for sight in fixed}))
        return f"the reference fix does not pass here: {reasons}"
    return "" if telling else "no test tells the fixed code from the unfixed code every time"


def _p99(values: Sequence[float]) -> float:
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]
