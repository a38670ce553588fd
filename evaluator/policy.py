"""What each cause of a verdict is worth: retried or not, scored or not, and its reward in training.

The table is data. A change to it is a new version of it, and rewards are comparable under one version only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from results.record import Verdict


class Retry(StrEnum):
    """When the same patch is graded again without anybody asking."""

    NO = "no"
    AT_ONCE = "at once, then on resume"
    ON_RESUME = "on resume"


@dataclass(frozen=True)
class Rule:
    """One row. `reasons` are codes of `EXPLANATIONS`; an empty tuple stands for all others of the verdict."""

    cause: str
    verdict: Verdict | None
    """None in the row for what no other covers."""
    reasons: tuple[str, ...]
    retry: Retry
    scored: bool
    """Whether it counts in the resolve rate, as a failure unless the verdict is RESOLVED."""
    reward: float | None
    """None where nothing is known about the patch: leave the sample out, never take it for a zero."""


@dataclass(frozen=True)
class Policy:
    """`version` names the table in whatever keeps the rewards it gave."""

    version: str
    rules: tuple[Rule, ...]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def rule(self, verdict: Verdict, reason: str) -> Rule:
        """The first row that covers the cause. One that no row covers is graded again and not rewarded."""
        for rule in self.rules:
            if rule.verdict is verdict and (reason in rule.reasons or not rule.reasons):
                return rule
        return UNKNOWN


UNKNOWN = Rule("unknown cause", None, (), Retry.ON_RESUME, scored=False, reward=None)

POLICY = Policy(
    "1",
    (
        Rule("bug fixed", Verdict.RESOLVED, (), Retry.NO, scored=True, reward=1.0),
        Rule(
            "required tests fail",
            Verdict.NOT_RESOLVED,
            ("f2p_fail", "p2p_regress"),
            Retry.NO,
            scored=True,
            reward=0.0,
        ),
        Rule(
            "patched run broke down",
            Verdict.NOT_RESOLVED,
            ("collection_error", "incomplete", "crash", "canary_broken"),
            Retry.NO,
            scored=True,
            reward=0.0,
        ),
        Rule(
            "patched run reached a limit",
            Verdict.NOT_RESOLVED,
            ("timeout", "memory", "output"),
            Retry.NO,
            scored=True,
            reward=0.0,
        ),
        Rule("no usable patch", Verdict.INVALID_PATCH, (), Retry.NO, scored=True, reward=0.0),
        Rule("results forged", Verdict.TAMPERED, (), Retry.NO, scored=True, reward=0.0),
        Rule("pass cannot be trusted", Verdict.SUSPECT, (), Retry.NO, scored=True, reward=0.0),
        Rule(
            "host failed the run", Verdict.INFRA_ERROR, ("infra",), Retry.AT_ONCE, scored=False, reward=None
        ),
        Rule("task not ready", Verdict.INFRA_ERROR, (), Retry.ON_RESUME, scored=False, reward=None),
        Rule("task tells nothing", Verdict.TASK_QUARANTINED, (), Retry.NO, scored=False, reward=None),
        UNKNOWN,
    ),
)


def reward(verdict: Verdict, reason: str, policy: Policy = POLICY) -> float | None:
    """The reward of a record with this trusted verdict and reason.

    None means that nothing could be graded. The official-compatible verdict has no say.
    """
    return policy.rule(verdict, reason).reward
