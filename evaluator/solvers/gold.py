"""The reference fix as an answer: what a perfect model would score."""

from pathlib import Path

from evaluator.billing import Biller
from evaluator.solvers.base import Solver
from results.record import Attempt
from tasks.task import Task


class Gold(Solver):
    name = "gold"

    async def solve(self, task: Task, sample: int, tree: Path, biller: Biller) -> Attempt:  # noqa: ARG002
        return Attempt(task.instance_id, sample, task.patch)
