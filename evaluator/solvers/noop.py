"""No change at all: a task this resolves is no task."""

from pathlib import Path

from evaluator.billing import Biller
from evaluator.solvers.base import Solver
from results.record import Attempt
from tasks.task import Task


class Noop(Solver):
    name = "noop"

    async def solve(self, task: Task, sample: int, tree: Path, biller: Biller) -> Attempt:  # noqa: ARG002
        return Attempt(task.instance_id, sample, "", "no change on purpose")
