"""A run that is killed again and again comes to the same end, and pays for next to nothing twice."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rude_server import Rude
from toy_model import asked, toy_model
from toy_set import ToySet

from results.record import Run
from results.store import IN_FLIGHT, Store
from results.summary import Summary, summarise

ASSAY = Path(sys.executable).with_name("assay")
KILLS = 5
AT_ONCE = 2
SAMPLES = 3
ANSWER_S = 0.3
"""All answers together take longer than all kills: the last one still finds something to do."""
LATEST_S = 0.5
PATIENCE_S = 300


def start(*words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [ASSAY, "run", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def finish(*words: object) -> None:
    with start(*words) as process:
        output, _ = process.communicate()
    assert process.returncode == 0, output.decode()


def results(folder: Path) -> tuple[Store, Run, Summary]:
    store = Store.open(folder)
    run = store.run("latest")
    return store, run, summarise(store.ledger(run))


def done(folder: Path, model: Rude) -> int:
    """Grows with everything a run gets done."""
    if not (folder / "assay.db").exists():
        return 0
    with Store.open(folder) as store:
        judged = sum(len(store.records(run.id)) for run in store.runs())
    return judged + len(model.asked)


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert process.poll() is None, f"it ended before it was killed: {process.communicate()[0].decode()}"
        assert time.monotonic() < deadline, "it gets nothing done"
        time.sleep(0.02)


def comparable(summary: Summary) -> dict[str, Any]:
    """What the final table says of the model, without money and time."""
    return summary.model_dump(
        include={"total", "done", "verdicts", "reasons", "rate", "flags", "quarantined"}
    )


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_as_if_it_had_not_been(toys: ToySet, tmp_path: Path) -> None:
    """Same verdicts, one attempt and one verdict each, and what was asked twice is on the bill."""
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    moments = []
    with toy_model(toys.tasks, wait=lambda: time.sleep(ANSWER_S)) as model:
        run = ("-d", toys.file, "--repo-url", toys.repo_url, "-n", SAMPLES, "-m", "assay-demo")
        run += ("--base-url", model.base_url, "--price-in", 1, "--price-out", 4, "--concurrency", AT_ONCE)
        run += ("--context", "oracle")  # ranks nothing, so it starts faster
        run += ("--sandbox", "bubblewrap", "-j", 2)
        finish(*run, "-o", calm)
        model.asked.clear()
        words: tuple[object, ...] = (*run, "-o", killed)
        for _ in range(KILLS):
            before = done(killed, model)
            with start(*words) as process:
                wait_until(lambda: done(killed, model) > before, process)  # noqa: B023 - called at once
                moments.append(random.uniform(0, LATEST_S))
                time.sleep(moments[-1])
                process.send_signal(signal.SIGKILL)
            words = ("--resume", "latest", "-o", killed)
        finish(*words)
        questions = Counter(asked(model, toys.tasks))
    told = f"killed {moments} seconds after something happened"
    (_, _, undisturbed), (store, run_, summary) = results(calm), results(killed)
    assert comparable(summary) == comparable(undisturbed), told
    keys = Counter({(name, sample): 1 for name in toys.names for sample in range(SAMPLES)})
    assert Counter((each.instance_id, each.sample) for each in store.attempts(run_.id)) == keys, told
    with store._engine.connect() as connection:
        lasting = "select instance_id, sample from records where verdict != 'INFRA_ERROR'"
        assert Counter(tuple(row) for row in connection.exec_driver_sql(lasting)) == keys, told
    billed = Counter((each.instance_id, each.sample) for each in store.requests(run_.id))
    assert questions <= billed, told
    assert (questions - keys).total() <= KILLS * AT_ONCE, told
    lost = [each for each in store.requests(run_.id) if each.outcome == IN_FLIGHT]
    assert summary.bill.unpriced == len(lost), told
    assert summary.sessions == KILLS + 1
