"""Logs of real evaluations, with the verdicts that were given at the time."""

import json
import lzma
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from evaluator.official.markers import END, START


@dataclass(frozen=True)
class Recorded:
    instance_id: str
    submission: str
    text: str
    parser: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    resolved: bool
    tests_status: dict[str, dict[str, list[str]]]


def recorded() -> Iterator[Recorded]:
    shared = os.environ.get("ASSAY_SHARED_DATA")
    if not shared:
        pytest.skip("ASSAY_SHARED_DATA names no folder of recorded evaluations")
    tasks = _tasks(Path(shared))
    with lzma.open(Path(shared) / "official_eval_logs.jsonl.xz", "rt", newline="\n") as file:
        for row in map(json.loads, file):
            task = tasks[row["instance_id"]]
            yield Recorded(
                row["instance_id"],
                row["submission"],
                _marked(row["test_output"]),
                task["log_parser"].removeprefix("parse_log_"),
                tuple(json.loads(task["FAIL_TO_PASS"])),
                tuple(json.loads(task["PASS_TO_PASS"])),
                row["official_resolved"],
                row["tests_status"],
            )


def _tasks(shared: Path) -> dict[str, dict[str, Any]]:
    columns = ["instance_id", "log_parser", "FAIL_TO_PASS", "PASS_TO_PASS"]
    files = [shared / f"SWE-bench_{name}.parquet" for name in ("Lite", "Verified")]
    return {
        row["instance_id"]: row for file in files for row in pq.read_table(file, columns=columns).to_pylist()
    }


def _marked(log: str) -> str:
    """Harnesses of 2024 wrote no markers: they gave their parsers the whole log."""
    return log if START in log else f"{START}\n{log}\n{END}\n"
