"""The durable record of runs: one database, and files beside it.

Every method may be called from any thread. What a method returned from survives `kill -9` and loss of power;
what it raised `StoreError` from was not recorded at all.
"""

import json
import os
import re
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, Select, Table, insert
from sqlalchemy.exc import IntegrityError

from results import queries, rows, schema
from results.artifacts import Artifacts
from results.database import faults, open_database
from results.record import (
    Attempt,
    AttemptRow,
    Cost,
    Ledger,
    Record,
    RecordRow,
    Request,
    Run,
    RunConfig,
    Session,
)
from tasks.errors import InputError, StoreError

IN_FLIGHT = "in flight"
"""Outcome of a request whose end was never seen: paid for, perhaps, and nobody knows how much."""


class Store:
    """Runs and everything written about them, under one directory."""

    def __init__(self, directory: Path, engine: Engine, artifacts: Artifacts) -> None:
        self.directory = directory
        self.artifacts = artifacts
        self._engine = engine
        # SQLite lets one writer in at a time and makes the others poll; a lock wakes them in turn.
        self._writing = threading.Lock()

    @classmethod
    def open(
        cls, directory: Path, url: str | URL | None = None, *, create: bool = True, busy_s: float = 30.0
    ) -> Self:
        """Opens the store in `directory`, making or migrating it as needed.

        Args:
            directory: holds `assay.db` and `artifacts/`.
            url: another database than `assay.db`, as SQLAlchemy writes it; the files stay in `directory`.
            create: make it if it is not there; commands that only read should not.
            busy_s: how long to wait for other writers.

        Raises:
            InputError: there is none and `create` is not set.
            StoreError: it cannot be read or written, or a newer version wrote it.
        """
        if not create and not (directory / "artifacts").is_dir():
            raise InputError(f"there is no store in {directory}", "Name the directory runs were written to.")
        with faults("open the store", directory):
            artifacts = Artifacts(directory / "artifacts")
            place = url or URL.create("sqlite", database=str(directory / "assay.db"))
            engine = open_database(place, directory / "migrate.lock", busy_s)
        return cls(directory, engine, artifacts)

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Runs

    def create_run(self, config: RunConfig, name: str = "", tags: tuple[str, ...] = ()) -> Run:
        """A new run. Its id begins with the date, so ids sort by age; names (default: the solver) may repeat.

        Raises:
            InputError: the name is one the store understands otherwise.
            StoreError: it could not be recorded.
        """
        name = name or config.solver
        if name == "latest":
            raise InputError(
                "a run cannot be named 'latest'", "That word stands for the newest run; choose another."
            )
        now = datetime.now(UTC)
        slug = re.sub(r"[^a-z0-9.]+", "-", name.lower())[:32].strip("-.") or "run"
        with faults("create a run", self.directory):
            while True:
                run = Run(f"{now:%Y%m%d-%H%M}-{slug}-{secrets.token_hex(2)}", name, now, config, tags=tags)
                with suppress(IntegrityError), self._write() as connection:  # the id is taken: draw again
                    connection.execute(insert(schema.runs).values(rows.run_values(run)))
                    return run

    def runs(self) -> tuple[Run, ...]:
        """All runs, oldest first."""
        return tuple(rows.run_of(row) for row in self._read(queries.runs()))

    def run(self, reference: str) -> Run:
        """The run with that id, name or unique beginning of an id; `latest` is the newest.

        Raises:
            InputError: no run, or more than one, answers to it.
        """
        runs = self.runs()
        if reference == "latest" and runs:
            return runs[-1]
        for matches in (
            [run for run in runs if run.id == reference],
            [run for run in runs if run.name == reference],
            [run for run in runs if reference and run.id.startswith(reference)],
        ):
            if len(matches) == 1:
                return matches[0]
            if matches:
                ids = ", ".join(run.id for run in matches)
                raise InputError(
                    f"{len(matches)} runs answer to {reference!r}", f"Give one of their ids: {ids}"
                )
        raise InputError(
            f"no run answers to {reference!r}", f"`assay runs` lists the {len(runs)} runs of this store."
        )

    @contextmanager
    def lease(self, run_id: str) -> Iterator[None]:
        """Holds the run for this process; should the process die, the kernel lets go of it.

        Raises:
            StoreError: another process holds it.
        """
        lock = FileLock(self.directory / "leases" / f"{run_id}.lock", thread_local=False)
        with faults("take the run", self.directory):
            (self.directory / "leases").mkdir(exist_ok=True)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                holders = self.sessions(run_id)
                who = f"process {holders[-1].pid} on {holders[-1].host}" if holders else "another process"
                raise StoreError(
                    f"run {run_id} is being worked on by {who}",
                    "Wait for it or end it; then resume. Two at once would pay for the same attempts twice.",
                ) from None
        try:
            self._add(schema.sessions, run_id, {"host": socket.gethostname(), "pid": os.getpid()})
            yield
        finally:
            lock.release()

    def finish(self, run_id: str) -> None:
        """Notes that nothing is owed any more."""
        self._add(schema.finishes, run_id, {})

    def sessions(self, run_id: str) -> tuple[Session, ...]:
        """Processes that worked on the run, in order."""
        return tuple(Session(**row) for row in self._read(queries.sessions(run_id)))

    # What a run writes

    def open_request(
        self,
        run_id: str,
        instance_id: str,
        sample: int,
        model: str,
        started_at: datetime,
        *,
        billable: bool = True,
    ) -> int:
        """Notes that a request is about to leave, so its cost is missed if its end is never seen."""
        return self._add(
            schema.sent,
            run_id,
            {
                "instance_id": instance_id,
                "sample": sample,
                "model": model,
                "started_at": started_at,
                "billable": billable,
            },
        )

    def close_request(self, run_id: str, sent_id: int, request: Request) -> None:
        """Notes how the request that `open_request` returned `sent_id` for came to an end."""
        self._add(schema.requests, run_id, rows.request_values(request) | {"sent_id": sent_id})

    def add_request(self, run_id: str, request: Request) -> None:
        """Notes a request whose departure was not noted."""
        self._add(schema.requests, run_id, rows.request_values(request))

    def add_cost(self, run_id: str, cost: Cost) -> None:
        self._add(schema.costs, run_id, {"kind": cost.kind, "amount": cost.amount, "detail": cost.detail})

    def add_attempt(self, run_id: str, attempt: Attempt) -> None:
        """
        Raises:
            StoreError: this task and sample has an attempt already, or it could not be recorded.
        """
        self._add(
            schema.attempts,
            run_id,
            {
                "instance_id": attempt.instance_id,
                "sample": attempt.sample,
                "note": attempt.note,
                "seconds": attempt.seconds,
            },
            patch_file=rows.encode_text(attempt.patch),
            transcript_file=rows.encode_json(attempt.transcript),
        )

    def add_record(self, run_id: str, record: Record) -> None:
        self._add(
            schema.records,
            run_id,
            rows.record_row_values(record),
            patch_file=rows.encode_text(record.patch),
            output_file=record.output,
            evidence_file=rows.encode_json(record.evidence),
        )

    # What was written

    def requests(self, run_id: str) -> tuple[Request, ...]:
        """Every request as noted; last come those still open or lost with their process, as `in flight`."""
        unknown = {"seconds": 0.0, "outcome": IN_FLIGHT, "usage": None, "price": None, "cost": None}
        return (
            *(rows.request_of(row) for row in self._read(queries.of_run(schema.requests, run_id))),
            *(rows.request_of({**row, **unknown}) for row in self._read(queries.lost_requests(run_id))),
        )

    def costs(self, run_id: str) -> tuple[Cost, ...]:
        return tuple(rows.cost_of(row) for row in self._read(queries.of_run(schema.costs, run_id)))

    def attempts(self, run_id: str) -> tuple[AttemptRow, ...]:
        return tuple(rows.attempt_row_of(row) for row in self._read(queries.of_run(schema.attempts, run_id)))

    def records(self, run_id: str) -> tuple[RecordRow, ...]:
        """The last record of each task and sample, in the order they were written."""
        return tuple(
            RecordRow(**rows.record_row_fields(row)) for row in self._read(queries.last_records(run_id))
        )

    def attempt(self, run_id: str, instance_id: str, sample: int = 0) -> Attempt:
        """
        Raises:
            InputError: there is none.
        """
        row = self._one(queries.of_run(schema.attempts, run_id), schema.attempts, instance_id, sample)
        with faults("read an attempt", self.directory):
            return Attempt(
                instance_id=instance_id,
                sample=sample,
                patch=rows.decode_text(self.artifacts.read(row["patch_file"])),
                note=row["note"],
                seconds=row["seconds"],
                transcript=tuple(json.loads(self.artifacts.read(row["transcript_file"]))),
            )

    def patch(self, run_id: str, instance_id: str, sample: int = 0) -> str:
        """The patch of an attempt, as submitted.

        Raises:
            InputError: there is no such attempt.
        """
        row = self._one(queries.of_run(schema.attempts, run_id), schema.attempts, instance_id, sample)
        with faults("read a patch", self.directory):
            return rows.decode_text(self.artifacts.read(row["patch_file"]))

    def record(self, run_id: str, instance_id: str, sample: int = 0) -> Record:
        """The last record of one task and sample, with patch, output and evidence.

        Raises:
            InputError: there is none.
        """
        row = self._one(queries.last_records(run_id), schema.records, instance_id, sample)
        with faults("read a record", self.directory):
            return Record(
                **rows.record_row_fields(row),
                patch=rows.decode_text(self.artifacts.read(row["patch_file"])),
                output=self.artifacts.read(row["output_file"]),
                evidence=json.loads(self.artifacts.read(row["evidence_file"])),
            )

    def ledger(self, run: Run) -> Ledger:
        """All that is listed about a run: what its summary is made of."""
        return Ledger(
            run=run,
            sessions=self.sessions(run.id),
            requests=self.requests(run.id),
            costs=self.costs(run.id),
            attempts=self.attempts(run.id),
            records=self.records(run.id),
        )

    # Plumbing

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._writing, self._engine.begin() as connection:
            yield connection

    def _add(self, table: Table, run_id: str, values: dict[str, Any], **files: bytes) -> int:
        """One row. Its files go first: a row never names a file that is not there."""
        with faults(f"write to {table.name}", self.directory):
            names = {column: self.artifacts.write(content) for column, content in files.items()}
            row = values | names | {"run_id": run_id, "at": datetime.now(UTC)}
            with self._write() as connection:
                added = connection.execute(insert(table).values(row).returning(table.c.id))
                return int(added.scalar_one())

    def _read(self, query: Select[Any]) -> list[rows.Row]:
        with faults("read", self.directory), self._engine.connect() as connection:
            found = connection.execute(query)
            names = tuple(found.keys())
            return [dict(zip(names, row, strict=True)) for row in found.all()]

    def _one(self, query: Select[Any], table: Table, instance_id: str, sample: int) -> rows.Row:
        found = self._read(query.where(table.c.instance_id == instance_id, table.c.sample == sample))
        if not found:
            raise InputError(
                f"the run has nothing on {instance_id}, sample {sample}",
                "`assay runs show` lists what it has.",
            )
        return found[0]
