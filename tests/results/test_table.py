import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_factories import a_config, a_ledger, a_record, a_request, a_row
from rich.console import Console

from results.record import Official, Verdict
from results.summary import summarise
from results.table import render, render_attempt, to_text
from results.text import excerpt, line, plain

HOSTILE = "\x1b[2J\x1b]0;owned\x07 [bold red]x[/] [/nosuch] \0 \x9b31m \u202egpj.exe \u2028 \ud800 \u200b"


def shown_on_a_terminal(renderable) -> str:
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system=None, width=120).print(renderable)
    return out.getvalue()


def steering(text: str) -> set[str]:
    return {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {
        "\n",
        "\t",
    }


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_plain_steers_a_terminal(text):
    """No control, format, surrogate or separator character is left, and what was printable is as it was."""
    assert steering(plain(text)) == set()
    assert text.isprintable() is False or plain(text) == text


def test_escapes_show_what_was_there():
    """A removed character is not hidden: its escape stands in its place."""
    assert plain("a\x1b[31m\tb\nc\r") == "a\\x1b[31m\tb\nc\\r"
    assert plain("\u202e\ud800\xa0") == "\\u202e\\ud800 "


@given(st.text(max_size=2000), st.integers(10, 100))
def test_a_line_is_one_line(text, limit):
    """Whatever the text, a line of it has no break and fits the limit."""
    assert "\n" not in line(text, limit)
    assert len(line(text, limit)) <= limit


def test_an_excerpt_keeps_both_ends():
    """Of long output the beginning and the end stay, and what is missing is counted."""
    text = excerpt("\n".join(map(str, range(1000))), 30)
    assert text.startswith("0\n1\n")
    assert text.endswith("\n998\n999")
    assert "970 lines left out" in text


def hostile_summary():
    config = a_config(
        instances=("a__b-1", "a__b-2", "c__d-3"),
        dataset=HOSTILE,
        solver_options={"model": HOSTILE, "context": "oracle"},
    )
    records = (
        a_row("a__b-1", flags=(HOSTILE,)),
        a_row("a__b-2", verdict=Verdict.INFRA_ERROR, reason=HOSTILE, explanation=HOSTILE),
        a_row("c__d-3", verdict=Verdict.TASK_QUARANTINED, explanation=HOSTILE),
    )
    return summarise(a_ledger(config, records, (a_request("a__b-1", outcome=HOSTILE),)))


def hostile_record():
    return a_record(
        verdict=Verdict.NOT_RESOLVED,
        reason=HOSTILE,
        explanation=HOSTILE,
        flags=(HOSTILE,),
        failed=(HOSTILE,),
        patch=HOSTILE,
        output=HOSTILE.encode("utf-8", "surrogatepass") + b"\xff\xfe",
        evidence={HOSTILE: HOSTILE, "list": [HOSTILE] * 50, "deep": {"x": [HOSTILE]}},
    )


@pytest.mark.parametrize(
    "renderable",
    [render(hostile_summary()), render(hostile_summary(), explain=True), render_attempt(hostile_record())],
    ids=["summary", "explained", "attempt"],
)
def test_hostile_text_is_shown_not_obeyed(renderable):
    """Escape sequences and markup from outside appear as text wherever they could be shown."""
    text = shown_on_a_terminal(renderable)
    assert steering(text) == set()
    assert "[bold red]x[/]" in text
    assert "\\x1b[2J" in text


def test_a_summary_says_it_all():
    """Rate with interval, money, verdicts, projects and unscored attempts are all on the page."""
    text = to_text(render(hostile_summary()))
    for words in (
        "100.0% (20.7% to 100.0%), 1 of 1",
        "cost per resolved bug",
        "$0.0022",
        "TASK_QUARANTINED",
        "Oracle context",
        "a/b",
        "not scored, owed again",
    ):
        assert words in text


def test_every_number_can_be_explained_in_place():
    """Asked to explain, the page holds a sentence for each number."""
    text = " ".join(to_text(render(hostile_summary(), explain=True)).split())
    assert "so failed attempts are paid for by the successful ones" in text


def test_many_names_are_cut_and_counted():
    """A long list of lost attempts shows some and counts the rest."""
    config = a_config(30)
    records = tuple(a_row(name, verdict=Verdict.INFRA_ERROR) for name in config.instances)
    assert "… and 10 more" in to_text(render(summarise(a_ledger(config, records))))


def test_an_attempt_shows_what_it_rests_on():
    """Verdict, reason, failed tests, money, evidence, patch and output of one attempt are on its page."""
    record = a_record(
        verdict=Verdict.NOT_RESOLVED, reason="f2p_fail", failed=("test_a.py::test_x",), f2p_passed=0
    )
    text = to_text(render_attempt(record, (a_request(), a_request(cost=None))))
    for words in (
        "NOT_RESOLVED  psf__requests-0, sample 0",
        "f2p_fail",
        "0 of 1 pass",
        "test_a.py::test_x",
        "≥ $0.0022, 1 request unpriced",
        "exit_status: 1",
        "+++ b/x",
        "1 passed",
    ):
        assert words in text


def test_pages_without_a_terminal_are_plain_text():
    """Written to a file, a page holds no escape sequence and no trailing blanks."""
    text = to_text(render(hostile_summary()))
    assert "\x1b" not in text
    assert all(row == row.rstrip() for row in text.split("\n"))


OFFICIALLY = {"official": Official.RESOLVED, "official_reason": "resolved"}


def test_disagreements_are_on_the_page():
    """Each by instance, with both verdicts and both reasons."""
    row = a_row("a__b-1", verdict=Verdict.TAMPERED, reason="canary_passed", **OFFICIALLY)
    text = to_text(render(summarise(a_ledger(a_config(instances=("a__b-1",)), (row,)))), 140)
    assert "a__b-1: TAMPERED (canary_passed), officially resolved (resolved)" in text
    assert "0.0% (0.0% to 79.3%), 0 of 1" in text
    assert "100.0% (20.7% to 100.0%), 1 of 1" in text


def test_an_attempt_says_which_check_said_what():
    """The checks in their order, what each was shown, and the one that decided."""
    checks = [["no limit was reached", "none", ""], ["every fail-to-pass test passed", "0 of 1", "f2p_fail"]]
    text = to_text(render_attempt(a_record(verdict=Verdict.NOT_RESOLVED, evidence={"checks": checks})))
    assert [row.split() for row in text.splitlines() if row.startswith(("  yes", "  no"))] == [
        ["yes", "no", "limit", "was", "reached", "none"],
        ["no", "every", "fail-to-pass", "test", "passed", "0", "of", "1", "→", "f2p_fail"],
    ]


def test_an_attempt_shows_both_verdicts():
    """With the sentence that goes with the official-compatible one."""
    record = a_record(
        official=Official.NOT_GRADED,
        official_reason="exit_status",
        evidence={"official": {"explanation": "No line shows it."}},
    )
    assert "not_graded (exit_status): No line shows it." in to_text(render_attempt(record))
    unknown = to_text(render_attempt(a_record(official=Official.NONE, official_reason="")))
    assert ["official", "unknown"] in [row.split() for row in unknown.splitlines()]


def test_pages_are_no_wider_than_what_they_say():
    """However wide the place: rows are not filled up to it with blanks."""
    record = a_record(evidence={"checks": [["asked", "shown", ""]], "exit_status": 1})
    out = io.StringIO()
    Console(file=out, width=5000, color_system=None).print(render_attempt(record))
    assert max(map(len, out.getvalue().splitlines())) < 120
