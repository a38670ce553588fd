"""One open database: settings under which a committed row stays, the schema kept current, faults named."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from results.schema import REVISION
from tasks.errors import StoreError


def open_database(url: str | URL, lock: Path, busy_s: float) -> Engine:
    """Connects, and migrates what an earlier version left.

    Args:
        url: of the database.
        lock: a file that keeps processes from migrating at the same time.
        busy_s: how long a statement waits for another writer.

    Raises:
        StoreError: the database was written by a newer version.
        SQLAlchemyError, OSError: it can not be opened.
    """
    engine = create_engine(url, pool_size=32, max_overflow=-1)
    if make_url(url).get_backend_name() == "sqlite":

        @event.listens_for(engine, "connect")
        def _settings(connection: Any, _: Any) -> None:
            connection.isolation_level = None  # the driver would leave CREATE TABLE outside the transaction
            connection.execute(f"PRAGMA busy_timeout = {int(busy_s * 1000)}")
            connection.execute("PRAGMA journal_mode = WAL")
            # FULL: a commit is on the disk when it returns. It costs one flush a row, milliseconds beside an
            # attempt of seconds; NORMAL would lose rows that were paid for when the power goes.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN")

    try:
        with engine.connect() as connection:
            revision = _revision(connection)
        if revision != REVISION:
            with FileLock(lock), engine.begin() as connection:
                _migrate(connection)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def _migrate(connection: Connection) -> None:
    # Imported here because it is slow to import and needed once in a store's life.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "results:migrations")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    revision = _revision(connection)
    if revision is not None and revision not in known:
        raise StoreError(
            f"the store was written by a newer version of Assay (its schema is {revision!r}, "
            f"this version knows {REVISION!r})",
            "Upgrade Assay, or choose another store directory. Nothing was changed.",
        )
    command.upgrade(config, "head")


@contextmanager
def faults(what: str, where: object) -> Iterator[None]:
    """Turns what the disk or the database refuses into a `StoreError` with its remedy.

    Args:
        what: what was being done, as in "cannot …".
        where: the store.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        cause = str(getattr(error, "orig", None) or error).strip()
        raise StoreError(f"cannot {what} in {where}: {cause}", _remedy(error, cause.lower())) from error


def _remedy(error: Exception, cause: str) -> str:
    number = error.errno if isinstance(error, OSError) else None
    for numbers, words, remedy in _REMEDIES:
        if number in numbers or any(word in cause for word in words):
            return remedy
    return "Nothing was recorded by this step; everything recorded before is kept."


_REMEDIES: tuple[tuple[tuple[int, ...], tuple[str, ...], str], ...] = (
    (
        (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
        ("is full", "disk i/o error"),
        "Free space there (`df -h`) and resume the run: everything recorded before is kept.",
    ),
    (
        (errno.EROFS, errno.EACCES, errno.EPERM),
        ("readonly database", "unable to open database"),
        "The directory must be writable by you; choose another one if it cannot be.",
    ),
    ((), ("is locked",), "Another process has held the database for too long; end it, then resume the run."),
    (
        (errno.ENOENT, errno.ENOTDIR),
        (),
        "That place cannot be made, or a file of the store is gone; check -o.",
    ),
    (
        (errno.EIO,),
        ("not a database", "malformed"),
        "The store is damaged. Restore it from a copy, or move the directory away and start a new one.",
    ),
    (
        (),
        ("unique constraint", "foreign key constraint"),
        "It contradicts what is recorded already, so it was left out; is another process at this run?",
    ),
)
