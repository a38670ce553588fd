"""The official-compatible verdict on one of our own runs: what the SWE-bench harness would have said of it.

It stands beside the trusted verdict, comes from the same run, and decides no reward. The harness would have
seen the same tests over the same sources; what it would not have done is revert the grader's own files
first, so a patch that works through those passes there and not here (the `reverted_*` flags tell).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from evaluator.evidence import Expectation
from evaluator.official import HARNESS, exit_status_without, official_verdict, transcript
from evaluator.official.grading import REASONS as GRADED
from evaluator.paths import PatchError
from evaluator.runner.plan import CANARY_NAME
from evaluator.spelling import NODE_IDS, spell
from evaluator.trial import Trial
from results.record import Official
from tasks.task import Task

REASONS = GRADED | {
    "limit": "A limit ended the run, so there is no whole log to grade.",
    "long_log": "The log was too long to keep whole, and a part of one cannot be graded.",
    "empty": "There is no patch; the harness counts it as a failure without running anything.",
    "apply": "The patch does not apply, which the harness reports as an error.",
}
"""One sentence for each reason of an official-compatible verdict."""

PLAIN_PARSER = "pytest"
"""The harness has no parser for ids as pytest spells them; this is how it reads most projects' logs."""


@dataclass(frozen=True)
class Comparable:
    """`tests_status` is that of the harness's `report.json`, empty where nothing was graded."""

    official: Official = Official.NONE
    reason: str = ""
    parser: str = ""
    tests_status: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """What belongs to the evidence of a record."""
        if self.official is Official.NONE:
            return {}
        said = {"harness": HARNESS, "parser": self.parser, "explanation": REASONS[self.reason]}
        return {"official": said} | ({"tests_status": self.tests_status} if self.tests_status else {})


UNKNOWN = Comparable()


def comparable(task: Task, trial: Trial) -> Comparable:
    """The verdict the harness gives on the log of this run, the canaries' traces taken out of it."""
    execution, expected = trial.execution, trial.expectation
    parser, spelled = _parser(expected)
    if execution.hits:
        return Comparable(Official.NOT_GRADED, "limit", parser)
    if execution.output_dropped:
        return Comparable(Official.NOT_GRADED, "long_log", parser)
    canaries = (*expected.must_pass, *expected.must_fail)
    status = exit_status_without(canaries, execution.exit_status, trial.evidence.session)
    found = official_verdict(
        transcript(execution.output, status, _names(canaries)),
        parser=parser,
        fail_to_pass=spelled(task.fail_to_pass),
        pass_to_pass=spelled(task.pass_to_pass),
        instance_id=task.instance_id,
    )
    if not found.graded:
        return Comparable(Official.NOT_GRADED, found.reason, parser)
    official = Official.RESOLVED if found.resolved else Official.NOT_RESOLVED
    return Comparable(official, found.reason, parser, found.tests_status)


def refused(error: PatchError) -> Comparable:
    """The harness's answer to a patch that was refused before any run, where it is known.

    It takes whatever `git apply` or `patch` take, so most of our refusals say nothing about it.
    """
    if error.code == "empty":
        return Comparable(Official.NOT_RESOLVED, "empty")
    if error.code == "apply" and not error.detail:  # a detail says that something kept us from trying
        return Comparable(Official.NOT_GRADED, "apply")
    return UNKNOWN


def _parser(expected: Expectation) -> tuple[str, Callable[[Iterable[str]], tuple[str, ...]]]:
    """The harness's parser for these ids, and how it spells them.

    Ids as pytest spells them are cut as that parser would have, had the harness's authors made the set.
    """
    if expected.log_parser == NODE_IDS:
        return PLAIN_PARSER, lambda ids: tuple(dict.fromkeys(spell(name, PLAIN_PARSER) for name in ids))
    return expected.log_parser, tuple


def _names(canaries: Iterable[str]) -> frozenset[str]:
    """The random names in the canaries' ids: of their module and of their functions."""
    return frozenset(name for canary in canaries for name in CANARY_NAME.findall(canary))
