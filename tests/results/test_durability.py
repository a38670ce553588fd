import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from result_factories import a_config, a_record, an_attempt

from results.owed import owed
from results.store import Store
from tasks.errors import StoreError

WRITER = Path(__file__).with_name("writer.py")
ROOT = WRITER.parents[2]


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WRITER), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{WRITER.parent}"},
    )


@contextmanager
def small_disk(at: Path, size: str) -> Iterator[Path]:
    at.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(at)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True)


def check_artefacts(store: Store) -> None:
    files = [
        path for path in store.artifacts.directory.rglob("*") if path.is_file() and "drafts" not in path.parts
    ]
    for file in files:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == file.parent.name + file.name


@pytest.mark.parametrize("seed", range(5))
def test_kill_9_loses_nothing_acknowledged(tmp_path, seed):
    """Killed at any moment, a writer leaves every row it was told is kept, whole files, and a free run."""
    moment = random.Random(seed).randrange(1, 80)
    with Store.open(tmp_path) as store:
        run = store.create_run(a_config(samples=1000, instances=("victim",)))
    process = start(tmp_path, run.id, "victim", 1000, "--lease")
    assert process.stdout is not None
    told = [process.stdout.readline() for _ in range(moment + 1)]
    process.kill()
    told += process.stdout.readlines()
    assert process.wait() == -signal.SIGKILL
    acknowledged = {int(line) for line in told[1:] if line.endswith("\n")}
    assert len(acknowledged) >= moment

    with Store.open(tmp_path) as store, store.lease(run.id):
        records, attempts = store.records(run.id), store.attempts(run.id)
        assert acknowledged <= {row.sample for row in records}
        for row in records:
            assert store.record(run.id, "victim", row.sample).output.startswith(
                f"victim {row.sample} ".encode()
            )
        for attempt in attempts:
            assert store.patch(run.id, "victim", attempt.sample)
        due = owed(run.config, attempts, records)
        assert {sample for _, sample in due.solve}.isdisjoint(acknowledged)
        assert {sample for _, sample in due.grade} == {row.sample for row in attempts} - {
            row.sample for row in records
        }
        check_artefacts(store)


def test_processes_write_together(tmp_path):
    """Several processes fill one store at once and every row of each arrives."""
    with Store.open(tmp_path) as store:
        run = store.create_run(a_config())
        writers = [start(tmp_path, run.id, f"w-{number}", 15) for number in range(3)]
        for writer in writers:
            writer.communicate()
            assert writer.returncode == 0
        assert len(store.records(run.id)) == len(store.attempts(run.id)) == len(store.requests(run.id)) == 45


def test_processes_open_a_new_store_together(tmp_path):
    """Processes that meet at a directory without a store make one, not several."""
    code = "import sys, pathlib, results.store as s; s.Store.open(pathlib.Path(sys.argv[1])).runs()"
    openers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "new")], cwd=ROOT) for _ in range(3)
    ]
    assert [opener.wait() for opener in openers] == [0, 0, 0]


def test_a_run_is_worked_on_by_one_process(tmp_path):
    """A second process is refused by name of the first, until the first is gone, even if it was killed."""
    with Store.open(tmp_path) as store:
        run = store.create_run(a_config())
        holder = start(tmp_path, run.id, "h", 100_000, "--lease")
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(StoreError, match=f"process {holder.pid} on") as refused, store.lease(run.id):
            pass
        assert refused.value.exit_code == 7
        holder.kill()
        holder.wait()
        with store.lease(run.id):
            pass


def test_a_run_is_taken_once_within_a_process(tmp_path):
    """Two stores in one process exclude each other as two processes do."""
    with Store.open(tmp_path) as one, Store.open(tmp_path) as other:
        run = one.create_run(a_config())
        with one.lease(run.id), pytest.raises(StoreError), other.lease(run.id):
            pass
        with other.lease(run.id):
            pass


def test_a_file_too_large_is_a_store_error(tmp_path):
    """When a file may not grow any more the writer ends in one clear error, and what was there stays."""
    with Store.open(tmp_path) as store:
        run = store.create_run(a_config())
        store.add_record(run.id, a_record())
        writer = start(tmp_path, run.id, "big", 1000, "--file-limit", 300_000)
        lines = writer.communicate()[0].splitlines()
        assert writer.returncode == 7
        assert lines[-1].startswith("StoreError: cannot write")
        assert "df -h" in lines[-1]
        kept = {row.sample for row in store.records(run.id) if row.instance_id == "big"}
        assert {int(line) for line in lines[1:-1]} <= kept
        assert store.record(run.id, "psf__requests-0") == a_record()
        check_artefacts(store)
        assert not list((tmp_path / "artifacts" / "drafts").iterdir())


def test_a_writer_killed_inside_a_file_leaves_no_such_file(tmp_path):
    """A process that dies with a file half-written leaves a draft, never a file under its name."""
    code = """
import pathlib, resource, signal, sys
from results.artifacts import Artifacts
artifacts = Artifacts(pathlib.Path(sys.argv[1]))
artifacts.write(b"whole")
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
artifacts.write(b"x" * 1_000_000)
"""
    with Store.open(tmp_path) as store:
        place = store.artifacts.directory
        killed = subprocess.run([sys.executable, "-c", code, str(place)], cwd=ROOT, check=False)
        assert killed.returncode == -signal.SIGXFSZ
        assert [draft.stat().st_size for draft in (place / "drafts").iterdir()] == [100_000]
        assert store.artifacts.read(hashlib.sha256(b"whole").hexdigest()) == b"whole"
        check_artefacts(store)


def test_a_full_disk_is_a_store_error(tmp_path):
    """On a full disk nothing is half-written, earlier rows stay, and writing goes on once there is space."""
    with small_disk(tmp_path / "disk", "3m") as disk, Store.open(disk / "store") as store:
        run = store.create_run(a_config())
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 1_000_000)
        written = 0
        with pytest.raises(StoreError, match="df -h"):
            for written in range(1000):
                store.add_record(run.id, a_record(sample=written, output=os.urandom(50_000)))
        assert written > 3
        ballast.unlink()
        with Store.open(disk / "store") as again:
            assert [row.sample for row in again.records(run.id)] == list(range(written))
            check_artefacts(again)
            again.add_record(run.id, a_record(sample=written))
            assert again.record(run.id, "psf__requests-0", written) == a_record(sample=written)


def test_a_read_only_file_system_is_a_store_error(tmp_path):
    """A store that cannot be written is refused on opening, with what to do."""
    with small_disk(tmp_path / "disk", "3m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(StoreError, match="writable"):
            Store.open(disk / "store")


def test_a_store_turned_read_only_is_a_store_error(tmp_path):
    """An existing store on a file system that became read-only is refused with what to do."""
    with small_disk(tmp_path / "disk", "3m") as disk:
        Store.open(disk / "store").close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(StoreError, match="writable"):
            Store.open(disk / "store")


@pytest.mark.parametrize("damage", [lambda content: b"not a database" * 100, lambda content: content[:6000]])
def test_a_damaged_database_is_a_store_error(tmp_path, damage):
    """A database that is not one, or only part of one, is named as damaged."""
    with Store.open(tmp_path) as store:
        store.create_run(a_config())
    file = tmp_path / "assay.db"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(StoreError, match="damaged"), Store.open(tmp_path) as store:
        store.create_run(a_config())


def test_a_locked_database_is_a_store_error(tmp_path):
    """A writer that never lets go ends in a clear error, not in waiting for ever."""
    with Store.open(tmp_path, busy_s=0.1) as store:
        run = store.create_run(a_config())
        with sqlite3.connect(tmp_path / "assay.db", isolation_level=None) as hog:
            hog.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="held the database"):
                store.add_attempt(run.id, an_attempt())
            assert store.runs() == (run,)
            hog.execute("ROLLBACK")
        store.add_attempt(run.id, an_attempt())


def test_old_drafts_of_killed_writers_are_removed(tmp_path):
    """Opening a store removes drafts nobody will finish and leaves those somebody may be writing."""
    with Store.open(tmp_path) as store:
        drafts = store.artifacts.directory / "drafts"
    (drafts / "old").touch()
    (drafts / "new").touch()
    os.utime(drafts / "old", (0, 0))
    with Store.open(tmp_path):
        assert [path.name for path in drafts.iterdir()] == ["new"]
