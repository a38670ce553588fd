"""Many tasks: solve what is unsolved, grade what is ungraded, keep each fact the moment it exists.

A run is a set of owed attempts. Whatever interrupts it, the store tells what is still owed: an attempt with a
patch is never solved again, one with a verdict never graded again. There is no other bookkeeping.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from evaluator.solvers import Solver
from evaluator.workshop import Workshop
from results.record import Attempt, Record, Request, Verdict
from results.store import Store
from tasks.facts import quarantine_of
from tasks.task import Task


@dataclass(frozen=True)
class Work:
    """One owed attempt: `attempt` is None when it must still be solved."""

    task: Task
    sample: int
    attempt: Attempt | None = None


class Grader(Protocol):
    """What the pipeline needs of grading. Both methods block and are called from worker threads."""

    def tree(self, task: Task) -> Path:
        """The repository at its base commit, for the solver to read."""

    def grade(self, task: Task, attempt: Attempt) -> Record:
        """The verdict on an attempt; an infrastructure fault is a verdict too (`INFRA_ERROR`)."""

    def still_works(self) -> None:
        """Raises SandboxUnavailable when the backend has died."""


class Watcher(Protocol):
    """Told of every fact as it is stored, from any thread."""

    def requested(self, request: Request) -> None: ...

    def attempted(self, attempt: Attempt) -> None: ...

    def recorded(self, record: Record) -> None: ...


@dataclass(frozen=True)
class Pipeline:
    """Runs owed work of one run.

    Args of note: `slots` is how many evaluations run at once (one core each), `solvers` how many attempts are
    being solved at once. Solving runs ahead of grading without bound: patches are small, and paid for.
    """

    store: Store
    run_id: str
    solver: Solver
    grader: Grader
    watcher: Watcher
    slots: int
    solvers: int

    async def drain(self, works: Iterable[Work]) -> None:
        """Works off everything owed.

        Raises:
            EndpointError, SandboxUnavailable, StoreError: the first error that no later attempt can escape.
                What was running is finished and stored first; all else stays owed.
        """
        loop = asyncio.get_running_loop()
        solving = asyncio.Semaphore(self.solvers)
        with ThreadPoolExecutor(self.slots, thread_name_prefix="slot") as slots:

            async def one(work: Work) -> None:
                attempt = work.attempt
                if attempt is None:
                    async with solving:
                        attempt = await self._solve(work)
                await loop.run_in_executor(slots, self._grade, work.task, attempt, time.monotonic())

            try:
                async with asyncio.TaskGroup() as group:
                    for work in works:
                        group.create_task(one(work))
            except BaseExceptionGroup as group_error:
                slots.shutdown(wait=True, cancel_futures=True)
                raise _first(group_error) from None
            except BaseException:
                slots.shutdown(wait=True, cancel_futures=True)
                raise

    async def _solve(self, work: Work) -> Attempt:
        def depart(model: str, started_at: datetime, billable: bool) -> Callable[[Request], None]:
            key = work.task.instance_id, work.sample
            sent = self.store.open_request(self.run_id, *key, model, started_at, billable=billable)

            def arrive(request: Request) -> None:
                self.store.close_request(self.run_id, sent, request)
                self.watcher.requested(request)

            return arrive

        tree = await asyncio.to_thread(self.grader.tree, work.task)
        attempt = await self.solver.solve(work.task, work.sample, tree, depart)
        await asyncio.to_thread(self.store.add_attempt, self.run_id, attempt)
        self.watcher.attempted(attempt)
        return attempt

    def _grade(self, task: Task, attempt: Attempt, queued_at: float) -> None:
        queued = time.monotonic() - queued_at
        record = self.grader.grade(task, attempt)
        record = replace(record, spent=record.spent.model_copy(update={"queue": queued}))
        self.store.add_record(self.run_id, record)
        self.watcher.recorded(record)
        if record.verdict is Verdict.INFRA_ERROR:
            self.grader.still_works()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error to show: several attempts usually meet the same one at the same time."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def by_environment(works: Iterable[Work], workshop: Workshop) -> list[Work]:
    """Tasks of one environment next to each other, so that few environments are in use at a time."""

    def place(work: Work) -> tuple[str, str, int]:
        known = not quarantine_of(work.task)
        environment = workshop.environment_digest(work.task) if known else ""
        return environment, work.task.instance_id, work.sample

    return sorted(works, key=place)
