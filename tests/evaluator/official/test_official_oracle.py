"""Against the official package itself, where one is installed (its Python in ASSAY_SWEBENCH_PYTHON)."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_strategies import PARSERS, logs, test_ids
from recorded_logs import recorded

from evaluator.official import EvalType, OfficialVerdict, official_verdict

PYTHON = os.environ.get("ASSAY_SWEBENCH_PYTHON")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="ASSAY_SWEBENCH_PYTHON names no Python with swebench 5.0.2"
)

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """The official report on a log."""
    server = subprocess.Popen(
        [str(PYTHON), Path(__file__).with_name("harness_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        assert server.stdin and server.stdout

        def send(
            log: str, parser: str, f2p: list[str], p2p: list[str], eval_type: EvalType
        ) -> dict[str, Any]:
            asked = {"log": log, "log_parser": f"parse_log_{parser}", "eval_type": eval_type}
            print(
                json.dumps(asked | {"FAIL_TO_PASS": f2p, "PASS_TO_PASS": p2p}), file=server.stdin, flush=True
            )
            report: dict[str, Any] = json.loads(server.stdout.readline())
            return report

        yield send
        server.stdin.close()


def agree(ours: OfficialVerdict, theirs: dict[str, Any]) -> None:
    assert ours.resolved == theirs["resolved"]
    assert (ours.reason == "crash") == ("crash" in theirs)
    assert ours.graded == theirs.get("patch_successfully_applied", False)
    assert ours.tests_status == theirs.get("tests_status", {})
    assert list(ours.statuses.items()) == list(theirs.get("statuses", {}).items())


@pytest.mark.parametrize("parser", PARSERS)
def test_any_log_is_graded_as_the_harness_does(ask: Ask, parser: str) -> None:
    """Verdict, lists, statuses and their order agree on logs nobody would write by hand."""

    @settings(max_examples=int(os.environ.get("ASSAY_ORACLE_EXAMPLES", "150")), deadline=None)
    @given(logs, test_ids, test_ids, st.sampled_from(("pass_and_fail", "fail_only")))
    def compare(log: str, f2p: list[str], p2p: list[str], eval_type: EvalType) -> None:
        ours = official_verdict(log, parser=parser, fail_to_pass=f2p, pass_to_pass=p2p, eval_type=eval_type)
        agree(ours, ask(log, parser, f2p, p2p, eval_type))

    compare()


def test_recorded_logs_are_graded_as_the_harness_does(ask: Ask) -> None:
    """So are those of real evaluations."""
    for log in recorded():
        ours = official_verdict(
            log.text, parser=log.parser, fail_to_pass=log.fail_to_pass, pass_to_pass=log.pass_to_pass
        )
        agree(
            ours, ask(log.text, log.parser, list(log.fail_to_pass), list(log.pass_to_pass), "pass_and_fail")
        )
