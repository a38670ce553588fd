"""Task sets from files and directories."""

import json
import os
from pathlib import Path
from typing import Any

import datasets
import pyarrow
import pytest
from pyarrow import parquet
from sample_rows import row

from tasks.errors import DatasetError, InputError
from tasks.load import load
from tasks.task import TaskSet

ROWS = [row(1), row(2, hints_text="one\u2028two\x85three\rfour"), row(3, hints_text=None)]
FORMATS = ["list.json", "object.json", "rows.jsonl", "rows.parquet", "saved", "split", "shards", "dict"]


def write(kind: str, rows: list[dict[str, Any]], directory: Path) -> Path:
    """The rows in one of the ways they are kept; the path to load."""
    path = directory / kind
    match kind:
        case "list.json":
            path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
        case "object.json":
            path.write_text(json.dumps({row["instance_id"]: row for row in rows}), "utf-8")
        case "rows.jsonl":
            path.write_text(
                "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8", newline=""
            )
        case "rows.parquet":
            parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        case "saved":
            datasets.Dataset.from_list(rows).save_to_disk(path)
        case "dict":
            datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)}).save_to_disk(path)
        case "split":
            path.mkdir()
            parquet.write_table(pyarrow.Table.from_pylist(rows), path / "test.parquet")
            parquet.write_table(pyarrow.Table.from_pylist([row(9)]), path / "dev.parquet")
        case "shards":
            (path / "data").mkdir(parents=True)
            for number, one in enumerate(rows):
                table = pyarrow.Table.from_pylist([one])
                parquet.write_table(table, path / "data" / f"test-{number:05}-of-{len(rows):05}.parquet")
    return path


def jsonl(path: Path, *lines: str | bytes | dict[str, Any]) -> str:
    path.write_bytes(
        b"\n".join(
            json.dumps(line).encode()
            if isinstance(line, dict)
            else line
            if isinstance(line, bytes)
            else line.encode()
            for line in lines
        )
    )
    return str(path)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_tasks(kind: str, tmp_path: Path) -> None:
    """Where rows are kept changes nothing about them: not their order, not a line separator inside them."""
    found = load(str(write(kind, ROWS, tmp_path)))
    assert found.tasks == TaskSet("expected", load(jsonl(tmp_path / "x.jsonl", *ROWS)).tasks).tasks
    assert [task.instance_id for task in found] == ["octo__spoon-1", "octo__spoon-2", "octo__spoon-3"]
    assert found.tasks[1].hints_text == "one\u2028two\x85three\rfour"
    assert found.digest == load(jsonl(tmp_path / "x.jsonl", *ROWS)).digest


def test_another_split_of_a_directory_is_chosen_by_name(tmp_path: Path) -> None:
    """`test` is the default, not the only split."""
    assert [task.instance_id for task in load(str(write("split", ROWS, tmp_path)), split="dev")] == [
        "octo__spoon-9"
    ]


@pytest.mark.parametrize("kind", ["split", "dict"])
def test_an_unknown_split_is_refused_with_what_there_is(kind: str, tmp_path: Path) -> None:
    """The message names the splits to choose from."""
    with pytest.raises(InputError, match="test"):
        load(str(write(kind, ROWS, tmp_path)), split="*")


def test_columns_of_dates_and_lists_are_understood(tmp_path: Path) -> None:
    """Column stores keep times and lists as such."""
    table = pyarrow.Table.from_pylist([row(FAIL_TO_PASS=["a"], PASS_TO_PASS=[])])
    stamps = pyarrow.array([1609298073000], pyarrow.timestamp("ms", "UTC"))
    table = table.set_column(table.column_names.index("created_at"), "created_at", stamps)
    parquet.write_table(table, tmp_path / "rows.parquet")
    [task] = load(str(tmp_path / "rows.parquet"))
    assert (task.fail_to_pass, task.created_at) == (("a",), "2020-12-30T03:14:33+00:00")


def test_every_bad_row_is_refused_at_once_with_file_line_id_field_and_reason(tmp_path: Path) -> None:
    """Nothing runs on a set of which a part is wrong, and one reading shows all of it."""
    source = jsonl(
        tmp_path / "rows.jsonl",
        row(1),
        "{not json",
        "",
        row(2, repo="spoon"),
        b'{"instance_id": "\xff"}',
        row(1),
        "[1]",
        "1" * 5000,
        "[" * 200_000,
        row(3, patch=None, test_patch=5),
    )
    with pytest.raises(DatasetError) as caught:
        load(source)
    assert caught.value.problems == (
        "rows.jsonl line 2: row: not JSON: Expecting property name enclosed in double quotes at column 2",
        "rows.jsonl line 4 (octo__spoon-2): repo: spoon is not owner/name as a code host spells it",
        "rows.jsonl line 5: row: not UTF-8: byte 18 (invalid start byte)",
        "rows.jsonl line 6 (octo__spoon-1): instance_id: given before, at rows.jsonl line 1",
        "rows.jsonl line 7: row: not an object of fields but a list of 1",
        "rows.jsonl line 8: row: not readable: a number has too many digits",
        "rows.jsonl line 9: row: not readable: nested too deeply",
        "rows.jsonl line 10 (octo__spoon-3): patch: not text but null",
        "rows.jsonl line 10 (octo__spoon-3): test_patch: not text but int 5",
    )
    assert str(caught.value).startswith("rows.jsonl: 8 of 9 rows are not usable tasks:\n")


def test_bad_rows_can_be_left_out_and_are_named(tmp_path: Path) -> None:
    """The good rows are used on request, and what is missing stays visible: one line a row."""
    source = jsonl(tmp_path / "rows.jsonl", row(1), "{", row(2, patch=None, test_patch=5), row(3))
    found = load(source, skip_invalid=True)
    assert [task.instance_id for task in found] == ["octo__spoon-1", "octo__spoon-3"]
    assert [line.split(":")[0] for line in found.left_out] == [
        "rows.jsonl line 2",
        "rows.jsonl line 3 (octo__spoon-2)",
    ]


def test_a_set_without_one_good_row_is_an_error_even_when_bad_rows_may_be_left_out(tmp_path: Path) -> None:
    """An empty set would look like a finished run."""
    with pytest.raises(DatasetError, match="1 of 1 rows"):
        load(jsonl(tmp_path / "rows.jsonl", "{}"), skip_invalid=True)
    with pytest.raises(DatasetError, match="holds no rows"):
        load(jsonl(tmp_path / "empty.jsonl"), skip_invalid=True)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("rows.json", b"{", "not JSON"),
        ("rows.json", b'{"a": 1}\n{"a": 2}', "One row a line"),
        ("rows.json", b"3", "neither a list nor an object"),
        ("rows.parquet", b"PAR1 but no more", "not readable parquet"),
        ("rows.parquet", b"", "not readable parquet"),
    ],
)
def test_files_that_cannot_be_read_at_all_say_why(
    name: str, content: bytes, reason: str, tmp_path: Path
) -> None:
    """A file of the wrong kind is the user's mistake, named without a traceback."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatasetError, match=reason):
        load(str(tmp_path / name))


def test_a_damaged_directory_saved_by_datasets_says_why(tmp_path: Path) -> None:
    """The library's own complaint is passed on."""
    path = write("saved", ROWS, tmp_path)
    (path / "state.json").write_text("{")
    with pytest.raises(DatasetError, match="not a readable saved dataset"):
        load(str(path))


def test_file_names_reach_the_message_escaped(tmp_path: Path) -> None:
    """A file name can hold what steers a terminal."""
    with pytest.raises(DatasetError) as caught:
        load(jsonl(tmp_path / "\x1b[2J.jsonl", "{"))
    assert all(line.isprintable() for line in str(caught.value).split("\n"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    """Permission is a fact about the machine, said in one line."""
    path = tmp_path / "rows.jsonl"
    path.touch(mode=0)
    with pytest.raises(DatasetError, match="Permission denied"):
        load(str(path))


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("rows.jsonk", "Close names there: rows.jsonl"),
        ("./rows", "rows.jsonl"),
        ("verifed", "verified"),
        ("data.csv", "Check the path"),
        ("a/b/c", "Check the path"),
    ],
)
def test_a_source_that_names_nothing_is_answered_with_what_would(
    source: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slip in a path or a name costs one look."""
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "rows.jsonl", row())
    with pytest.raises(InputError) as caught:
        load(source)
    assert hint in caught.value.remedy


def test_a_file_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    """The kind of a file is its ending."""
    (tmp_path / "rows.csv").touch()
    with pytest.raises(InputError, match="no kind of file"):
        load(str(tmp_path / "rows.csv"))


@pytest.fixture
def shared() -> Path:
    if not (path := os.environ.get("ASSAY_SHARED_DATA")):
        pytest.skip("ASSAY_SHARED_DATA does not name a directory with the public sets")
    return Path(path)


@pytest.mark.parametrize(("name", "count"), [("Verified", 500), ("Lite", 300), ("Multilingual", 300)])
def test_the_public_sets_load_whole(name: str, count: int, shared: Path) -> None:
    """Every official row is a task."""
    assert len(load(str(shared / f"SWE-bench_{name}.parquet"))) == count


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["Verified", "Multilingual"])
def test_public_rows_survive_every_format(kind: str, name: str, shared: Path, tmp_path: Path) -> None:
    """Real rows give the same set whichever way they are kept."""
    source = shared / f"SWE-bench_{name}.parquet"
    rows = parquet.read_table(source).slice(0, 5).to_pylist()
    assert load(str(write(kind, rows, tmp_path))).tasks == load(str(source)).tasks[:5]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        (
            "multi_swe_bench",
            {"repo", "base_commit", "patch", "problem_statement", "FAIL_TO_PASS", "PASS_TO_PASS"},
        ),
        (
            "swe_bench_live.metadata_only",
            {"instance_id", "patch", "test_patch", "problem_statement", "FAIL_TO_PASS", "PASS_TO_PASS"},
        ),
    ],
)
def test_rows_of_another_schema_are_refused_naming_what_they_lack(
    name: str, fields: set[str], shared: Path
) -> None:
    """Sets that only resemble SWE-bench are told apart by their fields."""
    with pytest.raises(DatasetError) as caught:
        load(str(shared / "samples" / f"{name}.jsonl"))
    assert {problem.split(": ")[1] for problem in caught.value.problems} == fields


@pytest.mark.parametrize(
    "name", ["swe_bench_pro", "swe_benchify", "swe_gym", "swe_gym_with_scripts", "swe_rebench_v2"]
)
def test_derived_sets_in_the_same_schema_load(name: str, shared: Path) -> None:
    """Lists for text, epochs for times and lower-case columns are no obstacle."""
    assert len(load(str(shared / "samples" / f"{name}.jsonl")))
