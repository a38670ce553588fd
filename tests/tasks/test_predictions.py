"""Predictions files become patches with their task and sample."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tasks.errors import PredictionsError
from tasks.predictions import Prediction, read


def prediction(number: int = 1, patch: str | None = "diff", **more: Any) -> dict[str, Any]:
    return {"instance_id": f"octo__spoon-{number}", "model_name_or_path": "m", "model_patch": patch} | more


def written(path: Path, content: Any) -> Path:
    if path.suffix == ".jsonl":
        lines = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in content]
        path.write_text("\n".join(lines), "utf-8", newline="")
    else:
        path.write_text(json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize("kind", ["list.json", "object.json", "lines.jsonl"])
def test_lists_objects_and_lines_read_the_same(kind: str, tmp_path: Path) -> None:
    """The three ways in which agents leave their patches mean the same."""
    rows = [prediction(1, "a\u2028b\rc", cost=3), prediction(2, None)]
    content = {"octo__spoon-1": rows[0], "octo__spoon-2": rows[1]} if kind == "object.json" else rows
    assert read(written(tmp_path / kind, content)) == (
        Prediction(instance_id="octo__spoon-1", model_name_or_path="m", model_patch="a\u2028b\rc"),
        Prediction(instance_id="octo__spoon-2", model_name_or_path="m", model_patch=""),
    )


def test_an_object_gives_its_keys_to_predictions_without_an_id(tmp_path: Path) -> None:
    """The key of a `preds.json` is the instance id."""
    [found] = read(written(tmp_path / "preds.json", {"octo__spoon-7": {"model_patch": "x"}}))
    assert (found.instance_id, found.model_name_or_path) == ("octo__spoon-7", "")


def test_predictions_for_one_task_are_numbered_in_file_order(tmp_path: Path) -> None:
    """Several answers to one task are samples, none replaces another."""
    rows = [prediction(1, "a"), prediction(2, "b"), prediction(1, "c", sample=9), prediction(1, "d")]
    found = read(written(tmp_path / "preds.jsonl", rows))
    assert [(one.instance_id[-1], one.sample, one.model_patch) for one in found] == [
        ("1", 0, "a"),
        ("2", 0, "b"),
        ("1", 1, "c"),
        ("1", 2, "d"),
    ]


def test_every_fault_is_reported_at_once_with_file_row_and_field(tmp_path: Path) -> None:
    """One reading shows all that has to be repaired."""
    rows = [
        prediction(1),
        "{",
        {"model_patch": "x"},
        {"instance_id": "../x", "model_patch": 3},
        {"instance_id": "octo__spoon-1"},
        '"text"',
        prediction(1, model_name_or_path=["m"]),
    ]
    with pytest.raises(PredictionsError) as caught:
        read(written(tmp_path / "preds.jsonl", rows))
    assert caught.value.message.split("\n") == [
        "preds.jsonl: 7 faults:",
        "preds.jsonl line 2: row: not JSON: Expecting property name enclosed in double quotes at column 2",
        "preds.jsonl line 3: instance_id: missing",
        "preds.jsonl line 4 (../x): instance_id: ../x is not letters, digits and . _ - only, at most 200,"
        " a letter or digit first",
        "preds.jsonl line 4 (../x): model_patch: not text but int 3",
        "preds.jsonl line 5 (octo__spoon-1): model_patch: missing",
        "preds.jsonl line 6: row: not an object of fields but str text",
        "preds.jsonl line 7 (octo__spoon-1): model_name_or_path: not text but a list of 1",
    ]


@pytest.mark.parametrize(
    ("name", "content"), [("p.json", "{"), ("p.json", "3"), ("p.jsonl", ""), ("p.json", "[]")]
)
def test_a_file_without_predictions_is_an_error(name: str, content: str, tmp_path: Path) -> None:
    """Nothing to replay would look like a finished run."""
    (tmp_path / name).write_text(content)
    with pytest.raises(PredictionsError, match=r"p\.json"):
        read(tmp_path / name)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """No traceback for a wrong path."""
    with pytest.raises(PredictionsError, match="No such file"):
        read(tmp_path / "preds.json")


def test_real_predictions_load() -> None:
    """The public patches of many systems are read as they are."""
    if not (shared := os.environ.get("ASSAY_SHARED_DATA")):
        pytest.skip("ASSAY_SHARED_DATA does not name a directory with public predictions")
    path = Path(shared) / "predictions.jsonl"
    assert len(read(path)) == len(path.read_bytes().strip().split(b"\n"))
