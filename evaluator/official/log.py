"""From the log of an evaluation to the status of each test (`harness/grading.py`, `get_logs_eval`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.official.markers import END, EXIT_CODE, REJECTIONS, START
from evaluator.official.parsers import parser_named
from evaluator.official.parsers.status import ERROR, FAILED, ParserCrash

NOT_GRADED = {
    "rejected": "The log says that the patch, the reset or the tests failed as a whole.",
    "no_markers": "The log does not show where the tests' output begins and ends.",
    "no_results": "The log shows no test and no sign of a test run.",
    "exit_status": "The tests ended with a failure that no line of the log shows.",
    "crash": "The log holds text at which the harness itself stops with an error.",
}
"""One sentence for each reason to refuse a log."""

_EXIT_STATUS = re.compile(rf"{EXIT_CODE}:\s*(-?\d+)")

_SUITE_RAN = re.compile(
    r"""
      Executed\ [1-9]\d*\ of\ \d
    | TOTAL:\ [1-9]\d*\ (?:SUCCESS|FAILED)
    | [1-9][^\D1-9]*\ passing
    | Tests:\s+[1-9]
    | Test\ Suites:\s+(?:\d+\ \w+,\ )*[1-9]\d*\ total
    | ^\#\ tests\ [1-9]
    | [1-9][^\D1-9]*\ specs?,\ \d+\ failure
    | ':\ ok$
    """,
    re.MULTILINE | re.VERBOSE,
)
"""Summaries of JavaScript runners with a count above zero (`SUITE_RAN`).

Counts are matched from their last digit above zero, which takes linear time on a log of digits.
"""


@dataclass(frozen=True)
class Reading:
    """What a log says: `statuses` of the tests if `refusal` is empty, else why not, a key of `NOT_GRADED`."""

    statuses: Mapping[str, str]
    refusal: str = ""


def read_log(log: str, parser: str) -> Reading:
    """Reads a log as the harness does, in its order of checks.

    Args:
        parser: a name of `parsers.PARSERS`, with or without `parse_log_`.

    1. Every `\\r` ends a line, as in a file opened for text.
    2. A log with one of `REJECTIONS` anywhere is refused.
    3. So is one without both markers, in whatever order.
    4. The parser gets what lies between the first start marker and the next marker of either kind; where it
       finds nothing, the whole log.
    5. A log without any result is refused, unless a JavaScript runner's summary is in it.
    6. So is one whose first exit status is not 0 while no test in it failed.

    Raises:
        InputError: there is no such parser.
    """
    parse = parser_named(parser)
    log = log.replace("\r\n", "\n").replace("\r", "\n")
    if any(rejection in log for rejection in REJECTIONS):
        return Reading({}, "rejected")
    if START not in log or END not in log:
        return Reading({}, "no_markers")
    between = log.split(START, 2)[1].partition(END)[0]
    try:
        statuses = parse(between) or parse(log)
        if not statuses and not _SUITE_RAN.search(log):
            return Reading({}, "no_results")
        exit_status = _exit_status(log)
    except (ParserCrash, ValueError):
        return Reading({}, "crash")
    if exit_status and statuses and not {FAILED, ERROR} & set(statuses.values()):
        return Reading({}, "exit_status")
    return Reading(statuses)


def _exit_status(log: str) -> int:
    """0 where the log has none. Raises ValueError for more digits than Python converts."""
    match = _EXIT_STATUS.search(log)
    return int(match[1]) if match else 0
