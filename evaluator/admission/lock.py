"""Freezes a validated task set: a dataset of its own, whose digest every run over it carries."""

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from evaluator.admission.findings import Admission
from tasks.task import Task


def locked(task: Task, seen: Admission) -> Task:
    """The task without the ids that say nothing here, or quarantined as a whole."""
    row = task.model_dump(mode="json", by_alias=True)
    if seen.quarantine:
        return Task.model_validate(row | {"quarantine": seen.quarantine})
    dropped = {*seen.flaky, *seen.failing, *seen.passing}
    lists = ("FAIL_TO_PASS", "PASS_TO_PASS")
    kept = {key: [name for name in row[key] if name not in dropped] for key in lists}
    return Task.model_validate(row | kept)


def write(path: Path, tasks: Iterable[Task]) -> None:
    """A JSONL dataset, there as a whole or not at all."""
    prefix = f".{path.name}."
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=prefix, delete=False) as draft:
        for task in tasks:
            draft.write(json.dumps(task.model_dump(mode="json", by_alias=True)) + "\n")
    done = Path(draft.name)
    done.chmod(0o644)
    done.replace(path)
