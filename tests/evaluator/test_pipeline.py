"""Runs, from what is owed to what came of it: real repositories, sandboxes, stores, and models over HTTP."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rude_server import Rude, chat, reply, rude_server
from toy_model import asked, toy_model
from toy_set import ENVIRONMENT, ToySet, write

from evaluator.billing import Biller
from evaluator.options import Options
from evaluator.pipeline import NOT_ASKED, Work
from evaluator.scoring import Plan, Stop, again, plan, work
from evaluator.solvers import Gold
from results.money import Bill
from results.owed import Owed
from results.record import Attempt, Ledger, Record, Request, Run, RunConfig, Spent, Verdict
from results.store import IN_FLIGHT, Store
from sandbox.bubblewrap import Bubblewrap
from tasks.errors import (
    AssayError,
    EndpointRefused,
    EndpointUnavailable,
    SandboxUnavailable,
    SourceError,
)
from tasks.task import Task

GOOD = "assay-demo-90"


class Spectator:
    """Keeps what it is told of a run, and stops it on request."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.stop_after = stop_after
        self.stop: Stop
        self.attempts: list[Attempt] = []
        self.records: list[Record] = []
        self.postponed_works: list[Work] = []
        self.stops: list[tuple[AssayError | None, int, int]] = []

    @contextmanager
    def watch(self, ledger: Ledger, stop: Stop) -> Iterator["Spectator"]:
        self.stop = stop
        yield self

    def requested(self, request: Request) -> None: ...

    def attempted(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)
        if len(self.attempts) == self.stop_after:
            self.stop()

    def recorded(self, record: Record) -> None:
        self.records.append(record)

    def postponed(self, work: Work, error: AssayError) -> None:
        self.postponed_works.append(work)

    def stopping(self, error: AssayError | None, solving: int, grading: int) -> None:
        self.stops.append((error, solving, grading))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store") as opened:
        yield opened


def options(toys: ToySet, **changes: Any) -> Options:
    usual = {"dataset": str(toys.file), "repo_url": toys.repo_url, "sandbox": "bubblewrap", "slots": 2}
    return Options.model_validate(usual | {"solver": "gold"} | changes)


def asking(toys: ToySet, rude: Rude, model: str = GOOD, **changes: Any) -> Options:
    solver = {"model": model, "base_url": rude.base_url, "price_in": "1", "price_out": "4", "concurrency": 1}
    return options(toys, solver="oneshot", solver_options=solver, **changes)


def begin(store: Store, options: Options) -> tuple[Run, Plan]:
    planned = plan(options)
    return store.create_run(planned.config), planned


def drain(store: Store, run: Run, planned: Plan, spectator: Spectator | None = None) -> Owed:
    spectator = spectator or Spectator()
    return asyncio.run(work(store, run, planned, spectator.watch))


def verdicts(store: Store, run: Run) -> dict[str, Verdict]:
    return {record.instance_id: record.verdict for record in store.records(run.id)}


def rows(store: Store, table: str) -> Counter[str]:
    """How many rows about each instance were ever written."""
    with sqlite3.connect(store.directory / "assay.db") as connection:
        return Counter(name for (name,) in connection.execute(f"select instance_id from {table}"))


def verdict_on(task: Task, verdict: Verdict) -> Record:
    """As an earlier session might have left it."""
    return Record(
        instance_id=task.instance_id,
        sample=0,
        verdict=verdict,
        reason="earlier",
        explanation="",
        flags=(),
        f2p_passed=0,
        f2p_total=1,
        p2p_passed=0,
        p2p_total=1,
        failed=(),
        tries=1,
        spent=Spent(),
        task_digest=task.digest,
        environment_digest="",
        patch_digest="",
        backend="bubblewrap",
        grader_version="1",
        started_at=datetime.now(UTC),
        patch="",
        output=b"",
        evidence={},
    )


def test_a_run_is_every_task_solved_and_judged_once(toys: ToySet, store: Store) -> None:
    """Each task and sample gets one attempt and one verdict, and then nothing is owed."""
    run, planned = begin(store, options(toys, limit=2, samples=2))
    assert not drain(store, run, planned)
    keys = [(name, sample) for name in toys.names[:2] for sample in (0, 1)]
    assert sorted((each.instance_id, each.sample) for each in store.attempts(run.id)) == keys
    assert sorted((each.instance_id, each.sample) for each in store.records(run.id)) == keys
    assert set(verdicts(store, run).values()) == {Verdict.RESOLVED}
    assert store.run(run.id).finished_at


def test_what_is_recorded_is_never_done_again(toys: ToySet, store: Store) -> None:
    """A solved attempt is only judged and a judged one left alone; the model hears of neither."""
    with toy_model(toys.tasks) as model:
        run, planned = begin(store, asking(toys, model, limit=3))
        solved, judged, fresh = planned.taskset
        for task in (solved, judged):
            store.add_attempt(run.id, Attempt(task.instance_id, 0, task.patch))
        store.add_record(run.id, verdict_on(judged, Verdict.NOT_RESOLVED))
        assert not drain(store, run, planned)
        assert asked(model, toys.tasks) == [(fresh.instance_id, 0)]
    assert set(rows(store, "attempts").values()) == set(rows(store, "records").values()) == {1}
    assert verdicts(store, run)[solved.instance_id] is Verdict.RESOLVED
    assert verdicts(store, run)[judged.instance_id] is Verdict.NOT_RESOLVED


def test_a_verdict_lost_to_the_machine_is_owed_again(toys: ToySet, store: Store) -> None:
    """An INFRA_ERROR is judged anew from the same patch, and the last verdict counts."""
    run, planned = begin(store, options(toys, limit=1))
    (task,) = planned.taskset
    store.add_attempt(run.id, Attempt(task.instance_id, 0, task.patch))
    store.add_record(run.id, verdict_on(task, Verdict.INFRA_ERROR))
    assert not drain(store, run, planned)
    assert verdicts(store, run) == {task.instance_id: Verdict.RESOLVED}
    assert rows(store, "attempts").total() == 1


def test_an_environment_that_does_not_build_is_no_score(toys: ToySet, store: Store, tmp_path: Path) -> None:
    """The other tasks are judged, and the attempt that could not be stays owed."""
    broken = toys.tasks[0].model_copy(
        update={"environment": ENVIRONMENT.model_copy(update={"install": "exit 9"})}
    )
    dataset = write(tmp_path / "broken.jsonl", broken, toys.tasks[1])
    run, planned = begin(store, options(toys, dataset=str(dataset)))
    left = drain(store, run, planned)
    assert (left.solve, left.grade) == ((), ((broken.instance_id, 0),))
    assert verdicts(store, run) == {
        broken.instance_id: Verdict.INFRA_ERROR,
        toys.names[1]: Verdict.RESOLVED,
    }
    assert store.run(run.id).finished_at is None


def test_a_quarantined_task_costs_nothing(toys: ToySet, store: Store, tmp_path: Path) -> None:
    """Where no run can judge an answer the model is not asked for one, and the reason is on record."""
    dataset = write(tmp_path / "quarantined.jsonl", toys.tasks[0], quarantine="needs network: example.org")
    with toy_model(toys.tasks) as model:
        run, planned = begin(store, asking(toys, model, dataset=str(dataset)))
        assert not drain(store, run, planned)
        assert not model.asked
    record = store.record(run.id, toys.names[0])
    assert record.verdict is Verdict.TASK_QUARANTINED and "example.org" in record.explanation
    assert [attempt.note for attempt in store.attempts(run.id)] == [NOT_ASKED]


def test_a_refusal_stops_the_run_and_loses_nothing(toys: ToySet, store: Store) -> None:
    """Credit that ends midway costs one request: the answers before it are kept, the rest is resumed."""
    refusal = reply({"error": {"message": "credit exhausted", "code": "insufficient_quota"}}, 429)
    good = [reply(chat(f"```diff\n{task.patch}```")) for task in toys.tasks[:2]]
    with toy_model(toys.tasks, *good, refusal) as model:
        run, planned = begin(store, asking(toys, model, limit=4))
        with pytest.raises(EndpointRefused, match="credit exhausted"):
            drain(store, run, planned)
        assert asked(model, toys.tasks) == [(name, 0) for name in toys.names[:3]]
        assert [attempt.instance_id for attempt in store.attempts(run.id)] == toys.names[:2]
        assert [request.billable for request in store.requests(run.id)] == [True, True, False]
        assert not drain(store, run, again(run, Options(slots=2)))
        assert asked(model, toys.tasks)[3:] == [(name, 0) for name in toys.names[2:4]]
    assert set(rows(store, "attempts").values()) == {1}
    assert verdicts(store, run).keys() == set(toys.names[:4])


def test_a_model_nobody_serves_stops_the_run_at_the_first_request(toys: ToySet, store: Store) -> None:
    """No other task is tried, and none has a verdict."""
    with toy_model(toys.tasks) as model:
        run, planned = begin(store, asking(toys, model, model="gpt-77"))
        with pytest.raises(EndpointRefused, match="assay-demo"):
            drain(store, run, planned)
        assert len(model.asked) == 1
    assert not store.attempts(run.id) and not store.records(run.id)


class Stubborn(Gold):
    """Gives up on some tasks."""

    def __init__(self, *names: str) -> None:
        self.names = names

    async def solve(self, task: Task, sample: int, tree: Path, biller: Biller) -> Attempt:
        await asyncio.sleep(0.02)
        if task.instance_id in self.names:
            await asyncio.sleep(0.2)
            raise EndpointUnavailable("no answer")
        return await super().solve(task, sample, tree, biller)


def test_one_task_an_endpoint_cannot_answer_does_not_hold_up_the_others(toys: ToySet, store: Store) -> None:
    """While others get answers, giving up on one task leaves only that one owed, and is told at the end."""
    run, planned = begin(store, options(toys, limit=3))
    spectator = Spectator()
    with pytest.raises(EndpointUnavailable):
        drain(store, run, replace(planned, solver=Stubborn(toys.names[0])), spectator)
    assert [work.key for work in spectator.postponed_works] == [(toys.names[0], 0)]
    assert set(verdicts(store, run)) == set(toys.names[1:3])


def test_an_endpoint_that_is_gone_stops_the_run(toys: ToySet, store: Store) -> None:
    """When nobody has had an answer any more, the tasks after it are not tried in vain."""
    run, planned = begin(store, options(toys, limit=3))
    planned = replace(planned, solver=Stubborn(*toys.names), config=one_at_a_time(planned.config))
    spectator = Spectator()
    with pytest.raises(EndpointUnavailable) as caught:
        drain(store, run, planned, spectator)
    assert spectator.stops == [(caught.value, 0, 0)]
    assert not spectator.postponed_works


def one_at_a_time(config: RunConfig) -> RunConfig:
    return config.model_copy(update={"solver_options": {"concurrency": 1}})


def test_a_repository_that_cannot_be_had_does_not_hold_up_the_others(
    toys: ToySet, store: Store, tmp_path: Path
) -> None:
    """Its task stays owed, the run goes on, and ends with the reason."""
    gone = toys.tasks[0].model_copy(update={"base_commit": "f" * 40})
    dataset = write(tmp_path / "gone.jsonl", gone, toys.tasks[1])
    run, planned = begin(store, options(toys, dataset=str(dataset)))
    with pytest.raises(SourceError, match="f" * 40):
        drain(store, run, planned)
    assert verdicts(store, run) == {toys.names[1]: Verdict.RESOLVED}


def test_a_sandbox_that_died_stops_the_run(toys: ToySet, store: Store) -> None:
    """The lost attempt is no failure of its patch, and no further one is thrown after it."""
    run, planned = begin(store, options(toys, slots=1))
    dead = Bubblewrap()
    dead.__dict__["tools"] = replace(dead.tools, bwrap=Path("/nonexistent/bwrap"))
    with pytest.raises(SandboxUnavailable):
        drain(store, run, replace(planned, sandbox=dead))
    assert list(verdicts(store, run).values()) == [Verdict.INFRA_ERROR]


def test_a_stopped_run_begins_nothing_more(toys: ToySet, store: Store) -> None:
    """Whoever stops it is told what is still under way; that is kept, and all else stays owed."""
    run, planned = begin(store, options(toys, limit=4))
    spectator = Spectator(stop_after=1)
    left = drain(store, run, replace(planned, config=one_at_a_time(planned.config)), spectator)
    assert spectator.stops == [(None, 1, 0)]
    assert (len(left.solve), len(left.grade)) == (3, 1)
    assert not store.records(run.id)


@pytest.mark.parametrize(
    ("prices", "unpriced"), [({"price_in": "1", "price_out": "4"}, 1), ({"gpu_hour": "2"}, 0)]
)
def test_a_request_is_on_record_before_its_answer(
    prices: dict[str, str], unpriced: int, toys: ToySet, store: Store
) -> None:
    """Should this process die now, the money at stake is known to be unknown; GPUs are paid for anyway."""
    seen: list[Request] = []

    async def run_until_asked(model: Rude) -> None:
        solver = {"model": GOOD, "base_url": model.base_url, **prices}
        run, planned = begin(store, options(toys, limit=1, solver="oneshot", solver_options=solver))
        spectator = Spectator()
        task = asyncio.create_task(work(store, run, planned, spectator.watch))
        while not model.asked:
            await asyncio.sleep(0.01)
        seen.extend(store.requests(run.id))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with rude_server("hang") as model:
        asyncio.run(run_until_asked(model))
    assert [(request.outcome, request.cost) for request in seen] == [(IN_FLIGHT, None)]
    assert Bill.of(seen).unpriced == unpriced
