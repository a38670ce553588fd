"""From the statuses of tests to the official verdict: pure functions."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from evaluator.official.labels import Labels, relabel
from evaluator.official.log import NOT_GRADED, read_log
from evaluator.official.parsers.status import ERROR, FAILED, PASSED, SKIPPED, XFAIL

EvalType = Literal["pass_and_fail", "fail_only"]

REASONS = {
    "resolved": "Every expected test passed.",
    "tests_failed": "An expected test did not pass.",
} | NOT_GRADED
"""One sentence for each reason a verdict can have."""

_GOOD = (PASSED, XFAIL)
Rule = Callable[[str | None], bool | None]
"""Success, failure or neither, by status."""


@dataclass(frozen=True)
class OfficialVerdict:
    """What `get_eval_report` of the harness says of a log."""

    resolved: bool
    graded: bool
    """Whether the log was accepted; the harness calls it `patch_successfully_applied`."""
    reason: str
    """A key of `REASONS`."""
    tests_status: dict[str, dict[str, list[str]]]
    """Expected ids as `{"FAIL_TO_PASS": {"success": […], "failure": […]}, …}`; empty if not graded.

    An id is in neither list where the log gives it a status the harness does not know: it has no say.
    """
    statuses: Mapping[str, str]
    """Every test the parser found, and its status; empty if not graded."""


def official_verdict(
    log: str,
    *,
    parser: str,
    fail_to_pass: Iterable[str],
    pass_to_pass: Iterable[str],
    eval_type: EvalType = "pass_and_fail",
    instance_id: str = "",
    labels: Labels = "2026-08",
) -> OfficialVerdict:
    """Grades the log of an evaluation, whatever text it is.

    Args:
        parser: the row's `log_parser`, with or without `parse_log_`.
        eval_type: the row's; under `fail_only` a test without a status has passed.
        instance_id: of the row. Two instances have lists that differ between `labels`.

    Raises:
        InputError: there is no such parser.
    """
    reading = read_log(log, parser)
    if reading.refusal:
        return OfficialVerdict(False, False, reading.refusal, {}, {})
    status = sort_tests(reading.statuses, fail_to_pass, relabel(instance_id, pass_to_pass, labels), eval_type)
    resolved = not any(lists["failure"] for lists in status.values())
    return OfficialVerdict(
        resolved, True, "resolved" if resolved else "tests_failed", status, reading.statuses
    )


def sort_tests(
    statuses: Mapping[str, str],
    fail_to_pass: Iterable[str],
    pass_to_pass: Iterable[str],
    eval_type: EvalType = "pass_and_fail",
) -> dict[str, dict[str, list[str]]]:
    """Expected ids by what became of them (`harness/grading.py`, `get_eval_tests_report`).

    | status in the log        | FAIL_TO_PASS | PASS_TO_PASS | either under `fail_only` |
    |--------------------------|--------------|--------------|--------------------------|
    | PASSED, XFAIL            | success      | success      | success                  |
    | SKIPPED                  | failure      | success      | success                  |
    | FAILED                   | failure      | failure      | failure                  |
    | ERROR                    | failure      | failure      | success                  |
    | none                     | failure      | failure      | success                  |
    | any other word           | neither      | neither      | success                  |

    An empty list has no failure, so it never stands in the way of `resolved`. The lists FAIL_TO_FAIL and
    PASS_TO_FAIL are always empty.
    """
    find: Callable[[str], str | None] = partial(_find, statuses)
    fixed: Rule = _fixed
    kept: Rule = _kept
    if eval_type == "fail_only":
        find, fixed, kept = statuses.get, _never_failed, _never_failed
    return {
        "FAIL_TO_PASS": _sort((test_id, fixed(find(test_id))) for test_id in fail_to_pass),
        "PASS_TO_PASS": _sort((test_id, kept(find(test_id))) for test_id in pass_to_pass),
        "FAIL_TO_FAIL": _sort(()),
        "PASS_TO_FAIL": _sort(()),
    }


def _sort(judged: Iterable[tuple[str, bool | None]]) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {"success": [], "failure": []}
    for test_id, good in judged:
        if good is not None:
            lists["success" if good else "failure"].append(test_id)
    return lists


def _fixed(status: str | None) -> bool | None:
    if status in _GOOD:
        return True
    return False if status in (None, FAILED, ERROR, SKIPPED) else None


def _kept(status: str | None) -> bool | None:
    return True if status == SKIPPED else _fixed(status)


def _never_failed(status: str | None) -> bool:
    return status != FAILED


def _find(statuses: Mapping[str, str], test_id: str) -> str | None:
    """The status of an id, or None (`_resolve_case`).

    An id with more `[` than `]` was cut at a space. Unless it is in the log as it stands, it takes the first
    status of all that start with it, provided that all or none of them passed.
    """
    if test_id in statuses or test_id.count("[") <= test_id.count("]"):
        return statuses.get(test_id)
    matching = [status for name, status in statuses.items() if name.startswith(test_id)]
    agreed = len({status in _GOOD for status in matching}) == 1
    return matching[0] if agreed else None
