import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from result_factories import a_config, a_record, a_request, an_attempt
from sqlalchemy import create_engine

from results.owed import owed
from results.record import Official
from results.schema import REVISION, metadata
from results.store import Store
from tasks.errors import StoreError

FIRST_COLUMNS = (
    "instance_id",
    "sample",
    "reason",
    "explanation",
    "f2p_passed",
    "f2p_total",
    "p2p_passed",
    "p2p_total",
    "tries",
    "task_digest",
    "environment_digest",
    "patch_digest",
    "backend",
    "grader_version",
)
"""Of the first version's records, those whose values are stored as they are."""


def alembic() -> Config:
    config = Config()
    config.set_main_option("script_location", "results:migrations")
    return config


def revisions() -> list[str]:
    return [script.revision for script in ScriptDirectory.from_config(alembic()).walk_revisions()]


def revision_of(directory: Path) -> str:
    with sqlite3.connect(directory / "assay.db") as connection:
        return connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]


def test_the_schema_names_the_newest_migration():
    """What the program takes for current is where the migrations lead."""
    assert ScriptDirectory.from_config(alembic()).get_current_head() == REVISION


def test_migrations_make_what_the_schema_says(tmp_path):
    """Tables made by migrating are the tables the program reads and writes, column for column."""
    Store.open(tmp_path).close()
    with create_engine(f"sqlite:///{tmp_path}/assay.db").connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


@pytest.mark.parametrize("revision", revisions())
def test_a_store_of_any_earlier_version_opens(tmp_path, revision):
    """A store of each version there has been is brought up to date with its runs kept."""
    config = alembic()
    with create_engine(f"sqlite:///{tmp_path}/assay.db").begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.exec_driver_sql(
            "INSERT INTO runs (id, name, created_at, config, tags) VALUES (?, ?, ?, ?, ?)",
            ("old", "old", "2026-01-01T00:00:00.000000+00:00", a_config().model_dump_json(), "[]"),
        )
    with Store.open(tmp_path) as store:
        assert store.run("old").config == a_config()
        store.add_record("old", a_record())
    assert revision_of(tmp_path) == REVISION


def test_records_of_the_first_version_keep_what_they_say(tmp_path):
    """Their official-compatible verdict is unknown, which is no verdict; new records bring theirs."""
    row = {name: getattr(a_record(), name) for name in FIRST_COLUMNS} | {
        "verdict": "RESOLVED",
        "flags": '["fuzzy_apply"]',
        "failed": "[]",
        "spent": "{}",
        "started_at": "2026-01-01T00:00:00.000000+00:00",
        "at": "2026-01-01T00:00:00.000000+00:00",
        "run_id": "old",
        **dict.fromkeys(("patch_file", "output_file", "evidence_file"), "0" * 64),
    }
    config = alembic()
    with create_engine(f"sqlite:///{tmp_path}/assay.db").begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.exec_driver_sql(
            "INSERT INTO runs (id, name, created_at, config, tags) VALUES (?, ?, ?, ?, ?)",
            ("old", "old", "2026-01-01T00:00:00.000000+00:00", a_config().model_dump_json(), "[]"),
        )
        columns, places = ", ".join(row), ", ".join("?" * len(row))
        connection.exec_driver_sql(f"INSERT INTO records ({columns}) VALUES ({places})", tuple(row.values()))
    with Store.open(tmp_path) as store:
        store.add_record(
            "old", a_record("psf__requests-1", official=Official.RESOLVED, official_reason="resolved")
        )
        old, new = store.records("old")
    assert (old.verdict, old.flags, old.official, old.official_reason) == (
        "RESOLVED",
        ("fuzzy_apply",),
        "",
        "",
    )
    assert (new.official, new.official_reason) == (Official.RESOLVED, "resolved")


def test_a_newer_store_is_refused_untouched(tmp_path):
    """A store of a version still to come is refused clearly, and nothing in it changes."""
    with Store.open(tmp_path) as store:
        store.create_run(a_config())
    with sqlite3.connect(tmp_path / "assay.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        before = list(connection.iterdump())
    with pytest.raises(StoreError, match=r"newer version of Assay.*9999") as refused:
        Store.open(tmp_path)
    assert "Upgrade Assay" in refused.value.remedy
    with sqlite3.connect(tmp_path / "assay.db") as connection:
        assert list(connection.iterdump()) == before


def test_a_migration_that_fails_leaves_no_trace(tmp_path, monkeypatch):
    """When a migration breaks half-way the store is as it was before."""
    real = command.upgrade

    def broken(config: Config, revision: str) -> None:
        real(config, revision)
        raise OSError("power")

    monkeypatch.setattr(command, "upgrade", broken)
    with pytest.raises(StoreError, match="power"):
        Store.open(tmp_path)
    with sqlite3.connect(tmp_path / "assay.db") as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("psycopg", reason="needs the psycopg driver")
    programs = shutil.which("initdb"), shutil.which("pg_ctl")
    if None in programs or os.geteuid() == 0:
        pytest.skip("needs PostgreSQL's programs and an unprivileged user")
    home = tmp_path_factory.mktemp("pg")
    subprocess.run(
        ["initdb", "-D", home / "data", "-U", "assay", "-A", "trust"], check=True, capture_output=True
    )
    # The server outlives pg_ctl and would hold a pipe open: its words go to a file.
    server = ["pg_ctl", "-D", home / "data", "-s", "-w", "-l", home / "log"]
    options = f"-k {home} -c listen_addresses=''"
    subprocess.run([*server, "-o", options, "start"], check=True, stdout=subprocess.DEVNULL)
    yield f"postgresql+psycopg://assay@/postgres?host={home}"
    subprocess.run([*server, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL)


def test_postgresql_holds_a_store_too(tmp_path, postgres):
    """A store with its rows in PostgreSQL behaves as one in SQLite, NUL bytes included."""
    with Store.open(tmp_path, postgres) as store:
        run = store.create_run(a_config())
        with store.lease(run.id):
            lost = store.open_request(run.id, "psf__requests-1", 0, "m", a_request().started_at)
            store.close_request(run.id, lost, a_request("psf__requests-1"))
            store.open_request(run.id, "psf__requests-2", 0, "m", a_request().started_at)
            store.add_attempt(run.id, an_attempt(patch="nul \0"))
            store.add_record(run.id, a_record(explanation="nul \0", failed=("nul \0",)))
            store.finish(run.id)
    with Store.open(tmp_path, postgres) as store:
        ledger = store.ledger(store.run("latest"))
        assert store.record(run.id, "psf__requests-0").failed == ("nul \0",)
        assert len(ledger.requests) == 2
        assert len(ledger.sessions) == 1
        assert len(owed(run.config, ledger.attempts, ledger.records)) == 2
