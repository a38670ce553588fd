"""What a run still owes. There is no other bookkeeping: what is recorded is done, the rest is owed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from results.record import AttemptRow, RecordRow, RunConfig, Verdict

Key = tuple[str, int]
"""Instance id and sample, from 0."""


@dataclass(frozen=True)
class Owed:
    """Attempts of a run without a verdict, in the order of its configuration."""

    solve: tuple[Key, ...]
    """No attempt yet: a solver has to be asked."""
    grade: tuple[Key, ...]
    """An attempt, but no verdict, or one lost to a fault of ours: the patch is there, and paid for."""

    def __len__(self) -> int:
        return len(self.solve) + len(self.grade)


def keys(config: RunConfig) -> tuple[Key, ...]:
    """Every attempt a run consists of."""
    return tuple((instance, sample) for instance in config.instances for sample in range(config.samples))


def owed(config: RunConfig, attempts: Iterable[AttemptRow], records: Iterable[RecordRow]) -> Owed:
    """The attempts of `config` without a lasting record, split by whether a patch is there.

    Args:
        records: the last one of each task and sample.
    """
    attempted = {(attempt.instance_id, attempt.sample) for attempt in attempts}
    judged = {
        (record.instance_id, record.sample) for record in records if record.verdict is not Verdict.INFRA_ERROR
    }
    open_ = [key for key in keys(config) if key not in judged]
    return Owed(
        solve=tuple(key for key in open_ if key not in attempted),
        grade=tuple(key for key in open_ if key in attempted),
    )


def difference(left: RunConfig, right: RunConfig) -> tuple[str, ...]:
    """Names of the fields in which two configurations differ (`samples`, `solver_options.model`), sorted."""
    ours, theirs = _flat(left.model_dump(mode="json")), _flat(right.model_dump(mode="json"))
    missing = object()
    return tuple(
        sorted(
            name
            for name in ours.keys() | theirs.keys()
            if ours.get(name, missing) != theirs.get(name, missing)
        )
    )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and value:
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
