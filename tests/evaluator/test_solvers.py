"""Every solver, and the one request of oneshot over real HTTP."""

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from bills import into
from rude_server import chat, reply, rude_server

from evaluator.solvers import NAMES, Replay, Solver, make
from results.record import Attempt, Request
from tasks.errors import EndpointRefused, InputError, PredictionsError
from tasks.task import Task

TASK = Task(
    instance_id="a__b-1",
    repo="a/b",
    base_commit="0" * 40,
    problem_statement="sq() is 1. {{ 7 * 7 }} </issue> {% raw %}",
    patch="--- a/shape.py\n+++ b/shape.py\n@@ -1,2 +1,2 @@\n def sq(w):\n-    return 1\n+    return w * w\n",
    test_patch="",
    fail_to_pass=("t",),
    pass_to_pass=(),
)
GOOD = f"```diff\n{TASK.patch}```\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "shape.py").write_text("def sq(w):\n    return 1\n")
    return tmp_path / "repo"


def solve(solver: Solver, tree: Path, samples: int = 1, bills: list[Request] | None = None) -> list[Attempt]:
    async def run() -> list[Attempt]:
        try:
            biller = into([] if bills is None else bills)
            attempts = (solver.solve(TASK, sample, tree, biller) for sample in range(samples))
            return await asyncio.gather(*attempts)
        finally:
            await solver.close()

    return asyncio.run(run())


def oneshot(base_url: str, **options: Any) -> Solver:
    priced = {"model": "m", "base_url": base_url, "price_in": "1", "price_out": "2"}
    return make("oneshot", priced | options, api_key="sk-secret")


def test_gold_answers_with_the_reference_fix(tree: Path) -> None:
    """The patch of gold is the task's own."""
    assert solve(make("gold", {}), tree)[0].patch == TASK.patch


def test_noop_answers_with_nothing(tree: Path) -> None:
    """The patch of noop is empty, and says that it is meant to be."""
    attempt = solve(make("noop", {}), tree)[0]
    assert (attempt.patch, attempt.note) == ("", "no change on purpose")


def test_replay_takes_samples_in_file_order(tmp_path: Path, tree: Path) -> None:
    """The k-th prediction of an instance is its sample k; beyond them there is none."""
    rows = [{"instance_id": "a__b-1", "model_patch": text} for text in ("first", "second")]
    rows.insert(1, {"instance_id": "c__d-2", "model_patch": "other"})
    path = tmp_path / "preds.jsonl"
    path.write_text("".join(json.dumps(row | {"model_name_or_path": "m"}) + "\n" for row in rows))
    solver = make("replay", {"predictions": str(path)})
    assert isinstance(solver, Replay)
    assert (solver.instances, solver.samples) == (("a__b-1", "c__d-2"), 2)
    attempts = solve(solver, tree, samples=3)
    assert [(each.patch, each.note) for each in attempts] == [
        ("first", ""),
        ("second", ""),
        ("", "no prediction"),
    ]


def test_replay_notices_that_its_file_changed(tmp_path: Path) -> None:
    """A run that goes on uses the predictions it began with, or none."""
    path = tmp_path / "preds.json"
    path.write_text(json.dumps({"a__b-1": {"model_name_or_path": "m", "model_patch": "one"}}))
    options = make("replay", {"predictions": str(path)}).options
    assert make("replay", options).options == options
    path.write_text(json.dumps({"a__b-1": {"model_name_or_path": "m", "model_patch": "two"}}))
    with pytest.raises(InputError, match="changed"):
        make("replay", options)


def test_replay_of_an_unreadable_file_says_so(tmp_path: Path) -> None:
    """A predictions file that is none is the user's mistake."""
    (tmp_path / "preds.json").write_text("nonsense")
    with pytest.raises(PredictionsError):
        make("replay", {"predictions": tmp_path / "preds.json"})


def test_oneshot_asks_once_and_finds_the_patch(tree: Path) -> None:
    """Issue and files go out, a diff comes back, and the request is billed to the attempt."""
    bills: list[Request] = []
    with rude_server(reply(chat(GOOD))) as rude:
        attempt = solve(oneshot(rude.base_url, context_tokens=1000), tree, bills=bills)[0]
    assert (attempt.patch, attempt.note) == (TASK.patch, "")
    (asked,) = rude.asked
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert 'path="shape.py"' in asked["messages"][1]["content"]
    assert [(bill.instance_id, bill.sample, bill.cost) for bill in bills] == [
        ("a__b-1", 0, Decimal("0.00014"))
    ]
    assert [message["role"] for message in attempt.transcript] == ["system", "user", "assistant"]


def test_an_issue_is_data_and_never_a_template(tree: Path) -> None:
    """Template syntax and our own markers in an issue arrive at the model as they are."""
    with rude_server(reply(chat(GOOD))) as rude:
        solve(oneshot(rude.base_url), tree)
    assert TASK.problem_statement in rude.asked[0]["messages"][1]["content"]


def test_each_sample_has_its_own_seed(tree: Path) -> None:
    """Sample k is asked with the base seed plus k; without a base seed none is sent."""
    with rude_server(reply(chat(GOOD))) as rude:
        attempts = solve(oneshot(rude.base_url, seed=40), tree, samples=3)
    assert [each.sample for each in attempts] == [0, 1, 2]
    assert sorted(asked["seed"] for asked in rude.asked) == [40, 41, 42]
    with rude_server(reply(chat(GOOD))) as rude:
        solve(oneshot(rude.base_url, seed=None), tree)
    assert "seed" not in rude.asked[0]


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (chat("It should multiply."), "no diff in the answer"),
        (chat(None), "empty answer"),
        (chat(GOOD[:60], finish="length"), "the answer was cut at the token limit"),
        (chat(GOOD[:60], finish="content_filter"), "the content filter stopped the answer"),
        (chat(None, refusal="No."), "the model refused: No."),
    ],
)
def test_an_answer_without_a_patch_is_an_attempt_with_a_note(body: Any, note: str, tree: Path) -> None:
    """What a model fails to say is recorded as its answer, with the reason, and paid for."""
    bills: list[Request] = []
    with rude_server(reply(body)) as rude:
        attempt = solve(oneshot(rude.base_url), tree, bills=bills)[0]
    assert (attempt.patch, attempt.note, len(bills)) == ("", note, 1)


def test_a_prompt_too_long_is_an_attempt_with_a_note(tree: Path) -> None:
    """The run goes on past a task whose prompt does not fit."""
    refusal = {"error": {"code": "context_length_exceeded", "message": "too long"}}
    with rude_server(reply(refusal, 400)) as rude:
        attempt = solve(oneshot(rude.base_url), tree)[0]
    assert (attempt.patch, attempt.note) == ("", "the prompt is longer than the model's context")


def test_a_wrong_key_stops_the_run(tree: Path) -> None:
    """What no attempt can escape is raised, after the request was recorded."""
    bills: list[Request] = []
    wrong = reply({"error": {"message": "bad key sk-secret"}}, 401)
    with rude_server(wrong) as rude, pytest.raises(EndpointRefused) as caught:
        solve(oneshot(rude.base_url), tree, bills=bills)
    assert "sk-secret" not in str(caught.value)
    assert [bill.billable for bill in bills] == [False]


def test_options_make_an_equal_solver_and_hold_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run records rebuilds its solver, with the address it really used and without the key."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://somewhere/v1")
    options = make(
        "oneshot", {"model": "m", "context": "oracle", "gpu_hour": "2.5"}, api_key="sk-secret"
    ).options
    assert options["base_url"] == "http://somewhere/v1" and options["context"] == "oracle"
    assert "sk-secret" not in json.dumps(options)
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert make("oneshot", options).options == options


@pytest.mark.parametrize(
    ("name", "options", "field"),
    [
        ("agent", {}, "gold, noop, replay, oneshot"),
        ("gold", {"model": "m"}, "model"),
        ("replay", {}, "predictions"),
        ("oneshot", {"base_url": "http://h/v1"}, "model"),
        ("oneshot", {"model": "m", "base_url": "http://h/v1", "context": "magic"}, "context"),
        ("oneshot", {"model": "m", "base_url": "http://h/v1", "temperature": -1}, "temperature"),
        ("oneshot", {"model": "m", "base_url": "http://h/v1", "price_in": "cheap"}, "--price-in"),
        ("oneshot", {"model": "m", "base_url": "http://h/v1", "price_in": "1"}, "--price-out"),
    ],
)
def test_a_solver_that_cannot_be_built_names_the_option(
    name: str, options: dict[str, Any], field: str
) -> None:
    """An unknown solver or a bad option is refused by name before a run begins."""
    with pytest.raises(InputError) as caught:
        make(name, options)
    assert field in str(caught.value)


def test_every_name_is_a_solver(tmp_path: Path) -> None:
    """The names listed are the names that can be made, and each solver knows its own."""
    (tmp_path / "p.json").write_text(json.dumps({"a__b-1": {"model_name_or_path": "m", "model_patch": "x"}}))
    options: dict[str, dict[str, Any]] = {
        "replay": {"predictions": tmp_path / "p.json"},
        "oneshot": {"model": "m", "base_url": "http://h/v1"},
    }
    assert [make(name, options.get(name, {})).name for name in NAMES] == list(NAMES)
