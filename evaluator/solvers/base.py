"""What every solver is."""

from pathlib import Path
from typing import Any, Protocol

from evaluator.billing import Biller
from results.record import Attempt
from tasks.task import Task


class Solver(Protocol):
    """Turns a task into an attempt at it. One instance serves a whole run, many attempts at a time."""

    name: str

    @property
    def options(self) -> dict[str, Any]:
        """What `make` needs to build an equal solver, JSON-serialisable and without secrets."""
        return {}

    async def solve(self, task: Task, sample: int, tree: Path, biller: Biller) -> Attempt:
        """One attempt.

        Args:
            sample: 0, 1, …; equal samples of a deterministic solver are equal.
            tree: the repository at its base commit; only read.
            biller: told of each request to a provider, before it leaves and the moment its outcome is known.

        Raises:
            EndpointRefused: no attempt of this run can succeed.
            EndpointUnavailable: the endpoint kept failing; the attempt is still owed.
        """
        ...

    async def close(self) -> None:
        """Releases what solving held; nothing by default."""
        return None  # noqa: RET501 - a body makes it a default to inherit
