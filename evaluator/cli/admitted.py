"""What validation found, on a terminal."""

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from evaluator.admission.findings import Admission
from evaluator.admission.validate import Lost
from evaluator.cli.console import err, out
from results.text import line
from tasks.errors import InfraError
from tasks.printable import printable
from tasks.task import Task


def gather(
    found: Iterable[tuple[Task, Admission | Lost]], total: int
) -> tuple[list[tuple[Task, Admission]], InfraError | None]:
    """Shows validation happen. The error names the tasks that were lost to the machine, if any."""
    seen: list[tuple[Task, Admission]] = []
    lost: list[str] = []
    for number, (task, admission) in enumerate(found, 1):
        remark = "" if isinstance(admission, Admission) else ": lost to the machine"
        err().print(Text(f"{number}/{total} {task.instance_id}{remark}"))
        if isinstance(admission, Admission):
            seen.append((task, admission))
        else:
            lost.append(f"{task.instance_id}: {admission.message}")
    message = "these tasks were lost to the machine:\n" + "\n".join(sorted(lost))
    seen.sort(key=lambda pair: pair[0].instance_id)
    return seen, InfraError(message, "Run it again: what was found is kept.") if lost else None


def show(admissions: Sequence[Admission]) -> None:
    table = Table("instance", "twins", "flaky", "failing", "passing", "seconds", "MiB", "remark", box=None)
    for each in admissions:
        counts = (str(len(ids)) for ids in (each.flaky, each.failing, each.passing))
        needs = f"{each.wall_s:.0f}", str(each.memory_mb)
        cells = (each.instance_id, str(each.twins), *counts, *needs, each.quarantine)
        table.add_row(*(Text(line(cell)) for cell in cells))
    out().print(table)
    for each in admissions:
        for name, (fixed, unfixed) in each.outcomes.items():
            if name in {*each.flaky, *each.failing}:
                text = f"{each.instance_id}  fixed {fixed}  unfixed {unfixed}  {name}"
                out().print(Text(printable(text)))
