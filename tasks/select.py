"""Part of a task set."""

import dataclasses
import difflib
import re
from collections.abc import Iterable, Sequence

from tasks.errors import InputError
from tasks.printable import printable
from tasks.task import TaskSet

SHOWN = 10
"""Unknown ids named at most; with the wrong set all of them are."""


def select(
    tasks: TaskSet, instances: Sequence[str] = (), pattern: str | None = None, limit: int | None = None
) -> TaskSet:
    """The first `limit` tasks that are named in `instances` (if any) and whose id `pattern` is found in.

    `pattern` is a regular expression. The order is the set's. Raises InputError for an id the set does not
    hold, a pattern that is none, a limit below 1, and when nothing is left.
    """
    _check_known(tasks, instances)
    wanted = frozenset(instances)
    try:
        found = re.compile(pattern or "").search
    except re.error as error:
        raise InputError(
            f"{printable(pattern)} is no regular expression: {error}.",
            "To find a special character itself, put a backslash before it.",
        ) from error
    if limit is not None and limit < 1:
        raise InputError(f"A limit of {limit} tasks leaves none.", "Give a limit of at least 1.")
    chosen = tuple(
        task for task in tasks if (not wanted or task.instance_id in wanted) and found(task.instance_id)
    )[:limit]
    if not chosen:
        raise InputError(
            f"No instance id of {printable(tasks.name)} matches {printable(pattern)}.",
            f"Ids look like {tasks.tasks[0].instance_id}." if tasks.tasks else "The set is empty.",
        )
    return dataclasses.replace(tasks, tasks=chosen)


def _check_known(tasks: TaskSet, instances: Sequence[str]) -> None:
    known = {task.instance_id: task for task in tasks}
    unknown = [name for name in dict.fromkeys(instances) if name not in known]
    if unknown:
        lines = [f"  {printable(name)}{_close(name, known)}" for name in unknown[:SHOWN]]
        if len(unknown) > SHOWN:
            lines.append(f"  … and {len(unknown) - SHOWN} more")
        raise InputError(
            "\n".join([f"{printable(tasks.name)} holds no:", *lines]),
            "Is it the right --dataset? `assay tasks list` lists the ids of one.",
        )


def _close(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, n=3)
    return f" (closest: {', '.join(close)})" if close else ""
