"""What a log says of a test (`TestStatus` in `harness/constants`)."""

PASSED = "PASSED"
FAILED = "FAILED"
SKIPPED = "SKIPPED"
ERROR = "ERROR"
XFAIL = "XFAIL"

STATUSES = (FAILED, PASSED, SKIPPED, ERROR, XFAIL)


class ParserCrash(Exception):  # noqa: N818 - of the harness's parser, not of ours
    """The harness's parser stops with an error here, so the evaluation ends without a verdict."""
