import re
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from result_factories import START, a_config, a_record, a_request, an_attempt

from results.record import Cost, Usage, Verdict
from results.store import IN_FLIGHT, Store
from tasks.errors import InputError, StoreError


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def run(store):
    return store.create_run(a_config())


def test_facts_come_back_as_they_were(tmp_path, store, run):
    """What was written is read back equal, field by field, by another process's store."""
    attempt = an_attempt(transcript=({"role": "user", "content": "fix it"},), note="cut at the token limit")
    record = a_record(flags=("fuzzy_apply",), failed=("test_x[é]",), verdict=Verdict.NOT_RESOLVED)
    requests = (a_request(), a_request(usage=None, price=None, cost=None, outcome="HTTP 500"))
    store.add_attempt(run.id, attempt)
    store.add_record(run.id, record)
    for request in requests:
        store.add_request(run.id, request)
    store.add_cost(run.id, Cost("gpu_held", Decimal("1.10"), "8 GPUs"))
    with Store.open(tmp_path / "store") as again:
        assert again.run(run.id) == run
        assert again.attempt(run.id, attempt.instance_id) == attempt
        assert again.record(run.id, record.instance_id) == record
        assert again.patch(run.id, record.instance_id) == attempt.patch
        assert again.requests(run.id) == requests
        assert again.costs(run.id) == (Cost("gpu_held", Decimal("1.10"), "8 GPUs"),)


def test_the_last_record_counts_and_the_others_stay(store, run):
    """A later verdict replaces an earlier one in every view, yet no row is taken away."""
    store.add_record(run.id, a_record(verdict=Verdict.INFRA_ERROR, output=b"lost"))
    store.add_record(run.id, a_record(sample=1))
    store.add_record(run.id, a_record(verdict=Verdict.NOT_RESOLVED, output=b"kept"))
    assert [(row.sample, row.verdict) for row in store.records(run.id)] == [
        (1, Verdict.RESOLVED),
        (0, Verdict.NOT_RESOLVED),
    ]
    assert store.record(run.id, "psf__requests-0").output == b"kept"
    with sqlite3.connect(store.directory / "assay.db") as connection:
        assert connection.execute("SELECT count(*) FROM records").fetchone() == (3,)


def test_listing_reads_no_files(store, run):
    """Rows are listed even when every artefact is gone."""
    store.add_attempt(run.id, an_attempt())
    store.add_record(run.id, a_record())
    for file in (path for path in store.artifacts.directory.rglob("*") if path.is_file()):
        file.unlink()
    assert len(store.records(run.id)) == len(store.attempts(run.id)) == 1


def test_one_attempt_per_task_and_sample(store, run):
    """A second attempt at the same task and sample is refused, and the first one stays."""
    store.add_attempt(run.id, an_attempt(patch="first"))
    with pytest.raises(StoreError, match="recorded already"):
        store.add_attempt(run.id, an_attempt(patch="second"))
    assert store.patch(run.id, "psf__requests-0") == "first"


def test_a_request_without_an_end_is_in_flight(store, run):
    """A request noted as sent whose end was never noted is listed, billable and of unknown cost."""
    lost = store.open_request(run.id, "psf__requests-0", 0, "acme/coder-7b", START)
    ended = store.open_request(run.id, "psf__requests-1", 0, "acme/coder-7b", START)
    store.close_request(run.id, ended, a_request("psf__requests-1"))
    first, last = store.requests(run.id)
    assert lost != ended
    assert first == a_request("psf__requests-1")
    assert (last.instance_id, last.outcome, last.cost, last.billable) == (
        "psf__requests-0",
        IN_FLIGHT,
        None,
        True,
    )


@pytest.mark.parametrize(
    "text", ["nul \0 byte", "lone \ud800 surrogate", "\x1b[2J", "'; DROP TABLE runs; --", "\r\n\u2028"]
)
def test_hostile_patches_survive_unchanged(store, run, text):
    """A patch, whatever is in it, comes back character for character; words about it stay storable."""
    store.add_attempt(run.id, an_attempt(patch=text, note=text, transcript=({"content": text},)))
    store.add_record(run.id, a_record(patch=text, explanation=text, failed=(text,), evidence={"x": text}))
    attempt, record = store.attempt(run.id, "psf__requests-0"), store.record(run.id, "psf__requests-0")
    assert attempt.patch == record.patch == text
    assert attempt.transcript == ({"content": text},)
    assert (record.failed, record.evidence) == ((text,), {"x": text})
    assert record.explanation == text.replace("\0", "\ufffd").replace("\ud800", "\ufffd")


def test_money_is_exact(store, run):
    """Amounts no binary float can hold come back digit for digit."""
    amount = Decimal("0.1000000000000000000000000001")
    store.add_request(run.id, a_request(cost=amount))
    assert store.requests(run.id)[0].cost == amount


def test_moments_are_kept_in_utc(store, run):
    """A moment of any time zone is stored as the same moment in UTC, one without is refused."""
    east = datetime(2026, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=5)))
    store.add_request(run.id, a_request(started_at=east))
    assert store.requests(run.id)[0].started_at == east
    assert store.requests(run.id)[0].started_at.tzinfo is UTC
    with pytest.raises(StoreError, match="time zone"):
        store.add_request(run.id, a_request(started_at=datetime(2026, 1, 1)))


def test_run_ids_are_short_and_sort_by_age(store):
    """An id is date, minute, name and four characters, safe as a file name whatever the name was."""
    run = store.create_run(a_config(), name="../Step 200 [bold]")
    assert re.fullmatch(r"\d{8}-\d{4}-step-200-bold-[0-9a-f]{4}", run.id)
    assert run.id.startswith(f"{run.created_at:%Y%m%d-%H%M}")
    assert store.run(run.id).name == "../Step 200 [bold]"


def test_a_run_is_found_by_id_name_beginning_or_as_latest(store):
    """Every way to name a run leads to it; what is ambiguous or absent is refused by naming the choices."""
    first, second = (
        store.create_run(a_config(), name="step-100"),
        store.create_run(a_config(), name="step-200"),
    )
    assert store.run("latest") == second
    assert store.run("step-100") == store.run(first.id) == store.run(first.id[:-1]) == first
    with pytest.raises(InputError, match=f"(?s)2 runs.*{first.id}.*{second.id}") as ambiguous:
        store.run("20")
    assert ambiguous.value.exit_code == 2
    for absent in ("%", "", "step"):
        with pytest.raises(InputError, match="no run answers"):
            store.run(absent)
    with pytest.raises(InputError, match="latest"):
        store.create_run(a_config(), name="latest")


def test_finish_is_noted(store, run):
    """A run has no end until one is noted."""
    assert store.run(run.id).finished_at is None
    store.finish(run.id)
    assert store.run(run.id).finished_at >= run.created_at


def test_rows_of_an_unknown_run_are_refused(store):
    """Nothing is recorded about a run that does not exist."""
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        store.add_attempt("nowhere", an_attempt())


def test_sessions_end_with_the_last_thing_written(store, run):
    """Each session spans from taking the run to its last row, also when a later session follows."""
    for number in range(2):
        with store.lease(run.id):
            store.add_attempt(run.id, an_attempt(sample=number))
    with store.lease(run.id):
        pass
    first, second, idle = store.sessions(run.id)
    assert (
        first.started_at
        < first.last_at
        < second.started_at
        < second.last_at
        < idle.started_at
        == idle.last_at
    )


def test_many_threads_write_at_once(store, run):
    """Rows written by many threads at the same moment are all there, none twice."""
    start = threading.Barrier(8)

    def write(thread: int) -> None:
        start.wait()
        for number in range(10):
            store.add_attempt(run.id, an_attempt(f"t-{thread}", number, patch=f"{number}"))
            store.add_record(run.id, a_record(f"t-{thread}", number, output=b"x" * number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert len({(row.instance_id, row.sample) for row in store.records(run.id)}) == 80
    assert store.attempt(run.id, "t-7", 9).patch == "9"


def test_equal_content_is_kept_once(store):
    """The same bytes written twice are one file."""
    assert store.artifacts.write(b"same") == store.artifacts.write(b"same")
    assert sum(path.is_file() for path in store.artifacts.directory.rglob("*")) == 1


def test_a_changed_artefact_is_noticed(store, run):
    """A file altered behind the store's back is refused, not shown."""
    store.add_record(run.id, a_record(output=b"honest"))
    name = store.artifacts.write(b"honest")
    store.artifacts.path(name).write_bytes(b"forged")
    with pytest.raises(StoreError, match="changed after it was written"):
        store.record(run.id, "psf__requests-0")


def test_usage_is_kept_apart_from_unknown(store, run):
    """Zero tokens and no report of tokens are told apart."""
    store.add_request(run.id, a_request(usage=Usage(0, 0, 0)))
    store.add_request(run.id, a_request(usage=None))
    assert [request.usage for request in store.requests(run.id)] == [Usage(0, 0, 0), None]


def test_reading_makes_no_store(tmp_path):
    """Where no store is, one that is only to be read is refused and nothing appears."""
    with pytest.raises(InputError, match="no store in"):
        Store.open(tmp_path / "nowhere", create=False)
    assert not (tmp_path / "nowhere").exists()


def test_the_store_can_live_anywhere_a_path_can(tmp_path: Path):
    """A directory whose name holds spaces, quotes and URL characters is a store like any other."""
    directory = tmp_path / "a b?c#d%20'e"
    with Store.open(directory) as store:
        run = store.create_run(a_config())
    assert (directory / "assay.db").exists()
    with Store.open(directory) as store:
        assert store.run("latest") == run
