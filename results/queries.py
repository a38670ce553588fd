"""What is asked of the tables."""

from typing import Any

from sqlalchemy import Select, Table, func, select, union_all

from results import schema


def runs() -> Select[Any]:
    """Runs, oldest first, with the moment they were last finished."""
    finished = (
        select(func.max(schema.finishes.c.at))
        .where(schema.finishes.c.run_id == schema.runs.c.id)
        .scalar_subquery()
        .label("finished_at")
    )
    return select(schema.runs, finished).order_by(schema.runs.c.created_at, schema.runs.c.id)


def of_run(table: Table, run_id: str) -> Select[Any]:
    return select(table).where(table.c.run_id == run_id).order_by(table.c.id)


def last_records(run_id: str) -> Select[Any]:
    """Of the records of one task and sample, the one written last."""
    last = (
        select(func.max(schema.records.c.id))
        .where(schema.records.c.run_id == run_id)
        .group_by(schema.records.c.instance_id, schema.records.c.sample)
    )
    return of_run(schema.records, run_id).where(schema.records.c.id.in_(last))


def lost_requests(run_id: str) -> Select[Any]:
    """Requests that left and have no end."""
    ended = select(schema.requests.c.sent_id).where(schema.requests.c.sent_id.is_not(None))
    return of_run(schema.sent, run_id).where(schema.sent.c.id.not_in(ended))


def sessions(run_id: str) -> Select[Any]:
    """Sessions with the last thing written before the next one began; a killed process notes no end."""
    begun = (
        select(
            schema.sessions,
            func.lead(schema.sessions.c.at).over(order_by=schema.sessions.c.id).label("next_at"),
        )
        .where(schema.sessions.c.run_id == run_id)
        .subquery()
    )
    written = union_all(
        *(
            select(table.c.at).where(table.c.run_id == run_id)
            for table in (
                schema.sent,
                schema.requests,
                schema.costs,
                schema.attempts,
                schema.records,
                schema.finishes,
            )
        )
    ).subquery()
    last = (
        select(func.max(written.c.at))
        .where(written.c.at >= begun.c.at, (begun.c.next_at.is_(None)) | (written.c.at < begun.c.next_at))
        .scalar_subquery()
    )
    return select(
        begun.c.host,
        begun.c.pid,
        begun.c.at.label("started_at"),
        func.coalesce(last, begun.c.at).label("last_at"),
    ).order_by(begun.c.id)
