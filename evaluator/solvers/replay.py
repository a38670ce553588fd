"""Patches somebody made elsewhere, out of a predictions file."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from evaluator.billing import Biller
from evaluator.solvers.base import Solver
from results.record import Attempt
from tasks.digest import digest
from tasks.errors import InputError
from tasks.predictions import read
from tasks.task import Task


class Replay(Solver):
    """The k-th prediction of an instance, in the order of the file, is its sample k.

    Args:
        expected: digest of the predictions this run began with; "" for a new run.

    Raises:
        PredictionsError: the file cannot be read.
        InputError: the file is no longer the one this run began with.
    """

    name = "replay"

    def __init__(self, path: Path, expected: str = "") -> None:
        self._path = path.absolute()
        self._patches: dict[str, list[str]] = defaultdict(list)
        for prediction in read(path):
            self._patches[prediction.instance_id].append(prediction.model_patch)
        self._digest = digest(self._patches)
        if expected and expected != self._digest:
            raise InputError(f"{path} has changed since this run began", "Put it back, or start a new run.")

    @property
    def options(self) -> dict[str, Any]:
        return {"predictions": str(self._path), "digest": self._digest}

    @property
    def instances(self) -> tuple[str, ...]:
        """Instances with at least one prediction, in the order of the file."""
        return tuple(self._patches)

    @property
    def samples(self) -> int:
        """Most predictions any instance has."""
        return max(map(len, self._patches.values()), default=0)

    async def solve(self, task: Task, sample: int, tree: Path, biller: Biller) -> Attempt:  # noqa: ARG002
        patches = self._patches.get(task.instance_id, [])
        if sample >= len(patches):
            return Attempt(task.instance_id, sample, "", "no prediction")
        return Attempt(task.instance_id, sample, patches[sample])
