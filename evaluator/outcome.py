"""What became of a whole test, all its phases together."""

from collections.abc import Sequence
from enum import StrEnum

from evaluator.evidence import Report, Session


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    INCOMPLETE = "incomplete"


def phases(session: Session) -> dict[str, list[Report]]:
    """The reports of every test that was collected or reported on."""
    by_test: dict[str, list[Report]] = {node_id: [] for node_id, _ in session.collected}
    for report in session.reports:
        by_test.setdefault(report.node_id, []).append(report)
    return by_test


def outcome(reports: Sequence[Report]) -> Outcome:
    """The worst report decides; a phase nobody reported on makes the test incomplete."""
    if any(report.outcome == "failed" for report in reports):
        return Outcome.FAILED
    seen = {report.when for report in reports}
    if not {"setup", "teardown"} <= seen:
        return Outcome.INCOMPLETE
    if skipped := [report for report in reports if report.outcome == "skipped"]:
        return Outcome.XFAILED if all(report.xfail for report in skipped) else Outcome.SKIPPED
    if any(report.xfail for report in reports):
        return Outcome.XPASSED
    return Outcome.PASSED if "call" in seen else Outcome.INCOMPLETE
