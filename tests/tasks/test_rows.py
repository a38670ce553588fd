"""Raw rows become tasks, or a complete account of what is wrong with them."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_rows import row

from tasks.rows import COLUMNS, Refusal, Row, parse
from tasks.task import Task

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=3,
)
TEST_IDS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))


def parsed(**changes: Any) -> Task:
    found = parse(Row("rows.jsonl line 1", row(**changes)))
    assert isinstance(found, Task), found
    return found


def refused(**changes: Any) -> dict[str, str]:
    """Reasons by field."""
    found = parse(Row("rows.jsonl line 1", row(**changes)))
    assert isinstance(found, Refusal), found
    return dict(found.problems)


@given(TEST_IDS)
def test_test_lists_read_the_same_as_lists_json_text_and_python_text(ids: list[str]) -> None:
    """Copies of the public sets spell the lists in three ways; all mean the same."""
    for spelling in (ids, json.dumps(ids), repr(ids)):
        assert parsed(PASS_TO_PASS=spelling).pass_to_pass == tuple(ids)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tests",
        "__import__('os')",
        "['a' 'b']",
        "[" * 100_000,
        "[" + "-" * 100_000 + "1]",
        "['\\N{no such}']",
    ],
)
def test_text_that_is_no_list_of_strings_is_refused(text: str) -> None:
    """Nothing is evaluated that is not a flat list of string literals, however it is nested."""
    assert "neither a list nor JSON text of one" in refused(PASS_TO_PASS=text)["PASS_TO_PASS"]


@pytest.mark.parametrize("value", [None, 7, {"a": 1}, "7", '{"a": 1}', "null"])
def test_lists_of_another_type_are_refused(value: object) -> None:
    """A number, an object or null is no list of tests, as a value or as JSON text."""
    assert "not a list of test ids but" in refused(FAIL_TO_PASS=value)["FAIL_TO_PASS"]


def test_a_bad_test_id_is_named_by_its_position() -> None:
    """Whoever repairs a list of a thousand ids is told which one."""
    assert refused(PASS_TO_PASS=["a", 3]) == {"PASS_TO_PASS[2]": "not text but int 3"}


def test_test_ids_may_hold_newlines_but_no_nul() -> None:
    """Parametrised ids contain what their parameters contain; no command line can carry a NUL."""
    assert parsed(FAIL_TO_PASS=["test_a[x\ny]"]).fail_to_pass == ("test_a[x\ny]",)
    assert refused(FAIL_TO_PASS=["a\0b"]) == {"FAIL_TO_PASS[1]": "'a\\x00b' is not free of NUL characters"}


def test_lower_case_names_of_the_lists_serve_where_the_upper_case_ones_are_absent_or_null() -> None:
    """Derived sets write the two list columns in lower case."""
    value = row(FAIL_TO_PASS=None, fail_to_pass=["a"], pass_to_pass=["b"])
    del value["PASS_TO_PASS"]
    found = parse(Row("x", value))
    assert isinstance(found, Task)
    assert (found.fail_to_pass, found.pass_to_pass) == (("a",), ("b",))


def test_a_task_without_any_test_is_refused() -> None:
    """Hidden test lists leave nothing to grade with; one empty list alone is legitimate."""
    assert "nothing can show a fix" in refused(FAIL_TO_PASS=[], PASS_TO_PASS=[])["PASS_TO_PASS"]
    assert parsed(FAIL_TO_PASS=[]).fail_to_pass == ()
    assert parsed(PASS_TO_PASS="[]").pass_to_pass == ()


def test_optional_fields_may_be_null_and_unknown_ones_are_ignored() -> None:
    """Sets differ in what they leave empty and in what they add."""
    found = parsed(
        hints_text=None, version=None, created_at=None, image=None, difficulty=None, extra={"a": [1]}
    )
    assert (found.hints_text, found.version, found.created_at, found.image) == ("", "", "", None)


@pytest.mark.parametrize("field", ["problem_statement", "patch", "test_patch"])
@pytest.mark.parametrize("value", [None, 3, ["diff"]])
def test_patches_and_statement_must_be_text(field: str, value: object) -> None:
    """A patch that is not text can be neither shown nor applied."""
    assert refused(**{field: value})[field].startswith("not text but ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1609298073000, "2020-12-30T03:14:33+00:00"),
        (1609298073, "2020-12-30T03:14:33+00:00"),
        (datetime(2020, 12, 30, 3, 14, 33, tzinfo=UTC), "2020-12-30T03:14:33+00:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_creation_times_come_as_text_dates_and_epoch_numbers(value: object, text: str) -> None:
    """Seconds, milliseconds and timestamps of column stores become one spelling."""
    assert parsed(created_at=value).created_at == text


@pytest.mark.parametrize("value", [10**400, 1e300, float("nan"), float("inf"), -(10**30)])
def test_numbers_outside_the_calendar_are_refused(value: float) -> None:
    """A number that is no time is a fault of the row, not a crash."""
    assert "outside the calendar" in refused(created_at=value)["created_at"]


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "a/b", "a b", "-rf", ".hidden", "a\n", "a\x1b[2J", "é", "a" * 201, "a\0"]
)
def test_instance_ids_that_steer_paths_or_terminals_are_refused_and_shown_escaped(name: str) -> None:
    """An id names directories and is printed everywhere."""
    found = parse(Row("rows.jsonl line 1", row(instance_id=name)))
    assert isinstance(found, Refusal)
    assert [field for field, _ in found.problems] == ["instance_id"]
    assert found.line().isprintable()


@pytest.mark.parametrize(
    "repo", ["spoon", "a/b/c", "../x", "a/..", "a/-x", "a/b\n", "https://host/a/b", "a/" + "b" * 101]
)
def test_repositories_are_owner_and_name(repo: str) -> None:
    """Repository names become parts of URLs and paths."""
    assert "is not owner/name" in refused(repo=repo)["repo"]


@pytest.mark.parametrize("commit", ["", "main", "abc123", "A" * 40, "a" * 39, "a" * 41, "a" * 40 + "\n"])
def test_base_commits_are_full_ids(commit: str) -> None:
    """A branch or an abbreviation would mean another tree tomorrow."""
    assert "full commit id" in refused(base_commit=commit)["base_commit"]


def test_all_faults_of_a_row_are_reported_together() -> None:
    """One look at the message is enough to repair the row."""
    found = parse(Row("rows.jsonl line 7", {"instance_id": "octo__spoon-1", "repo": 3, "patch": None}))
    assert isinstance(found, Refusal)
    assert sorted(found.lines()) == [
        "rows.jsonl line 7 (octo__spoon-1): FAIL_TO_PASS: missing",
        "rows.jsonl line 7 (octo__spoon-1): PASS_TO_PASS: missing",
        "rows.jsonl line 7 (octo__spoon-1): base_commit: missing",
        "rows.jsonl line 7 (octo__spoon-1): patch: not text but null",
        "rows.jsonl line 7 (octo__spoon-1): problem_statement: missing",
        "rows.jsonl line 7 (octo__spoon-1): repo: not text but int 3",
        "rows.jsonl line 7 (octo__spoon-1): test_patch: missing",
    ]


def test_lone_surrogates_are_refused() -> None:
    """JSON can spell them, no file or database can hold them."""
    assert "lone surrogate" in refused(problem_statement="\ud800")["problem_statement"]
    assert "lone surrogate" in refused(FAIL_TO_PASS='["\\ud800"]')["FAIL_TO_PASS[1]"]


@given(st.dictionaries(st.sampled_from(sorted(COLUMNS)), JUNK, max_size=3))
def test_no_row_crashes_the_parser_or_reaches_the_terminal_unescaped(changes: dict[str, Any]) -> None:
    """Whatever the fields hold, the outcome is a task or lines of printable text."""
    found = parse(Row("rows.jsonl line 1", row() | changes))
    if isinstance(found, Refusal):
        assert found.problems
        assert all(line.isprintable() and len(line) < 1000 for line in found.lines())


@given(JUNK)
def test_a_row_that_is_no_object_is_refused(value: Any) -> None:
    """Lists, numbers and text in place of a row are one problem each."""
    if not isinstance(value, dict):
        found = parse(Row("rows.json row 1", value))
        assert isinstance(found, Refusal)
        assert [field for field, _ in found.problems] == ["row"]
