"""Runs and everything they write down.

Column types are spelled out rather than taken from the schema module: that one moves on, this one never does.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

INSTANT = sa.String(32)
DOLLARS = sa.String(64)
DIGEST = sa.String(128)
FILE = sa.String(64)


def _of_run(table: str) -> tuple[Any, ...]:
    return (
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=f"fk_{table}_run_id"),
    )


def _key() -> tuple[sa.Column[Any], ...]:
    return sa.Column("instance_id", sa.String(200), nullable=False), sa.Column(
        "sample", sa.Integer, nullable=False
    )


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("tags", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_table(
        "sessions",
        *_of_run("sessions"),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
    )
    op.create_table("finishes", *_of_run("finishes"))
    op.create_table(
        "sent",
        *_of_run("sent"),
        *_key(),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("billable", sa.Boolean, nullable=False),
    )
    op.create_table(
        "requests",
        *_of_run("requests"),
        *_key(),
        sa.Column("sent_id", sa.Integer),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("usage", sa.JSON),
        sa.Column("price", sa.JSON),
        sa.Column("cost", DOLLARS),
        sa.Column("billable", sa.Boolean, nullable=False),
        sa.ForeignKeyConstraint(["sent_id"], ["sent.id"], name="fk_requests_sent_id"),
        sa.UniqueConstraint("sent_id", name="uq_requests_sent_id"),
    )
    op.create_table(
        "costs",
        *_of_run("costs"),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("amount", DOLLARS, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_table(
        "attempts",
        *_of_run("attempts"),
        *_key(),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("patch_file", FILE, nullable=False),
        sa.Column("transcript_file", FILE, nullable=False),
        sa.UniqueConstraint("run_id", "instance_id", "sample", name="uq_attempts_key"),
    )
    op.create_table(
        "records",
        *_of_run("records"),
        *_key(),
        sa.Column("verdict", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("explanation", sa.Text, nullable=False),
        sa.Column("flags", sa.JSON, nullable=False),
        sa.Column("f2p_passed", sa.Integer, nullable=False),
        sa.Column("f2p_total", sa.Integer, nullable=False),
        sa.Column("p2p_passed", sa.Integer, nullable=False),
        sa.Column("p2p_total", sa.Integer, nullable=False),
        sa.Column("failed", sa.JSON, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("spent", sa.JSON, nullable=False),
        sa.Column("task_digest", DIGEST, nullable=False),
        sa.Column("environment_digest", DIGEST, nullable=False),
        sa.Column("patch_digest", DIGEST, nullable=False),
        sa.Column("backend", sa.String(64), nullable=False),
        sa.Column("grader_version", sa.String(64), nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("patch_file", FILE, nullable=False),
        sa.Column("output_file", FILE, nullable=False),
        sa.Column("evidence_file", FILE, nullable=False),
    )
    for table in ("sessions", "finishes", "sent", "requests", "costs"):
        op.create_index(f"ix_{table}_run", table, ["run_id", "id"])
    op.create_index("ix_records_key", "records", ["run_id", "instance_id", "sample", "id"])
