"""The tables. Rows are added, never changed: a run can be read at any moment, a killed one has lost nothing.

    runs ──< sessions    a process took the run
         ──< finishes    nothing was owed any more
         ──< sent        a request left for the provider
         ──< requests    … and came to an end
         ──< costs       money spent on the run as a whole
         ──< attempts    a patch, once per task and sample
         ──< records     a verdict; the last one per task and sample counts

Types are those SQLite and PostgreSQL share. Columns named `*_file` hold the name of an artefact.
"""

# ruff: noqa: ARG002 - the signatures are SQLAlchemy's

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

REVISION = "0002"
"""The newest migration: what a store looks like when this program has opened it."""


class Instant(TypeDecorator[datetime]):
    """A moment as ISO 8601 text in UTC: sorts as text, and means the same in every database."""

    impl = String(32)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment without a time zone: {value!r}")
        return value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value)


class Dollars(TypeDecorator[Decimal]):
    """An exact amount, as text: a binary float cannot hold a tenth of a cent."""

    impl = String(64)
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Decimal | None:
        return None if value is None else Decimal(value)


class Words(TypeDecorator[str]):
    """Text from anywhere. NUL (refused by PostgreSQL) and lone surrogates (not UTF-8) become U+FFFD."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


def _of_run() -> tuple[Column[Any], ...]:
    """What every row about a run begins with: `at` is when it was written."""
    return (
        Column("id", Integer, primary_key=True),
        Column("run_id", String(64), ForeignKey("runs.id"), nullable=False),
        Column("at", Instant, nullable=False),
    )


def _key() -> tuple[Column[Any], ...]:
    """Which attempt of the run a row is about."""
    return Column("instance_id", String(200), nullable=False), Column("sample", Integer, nullable=False)


runs = Table(
    "runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", Words, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("config", JSON, nullable=False),
    Column("tags", JSON, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    *_of_run(),
    Column("host", Words, nullable=False),
    Column("pid", Integer, nullable=False),
    Index("ix_sessions_run", "run_id", "id"),
)

finishes = Table("finishes", metadata, *_of_run(), Index("ix_finishes_run", "run_id", "id"))

sent = Table(
    "sent",
    metadata,
    *_of_run(),
    *_key(),
    Column("model", Words, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("billable", Boolean, nullable=False),
    Index("ix_sent_run", "run_id", "id"),
)

requests = Table(
    "requests",
    metadata,
    *_of_run(),
    *_key(),
    Column("sent_id", Integer, ForeignKey("sent.id"), unique=True),
    Column("model", Words, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("outcome", Words, nullable=False),
    Column("usage", JSON(none_as_null=True)),
    Column("price", JSON(none_as_null=True)),
    Column("cost", Dollars),
    Column("billable", Boolean, nullable=False),
    Index("ix_requests_run", "run_id", "id"),
)

costs = Table(
    "costs",
    metadata,
    *_of_run(),
    Column("kind", Words, nullable=False),
    Column("amount", Dollars, nullable=False),
    Column("detail", Words, nullable=False),
    Index("ix_costs_run", "run_id", "id"),
)

attempts = Table(
    "attempts",
    metadata,
    *_of_run(),
    *_key(),
    Column("note", Words, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("patch_file", String(64), nullable=False),
    Column("transcript_file", String(64), nullable=False),
    UniqueConstraint("run_id", "instance_id", "sample", name="uq_attempts_key"),
)

records = Table(
    "records",
    metadata,
    *_of_run(),
    *_key(),
    Column("verdict", String(32), nullable=False),
    Column("reason", Words, nullable=False),
    Column("explanation", Words, nullable=False),
    Column("flags", JSON, nullable=False),
    Column("f2p_passed", Integer, nullable=False),
    Column("f2p_total", Integer, nullable=False),
    Column("p2p_passed", Integer, nullable=False),
    Column("p2p_total", Integer, nullable=False),
    Column("failed", JSON, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("spent", JSON, nullable=False),
    Column("task_digest", String(128), nullable=False),
    Column("environment_digest", String(128), nullable=False),
    Column("patch_digest", String(128), nullable=False),
    Column("backend", String(64), nullable=False),
    Column("grader_version", String(64), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("patch_file", String(64), nullable=False),
    Column("output_file", String(64), nullable=False),
    Column("evidence_file", String(64), nullable=False),
    Column("official", String(32), nullable=False, server_default=""),
    Column("official_reason", Words, nullable=False, server_default=""),
    Index("ix_records_key", "run_id", "instance_id", "sample", "id"),
)
