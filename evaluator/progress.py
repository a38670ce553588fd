"""A run as it happens: a live line on a terminal, plain lines elsewhere."""

import threading
import time
from decimal import Decimal
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from results.money import dollars
from results.record import Attempt, Record, Request, Verdict

PLAIN_INTERVAL_S = 10.0


class Progress:
    """Counts what the pipeline reports. Use as a context manager; told from any thread.

    Args of note: `total` is how many attempts the run has, `done` how many an earlier session finished.
    """

    def __init__(self, console: Console, total: int, done: int) -> None:
        self._console = console
        self._total = total
        self._before = done
        self._graded = self._solved = self._resolved = self._infra = self._unpriced = 0
        self._cost: Decimal | None = None
        self._started = self._printed = time.monotonic()
        self._lock = threading.Lock()
        self._live = (
            Live(self, console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        )

    def __enter__(self) -> "Progress":
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def __rich__(self) -> Text:
        with self._lock:
            return Text(self._line())

    def requested(self, request: Request) -> None:
        with self._lock:
            if request.cost is not None:
                self._cost = (self._cost or Decimal(0)) + request.cost
            elif request.billable:
                self._unpriced += 1

    def attempted(self, attempt: Attempt) -> None:  # noqa: ARG002 - only their number matters here
        with self._lock:
            self._solved += 1

    def recorded(self, record: Record) -> None:
        with self._lock:
            self._graded += 1
            self._resolved += record.verdict is Verdict.RESOLVED
            self._infra += record.verdict is Verdict.INFRA_ERROR
            now = time.monotonic()
            if self._live is None and (now - self._printed >= PLAIN_INTERVAL_S or self._left() == 0):
                self._printed = now
                self._console.print(Text(self._line()))

    def _left(self) -> int:
        return self._total - self._before - self._graded

    def _line(self) -> str:
        parts = [
            f"{self._before + self._graded}/{self._total} done",
            f"{self._resolved} resolved",
            f"{self._infra} infra",
        ]
        if self._solved > self._graded:
            parts.append(f"{self._solved - self._graded} waiting for a verdict")
        if self._cost is not None or self._unpriced:
            known = dollars(self._cost or Decimal(0))
            parts.append(f"≥ {known}, {self._unpriced} unpriced" if self._unpriced else known)
        if self._graded and self._left():
            pace = (time.monotonic() - self._started) / self._graded
            parts.append(f"about {_duration(pace * self._left())} left")
        return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
