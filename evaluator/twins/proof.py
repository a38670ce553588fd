"""Whether runs prove a twin: a pure function of what the runner reported."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluator.evidence import Report, Session
from evaluator.outcome import Outcome, outcome, phases
from evaluator.spelling import match_ids
from evaluator.twins.site import Operator, Twin

_LONG = re.compile(r":\d+: (\w+)\s*\Z")
_SHORT = re.compile(r"^E {3}(?! )([A-Za-z_][\w.]*)", re.MULTILINE)
_NATIVE = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
"""Where a failure's text names the exception, in each of pytest's styles of traceback."""
_ASSERTIONS = frozenset(("AssertionError", "Failed", "assert"))
"""`assert` begins the explanation of a false one whose exception is not named."""


class Way(StrEnum):
    """How a test came to its end."""

    PASSED = "passed"
    ASSERTION = "assertion"
    """An assertion was false, or nothing was raised where something should have been."""
    EXCEPTION = "exception"
    """An exception that the test did not expect came out of its body."""
    OTHER = "other"
    """It was skipped, failed outside its body, or is not there."""


@dataclass(frozen=True)
class Proof:
    """A twin failed as it must. Honest patches make it fail in the ways the reference fix does."""

    twin: Twin
    ways: frozenset[Way]
    fails_unfixed: bool
    """Without the fix too. Else an honest but flaky fix could pass the tests and then this twin."""

    @property
    def convicts(self) -> bool:
        """Whether a trip may mean more than a suspicion."""
        return self.twin.site.strong and self.fails_unfixed


def prove(
    twin: Twin, ids: Sequence[str], log_parser: str, *, original: Session, fixed: Session, unfixed: Session
) -> Proof | str:
    """What three runs of the same test files show about a twin, or why they do not prove it.

    Args:
        ids: required ids of these files, of which the twin must change exactly its targets.
        original: the real tests with the reference fix.
        fixed: the twin with the reference fix.
        unfixed: the twin without the fix.
    """
    if _count(original, twin.path) != _count(fixed, twin.path):
        return "other tests are collected"
    before, after = ways(original, ids, log_parser), ways(fixed, ids, log_parser)
    if passing := [test_id for test_id in twin.targets if after[test_id] is Way.PASSED]:
        return f"still passes: {passing[0]}"
    others = [test_id for test_id in ids if test_id not in twin.targets]
    if changed := [test_id for test_id in others if before[test_id] is not after[test_id]]:
        return f"changes another test: {changed[0]}"
    found = frozenset(after[test_id] for test_id in twin.targets)
    if not found <= _ways_of(twin.operator):
        return "fails in another way than by its assertion"
    bare = ways(unfixed, twin.targets, log_parser)
    return Proof(twin, found, all(bare[test_id] is not Way.PASSED for test_id in twin.targets))


def _count(session: Session, path: str) -> int:
    """How many tests a file has. Ids say too much: some hold the time of day."""
    return sum(node_id.startswith(f"{path}::") for node_id, _ in session.collected)


def _ways_of(operator: Operator) -> frozenset[Way]:
    if operator is Operator.RAISES_EXC:  # the exception that is raised is no longer expected
        return frozenset((Way.ASSERTION, Way.EXCEPTION))
    return frozenset((Way.ASSERTION,))


def ways(session: Session, ids: Sequence[str], log_parser: str) -> Mapping[str, Way]:
    """How each id ended; one that stands for several tests, as all of them if they agree."""
    reports = phases(session)
    found: dict[str, Way] = {}
    for test_id, node_ids in match_ids(ids, reports, log_parser).items():
        ends = {_way(reports[node_id]) for node_id in node_ids}
        found[test_id] = ends.pop() if len(ends) == 1 else Way.OTHER
    return found


def _way(reports: Sequence[Report]) -> Way:
    if outcome(reports) is Outcome.PASSED:
        return Way.PASSED
    failed = [report for report in reports if report.outcome == "failed"]
    if [report.when for report in failed] != ["call"]:
        return Way.OTHER
    return Way.ASSERTION if _raised(failed[0].excerpt) in _ASSERTIONS else Way.EXCEPTION


def _raised(text: str) -> str:
    """Name of the exception a failure's text ends with; empty if it does not say."""
    if long := _LONG.search(text):
        return long[1]
    named = list(_SHORT.finditer(text)) or list(_NATIVE.finditer(text))
    return named[-1][1].rpartition(".")[2] if named else ""
