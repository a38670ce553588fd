"""Ids of datasets and the node ids they stand for."""

import json
import lzma
import os
import re
from pathlib import Path

import pytest

from evaluator.spelling import match_ids, spell
from tasks.load import load


@pytest.mark.parametrize(
    ("parser", "node_id", "spelled"),
    [
        ("nodeid", "t.py::f[a b]", "t.py::f[a b]"),
        ("pytest", "t.py::f[a b]", "t.py::f[a"),
        ("requests", "t.py::f[/usr/lib/x.py-1]", "t.py::f[/x.py-1]"),
        ("requests", "t.py::f[//host/x]", "t.py::f[//host/x]"),
        ("requests", "t.py::f[/a/*/x]", "t.py::f[/a/*/x]"),
        ("requests", "t.py::f[http://h/x]", "t.py::f[http://h/x]"),
        ("astropy", "t.py::f[a b]", "t.py::f[a b]"),
        ("astropy", "t.py::f[\x1bx]", "t.py::f[x]"),
        ("matplotlib", "t.py::f[MouseButton.LEFT-a]", "t.py::f[1-a]"),
        ("seaborn", "t.py::f[a b]", "t.py::f[a"),
    ],
)
def test_spellings(parser: str, node_id: str, spelled: str) -> None:
    """Each harness parser's way to shorten an id."""
    assert spell(node_id, parser) == spelled


def test_a_cut_id_stands_for_all_it_begins_unless_one_is_spelled_so() -> None:
    """More opening than closing brackets mean that the rest was lost at a space."""
    nodes = ["t.py::f[a b]", "t.py::f[a c]", "t.py::f[ab]"]
    assert match_ids(["t.py::f[a"], nodes, "pytest") == {"t.py::f[a": tuple(nodes[:2])}
    assert match_ids(["t.py::f["], nodes, "pytest") == {"t.py::f[": tuple(nodes)}
    assert match_ids(["t.py::f"], nodes, "pytest") == {"t.py::f": ()}
    assert match_ids(["t.py::f[a"], nodes, "nodeid") == {"t.py::f[a": ()}


@pytest.mark.skipif("ASSAY_SHARED_DATA" not in os.environ, reason="ASSAY_SHARED_DATA names no collection")
def test_ids_of_official_logs_are_found() -> None:
    """Every id that the official harness saw succeed is spelled by some node id in the log it came from."""
    data = Path(os.environ["ASSAY_SHARED_DATA"])
    tasks = {
        task.instance_id: task
        for name in ("Lite", "Verified")
        for task in load(str(data / f"SWE-bench_{name}.parquet"))
        if task.repo not in ("django/django", "sympy/sympy")
    }
    seen = 0
    with lzma.open(data / "official_eval_logs.jsonl.xz", "rt") as logs:
        for log in map(json.loads, logs):
            if (task := tasks.get(log["instance_id"])) is None:
                continue
            text = re.sub(r"\x1b\[\d*m", "", log["test_output"])
            nodes = [
                node.split(" - ")[0] for node in re.findall(r"^(?:PASSED|XFAIL|FAILED) (.+)$", text, re.M)
            ]
            nodes += re.findall(r"^(\S.*::\S.*?) (?:PASSED|XFAIL|FAILED)", text, re.M)
            status = log["tests_status"] or {}
            succeeded = [test_id for group in status.values() for test_id in group.get("success", [])]
            parser = (task.log_parser or "").removeprefix("parse_log_")
            required = {*task.fail_to_pass, *task.pass_to_pass}
            matches = match_ids(required & set(succeeded), nodes, parser)
            assert [test_id for test_id, found in matches.items() if not found] == []
            seen += len(matches)
    assert seen > 20_000
