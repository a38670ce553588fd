"""A run as it happens: a live line on a terminal, a plain line now and then elsewhere."""

import threading
import time
from collections import Counter
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evaluator.cli.console import complain
from evaluator.pipeline import Work
from results.explain import duration
from results.money import Bill, gpu_cost
from results.owed import keys, owed
from results.record import Attempt, Ledger, Record, Request, Verdict
from results.text import line
from tasks.errors import AssayError

PLAIN_INTERVAL_S = 10.0
BAR = 12
ANSWERED = ("ok", "no usage reported")


class Progress:
    """Counts what the pipeline reports, beginning with what `ledger` holds. Told from any thread."""

    def __init__(self, console: Console, ledger: Ledger) -> None:
        self.stopping_for: AssayError | None = None
        self.stopped = False
        self._console = console
        self._ledger = ledger
        self._total = len(keys(ledger.run.config))
        self._verdicts: Counter[Verdict] = Counter(
            record.verdict for record in ledger.records if record.verdict is not Verdict.INFRA_ERROR
        )
        self._requests = list(ledger.requests)
        self._waiting = len(owed(ledger.run.config, ledger.attempts, ledger.records).grade)
        self._fresh = self._unanswered = 0
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._live = Live(self, console=console, refresh_per_second=4, transient=True)
        self._printer = threading.Thread(target=self._print_now_and_then, daemon=True)

    def __enter__(self) -> "Progress":
        if self._console.is_terminal:
            self._live.start()
        else:
            self._printer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the terminal as it was. May be called again."""
        self._ended.set()
        if self._console.is_terminal:
            self._live.stop()
        else:
            self._printer.join()

    def __rich__(self) -> Table:
        with self._lock:
            row = Table.grid(padding=(0, 1))
            row.add_column(no_wrap=True, width=BAR)
            row.add_column(no_wrap=True, overflow="ellipsis")
            row.add_row(ProgressBar(self._total, self._done, width=BAR), Text(self._line()))
            return row

    def requested(self, request: Request) -> None:
        with self._lock:
            self._requests.append(request)
            self._unanswered = 0 if request.outcome in ANSWERED else self._unanswered + 1

    def attempted(self, attempt: Attempt) -> None:  # noqa: ARG002 - only their number matters here
        with self._lock:
            self._waiting += 1

    def recorded(self, record: Record) -> None:
        with self._lock:
            self._fresh += 1
            self._waiting -= 1
            self._verdicts[record.verdict] += 1

    def postponed(self, work: Work, error: AssayError) -> None:
        instance, sample = work.key
        self._say(f"{instance}, sample {sample}, stays owed: {line(error.message, 500)}")

    def stopping(self, error: AssayError | None, solving: int, grading: int) -> None:
        self.stopped, self.stopping_for = True, error
        if error:
            complain(error, self._console)
        waits = [f"{count} {what}" for count, what in ((solving, "answers"), (grading, "verdicts")) if count]
        if waits:
            self._say(f"Waiting for {' and '.join(waits)} under way. Ctrl-C now leaves them behind.")

    def _say(self, text: str) -> None:
        self._console.print(Text(text))

    def _print_now_and_then(self) -> None:
        printed = ""
        while True:
            ended = self._ended.wait(PLAIN_INTERVAL_S)
            with self._lock:
                now = self._line()
            if now != printed:
                self._say(now)
            printed = now
            if ended:
                return

    @property
    def _done(self) -> int:
        return self._verdicts.total() - self._verdicts[Verdict.INFRA_ERROR]

    def _line(self) -> str:
        parts = [
            f"{self._done}/{self._total} done",
            f"{self._verdicts[Verdict.RESOLVED]} resolved",
            f"{self._verdicts[Verdict.INFRA_ERROR]} infra",
        ]
        if self._requests:
            parts.append(str(self._bill()))
        if left := self._total - self._verdicts.total():
            parts.append(self._remaining(left))
        if self._waiting:
            parts.append(f"{self._waiting} to grade")
        if self._unanswered:
            parts.append(f"{self._unanswered} requests failing: {line(self._requests[-1].outcome, 40)}")
        return " · ".join(parts)

    def _bill(self) -> Bill:
        held = gpu_cost(self._ledger.run.config, self._ledger.sessions, self._requests)
        return Bill.of(self._requests, [held] if held else [])

    def _remaining(self, left: int) -> str:
        if not self._fresh:
            return "preparing"
        seconds = (time.monotonic() - self._started) / self._fresh * left
        return f"{seconds:.0f} s left" if seconds < 60 else f"{duration(seconds)} left"
