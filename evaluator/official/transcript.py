"""The log that an official evaluation would have left of one of our own test runs.

Ours differs in two tests of known outcome that were run along, one of which fails. They leave lines with
their random names, and an exit status of failure.
"""

from collections.abc import Collection, Iterator

from evaluator.evidence import Session
from evaluator.official.markers import END, EXIT_CODE, START
from evaluator.official.parsers.lines import lines

SOME_TESTS_FAILED = 1
NO_TESTS_COLLECTED = 5


def transcript(output: bytes, exit_status: int | None, canaries: Collection[str] = ()) -> str:
    """The log, as far as grading reads it.

    Args:
        output: standard output and error of the tests, interleaved.
        exit_status: what an official evaluation would have seen, see `exit_status_without`; None when a limit
            ended the run. Such a log has no end marker: the harness gives no verdict after a timeout either.
        canaries: random names. A line that holds one is left out, but for its name where its result may
            stand on a line further down: that must not be taken for the result of the test before.

    Bytes that are no UTF-8 are replaced, as in `harness/docker_utils.py`.
    """
    text = output.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if any(name in text for name in canaries):
        text = "\n".join(_without(canaries, text))
    log = f"+ : '{START}'\n{text}"
    if exit_status is None:
        return log
    return (
        f"{log}+ SWEBENCH_TEST_EXIT_CODE={exit_status}\n"
        f"+ : '{END}'\n"
        f"+ echo '{EXIT_CODE}: {exit_status}'\n"
        f"{EXIT_CODE}: {exit_status}\n"
    )


def _without(canaries: Collection[str], text: str) -> Iterator[str]:
    for line in lines(text):
        name = next((name for name in canaries if name in line), None)
        if name is None:
            yield line
        elif " ... " in line:
            yield f"{name} ... control"


def exit_status_without(canaries: Collection[str], exit_status: int | None, session: Session) -> int | None:
    """The exit status of the same run without the canaries, whose test ids are given.

    Pytest ends with 1 when any report is a failure, and with 5 when it has collected no test. A session that
    did not come to its end, or ended with another status, would have done so without the canaries.
    """
    if exit_status != SOME_TESTS_FAILED or session.status != SOME_TESTS_FAILED:
        return exit_status
    failures = (
        *(report.node_id for report in session.reports if report.outcome == "failed"),
        *(broken.node_id for broken in session.broken if broken.outcome == "failed"),
    )
    if any(name not in canaries for name in failures):
        return exit_status
    alone = all(name in canaries for name, _ in session.collected)
    return NO_TESTS_COLLECTED if alone else 0
