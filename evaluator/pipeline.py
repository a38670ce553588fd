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
from tasks.errors import AssayError, EndpointUnavailable, SourceError
from tasks.facts import quarantine_of
from tasks.task import Task

NOT_ASKED = "not asked: no run can judge an answer"


@dataclass(frozen=True)
class Work:
    """One owed attempt; `solved` when its patch is in the store and only the verdict is missing."""

    task: Task
    sample: int
    solved: bool = False

    @property
    def key(self) -> tuple[str, int]:
        return self.task.instance_id, self.sample


class Grader(Protocol):
    """What the pipeline needs of grading. All methods block and are called from worker threads."""

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

    def postponed(self, work: Work, error: AssayError) -> None:
        """`work` stays owed; the rest goes on."""

    def stopping(self, error: AssayError | None, solving: int, grading: int) -> None:
        """Nothing new begins, because of `error` or because somebody wishes so. So many attempts are still
        being solved and graded, and will be kept."""


class Pipeline:
    """Works off what a run owes, once. To be used from one event loop.

    Args:
        slots: how many evaluations run at once, one core each.
        solvers: how many attempts are being solved at once. Solving runs ahead of grading without bound:
            patches are small, and paid for.
    """

    def __init__(
        self, store: Store, run_id: str, solver: Solver, grader: Grader, *, slots: int, solvers: int
    ) -> None:
        self._store, self._run_id = store, run_id
        self._solver, self._grader = solver, grader
        self._watcher: Watcher
        self._solving, self._grading = _Desk(solvers), _Desk(slots)
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="slot")
        self._stopped = False
        self._last_answer = 0.0
        self._fatal: AssayError | None = None
        self._postponed: list[AssayError] = []

    def stop(self, error: AssayError | None = None) -> None:
        """Lets `drain` begin nothing more. What is under way is finished and stored: it is paid for."""
        if not self._stopped:
            self._stopped = True
            self._watcher.stopping(error, self._solving.busy, self._grading.busy)

    async def drain(self, works: Iterable[Work], watcher: Watcher) -> None:
        """Works off `works`, as far as that is possible and nobody stops it.

        Raises:
            EndpointError, SandboxUnavailable, StoreError, InputError: no later attempt could escape it, so
                nothing more was begun.
            EndpointUnavailable, SourceError: some attempts met it and stay owed; all others were worked off.
        """
        self._watcher = watcher
        with self._threads:
            async with asyncio.TaskGroup() as group:
                for work in works:
                    group.create_task(self._work_off(work))
        for error in (self._fatal, *self._postponed):
            if error:
                raise error

    async def _work_off(self, work: Work) -> None:
        try:
            if work.solved or await self._solve(work):
                await self._grade(work)
        except AssayError as error:
            self._fatal = self._fatal or error
            self.stop(error)

    async def _solve(self, work: Work) -> bool:
        """Whether the attempt is made and stored."""
        async with self._solving:
            if self._stopped:
                return False
            began = time.monotonic()
            try:
                attempt = await self._attempt(work)
            except (EndpointUnavailable, SourceError) as error:
                if isinstance(error, EndpointUnavailable) and self._last_answer < began:
                    raise  # nobody else has had an answer either
                self._postponed.append(error)
                self._watcher.postponed(work, error)
                return False
            # Not in a thread: nothing that can be cancelled may come between an answer and its record.
            self._store.add_attempt(self._run_id, attempt)
            self._watcher.attempted(attempt)
            return True

    async def _attempt(self, work: Work) -> Attempt:
        if quarantine_of(work.task):
            return Attempt(*work.key, patch="", note=NOT_ASKED)
        tree = await asyncio.to_thread(self._grader.tree, work.task)
        attempt = await self._solver.solve(work.task, work.sample, tree, self._biller(work))
        self._last_answer = time.monotonic()
        return attempt

    def _biller(self, work: Work) -> Callable[[str, datetime, bool], Callable[[Request], None]]:
        def depart(model: str, started_at: datetime, billable: bool) -> Callable[[Request], None]:
            sent = self._store.open_request(self._run_id, *work.key, model, started_at, billable=billable)

            def arrive(request: Request) -> None:
                self._store.close_request(self._run_id, sent, request)
                self._watcher.requested(request)

            return arrive

        return depart

    async def _grade(self, work: Work) -> None:
        queued_at = time.monotonic()
        async with self._grading:
            if not self._stopped:
                queued = time.monotonic() - queued_at
                await asyncio.get_running_loop().run_in_executor(self._threads, self._judge, work, queued)

    def _judge(self, work: Work, queued: float) -> None:
        record = self._grader.grade(work.task, self._store.attempt(self._run_id, *work.key))
        record = replace(record, spent=record.spent.model_copy(update={"queue": queued}))
        self._store.add_record(self._run_id, record)
        self._watcher.recorded(record)
        if record.verdict is Verdict.INFRA_ERROR:
            self._grader.still_works()


class _Desk:
    """A semaphore, first come first served, that knows how many it has let in."""

    def __init__(self, places: int) -> None:
        self._places = asyncio.Semaphore(places)
        self.busy = 0

    async def __aenter__(self) -> None:
        await self._places.acquire()
        self.busy += 1

    async def __aexit__(self, *_: object) -> None:
        self.busy -= 1
        self._places.release()


def by_environment(works: Iterable[Work], workshop: Workshop) -> list[Work]:
    """Tasks of one environment next to each other, so that few environments are in use at a time."""

    def place(work: Work) -> tuple[str, str, int]:
        known = not quarantine_of(work.task)
        environment = workshop.environment_digest(work.task) if known else ""
        return environment, *work.key

    return sorted(works, key=place)
