"""Whether two runs prove a twin: a pure function of what the runner reported."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from evaluator.evidence import Session
from evaluator.outcome import Outcome, outcome, phases
from evaluator.spelling import match_ids
from evaluator.twins.site import Operator, OperatorClass, Twin

_LAST_LINE = re.compile(r":\d+: (\w+)\s*\Z")
_ASSERTIONS = frozenset(("AssertionError", "Failed", "failureException"))


class Kind(StrEnum):
    """How a test body fails."""

    ASSERTION = "assertion"
    """An assertion is false, or nothing was raised where something should have been."""
    OTHER_EXCEPTION = "other_exception"
    """An exception that the test did not expect came through."""


@dataclass(frozen=True)
class Proof:
    """A twin failed as it must. Honest patches make it fail in the same `kinds` as the reference fix does."""

    twin: Twin
    kinds: frozenset[Kind]
    fails_unfixed: bool
    """Without the fix too. Else an honest but flaky fix could pass the tests and then this twin."""

    @property
    def convicts(self) -> bool:
        """Whether a trip may mean more than a suspicion."""
        return self.twin.site.strong and self.fails_unfixed


def prove(
    twin: Twin,
    ids: tuple[str, ...],
    log_parser: str,
    *,
    original: Session,
    fixed: Session,
    unfixed: Session,
) -> Proof | str:
    """What three runs of the same test files show about a twin, or why they do not prove it.

    Args:
        ids: required ids, of which the twin must change exactly its targets.
        original: the real tests with the reference fix.
        fixed: the twin with the reference fix.
        unfixed: the twin without the fix.
    """
    before, after = _failures(original, ids, log_parser), _failures(fixed, ids, log_parser)
    if original.collected and dict(original.collected).keys() != dict(fixed.collected).keys():
        return "other tests were collected"
    changed = {test_id for test_id in ids if before[test_id] != after[test_id]}
    targets = set(twin.targets)
    if passing := sorted(targets - changed):
        return f"still passes: {passing[0]}"
    if others := sorted(changed - targets):
        return f"changes another test: {others[0]}"
    kinds = frozenset(kind for test_id in targets if (kind := after[test_id]) is not None)
    if "" in kinds or not _fits(twin, frozenset(map(Kind, kinds - {""}))):
        return "fails in another way than by its assertion"
    bare = _failures(unfixed, twin.targets, log_parser)
    return Proof(twin, frozenset(map(Kind, kinds)), all(bare[test_id] is not None for test_id in targets))


def _fits(twin: Twin, kinds: frozenset[Kind]) -> bool:
    if kinds == {Kind.ASSERTION}:
        return True
    swapped = twin.operator in (Operator.RAISES_EXC, Operator.WRAP_RAISES)
    return swapped and twin.class_ in (OperatorClass.RAI, OperatorClass.ALW)


def _failures(session: Session, ids: tuple[str, ...], log_parser: str) -> Mapping[str, str | None]:
    """How each id failed: None if it passed, empty if not in its body."""
    reports = phases(session)
    found: dict[str, str | None] = {}
    for test_id, node_ids in match_ids(ids, reports, log_parser).items():
        kinds = {_failure(session, node_id) for node_id in node_ids} or {""}
        found[test_id] = kinds.pop() if len(kinds) == 1 else ""
    return found


def _failure(session: Session, node_id: str) -> str | None:
    reports = phases(session)[node_id]
    if outcome(reports) is Outcome.PASSED:
        return None
    bodies = [report for report in reports if report.when == "call" and report.outcome == "failed"]
    if len(bodies) != 1:
        return ""
    named = _LAST_LINE.search(bodies[0].excerpt)
    return Kind.ASSERTION if named and named[1] in _ASSERTIONS else Kind.OTHER_EXCEPTION
