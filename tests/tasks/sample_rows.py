"""Rows in the SWE-bench schema, made up."""

from typing import Any

from tasks.task import Task


def row(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A complete classic row; `changes` replaces fields."""
    return {
        "instance_id": f"octo__spoon-{number}",
        "repo": "octo/spoon",
        "base_commit": f"{number:040x}",
        "problem_statement": "Spoons bend.\r\nThey should not.",
        "hints_text": "",
        "patch": "diff --git a/spoon.py b/spoon.py\n",
        "test_patch": "diff --git a/test_spoon.py b/test_spoon.py\n",
        "FAIL_TO_PASS": '["test_spoon.py::test_straight"]',
        "PASS_TO_PASS": '["test_spoon.py::test_exists", "test_spoon.py::test_x[log(photon"]',
        "version": "1.2",
        "environment_setup_commit": "",
        "created_at": "2024-01-02T03:04:05Z",
    } | changes


def task(number: int = 1, **changes: Any) -> Task:
    return Task.model_validate(row(number, **changes))
