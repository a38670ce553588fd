"""From a log to the verdict: what is refused, and what becomes of each expected id."""

import pytest

from evaluator.official import EvalType, Labels, OfficialVerdict, official_verdict
from evaluator.official.grading import REASONS, sort_tests
from evaluator.official.labels import DROPPED_IN_AUGUST
from evaluator.official.log import read_log

START = "+ : '>>>>> Start Test Output'\n"
END = "+ : '>>>>> End Test Output'\n"


def log(body: str, status: int = 0) -> str:
    return f"{START}{body}\n{END}>>>>> Test Exit Code: {status}\n"


def verdict(text: str, f2p: tuple[str, ...] = ("a",), p2p: tuple[str, ...] = ()) -> OfficialVerdict:
    return official_verdict(text, parser="pytest", fail_to_pass=f2p, pass_to_pass=p2p)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        pytest.param(log("PASSED a") + ">>>>> Reset Failed", "rejected", id="rejection behind the tests"),
        pytest.param(log("PASSED a").replace(END, ""), "no_markers", id="no end"),
        pytest.param(log("PASSED a").replace(START, ""), "no_markers", id="no start"),
        pytest.param(log("nothing"), "no_results", id="no test"),
        pytest.param(log("0 passing"), "no_results", id="a summary of nothing"),
        pytest.param(log("PASSED a", 1), "exit_status", id="a failure nobody shows"),
        pytest.param(log("PASSED a", -9), "exit_status", id="killed"),
        pytest.param(log("XFAIL a", 2), "exit_status", id="an expected failure is none"),
        pytest.param(log("PASSED a") + "9" * 9999, "", id="digits elsewhere"),
        pytest.param(log("PASSED a").replace(": 0", ": " + "9" * 9999), "crash", id="too many digits"),
        pytest.param(log("PASSED a\nERROR b", 1), "", id="a failure that shows"),
        pytest.param(log("10 passing"), "", id="a JavaScript runner's summary"),
        pytest.param("PASSED a\n" + log("nothing"), "", id="results before the markers"),
        pytest.param(END + START + "PASSED a", "", id="markers the wrong way round"),
        pytest.param(">>>>> Test Exit Code: 0\n" + log("PASSED a", 1), "", id="the first exit status counts"),
    ],
)
def test_a_log_is_refused_for_what_the_harness_refuses_it_for(text: str, refusal: str) -> None:
    """Each check, alone; an empty reason means it is graded."""
    assert read_log(text, "pytest").refusal == refusal


def test_results_end_at_the_next_marker_of_either_kind() -> None:
    """A second start marker ends what the first began."""
    text = f"{START}PASSED a\n{START}FAILED a\n{END}FAILED a\n"
    assert read_log(text, "pytest").statuses == {"a": "PASSED"}


def test_the_whole_log_is_read_when_there_is_nothing_between_the_markers() -> None:
    """Results may have been printed before or after them."""
    assert read_log("PASSED a\n" + log("") + "FAILED b", "pytest").statuses == {"a": "PASSED", "b": "FAILED"}


def test_a_carriage_return_ends_a_line() -> None:
    """Alone or before a line feed, as in any text file."""
    assert read_log(log("..\rPASSED a\r\nPASSED b"), "pytest").statuses == {"a": "PASSED", "b": "PASSED"}


@pytest.mark.parametrize(
    ("status", "eval_type", "f2p", "p2p"),
    [
        ("PASSED", "pass_and_fail", "success", "success"),
        ("XFAIL", "pass_and_fail", "success", "success"),
        ("SKIPPED", "pass_and_fail", "failure", "success"),
        ("FAILED", "pass_and_fail", "failure", "failure"),
        ("ERROR", "pass_and_fail", "failure", "failure"),
        (None, "pass_and_fail", "failure", "failure"),
        ("PASSED:", "pass_and_fail", None, None),
        ("FAILED", "fail_only", "failure", "failure"),
        ("ERROR", "fail_only", "success", "success"),
        (None, "fail_only", "success", "success"),
    ],
)
def test_every_status_puts_an_id_in_its_list(
    status: str | None, eval_type: EvalType, f2p: str | None, p2p: str | None
) -> None:
    """By the list it is expected in and the kind of evaluation."""
    sorted_ids = sort_tests({"a": status} if status else {}, ["a"], ["a"], eval_type)
    for name, expected in (("FAIL_TO_PASS", f2p), ("PASS_TO_PASS", p2p)):
        assert [key for key, ids in sorted_ids[name].items() if ids] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("statuses", "good"),
    [
        ({"t[a b]": "PASSED", "t[a c]": "XFAIL"}, True),
        ({"t[a b]": "PASSED", "t[a c]": "FAILED"}, False),
        ({"t[a b]": "FAILED", "t[a c]": "FAILED"}, False),
        ({"t[a": "PASSED", "t[a c]": "FAILED"}, True),
        ({"t[b]": "PASSED"}, False),
    ],
)
def test_a_cut_id_stands_for_all_that_start_with_it(statuses: dict[str, str], good: bool) -> None:
    """If they agree; one spelled exactly so goes first."""
    assert bool(sort_tests(statuses, ["t[a"], [])["FAIL_TO_PASS"]["success"]) is good


def test_an_id_with_closed_brackets_stands_for_itself_alone() -> None:
    """Only an open bracket shows that an id was cut."""
    assert sort_tests({"t[a]b": "PASSED"}, ["t[a]"], [])["FAIL_TO_PASS"]["failure"] == ["t[a]"]


def test_a_cut_id_that_was_skipped_or_failed_takes_the_first_status() -> None:
    """Neither has passed, so they agree, and one of them is enough to keep a test."""
    skipped, failed = ("t[a 1]", "SKIPPED"), ("t[a 2]", "FAILED")
    assert sort_tests(dict([skipped, failed]), [], ["t[a"])["PASS_TO_PASS"]["success"]
    assert sort_tests(dict([failed, skipped]), [], ["t[a"])["PASS_TO_PASS"]["failure"]


def test_all_expected_tests_have_to_pass() -> None:
    """One that did not is enough, in whichever list."""
    assert verdict(log("PASSED a\nPASSED b"), ("a",), ("b",)).resolved
    assert not verdict(log("PASSED a\nFAILED b", 1), ("a",), ("b",)).resolved
    assert not verdict(log("PASSED b"), ("a",), ("b",)).resolved


def test_an_empty_list_asks_for_nothing() -> None:
    """With both empty, any log of a test resolves."""
    assert verdict(log("PASSED z"), ("z",), ()).resolved
    assert verdict(log("PASSED z"), (), ()).resolved


def test_a_refused_log_has_no_lists() -> None:
    """The harness reports none either."""
    refused = verdict(log("PASSED a", 1))
    assert (refused.graded, refused.resolved, refused.tests_status) == (False, False, {})
    assert refused.reason in REASONS


@pytest.mark.parametrize(("labels", "resolved"), [("2026-08", True), ("2026-03", False)])
@pytest.mark.parametrize("instance_id", DROPPED_IN_AUGUST)
def test_labels_are_those_of_the_revision_asked_for(instance_id: str, labels: Labels, resolved: bool) -> None:
    """Whichever revision the row is of."""
    dropped = DROPPED_IN_AUGUST[instance_id]
    for row in (("b",), ("b", *dropped)):
        given = official_verdict(
            log("PASSED a\nPASSED b"),
            parser="pytest",
            fail_to_pass=["a"],
            pass_to_pass=row,
            instance_id=instance_id,
            labels=labels,
        )
        assert given.resolved is resolved
        assert len(given.tests_status["PASS_TO_PASS"]["failure"]) == (0 if resolved else len(dropped))
