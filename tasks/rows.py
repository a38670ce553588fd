"""One raw row into a task, or everything that is wrong with it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tasks.jsontext import Malformed
from tasks.printable import printable
from tasks.task import Task

LOWER_CASE = {"fail_to_pass": "FAIL_TO_PASS", "pass_to_pass": "PASS_TO_PASS"}
COLUMNS = frozenset(
    {field.alias or name for name, field in Task.model_fields.items()} | LOWER_CASE.keys(),
)
"""Every column a source need read: the rest of a row is none of ours."""

EXPECTED = {
    "instance_id": "letters, digits and . _ - only, at most 200, a letter or digit first",
    "repo": "owner/name as a code host spells it",
    "base_commit": "a full commit id: 40 characters of 0-9 and a-f",
}


@dataclass(frozen=True)
class Row:
    """A row as its source gave it. `where` names file and row for people."""

    where: str
    value: object


@dataclass(frozen=True)
class Refusal:
    """A row that is not a task. `problems` holds (field, reason) pairs; all parts are fit for a terminal."""

    where: str
    instance_id: str
    problems: tuple[tuple[str, str], ...]

    @property
    def prefix(self) -> str:
        return f"{self.where} ({self.instance_id})" if self.instance_id else self.where

    def lines(self) -> tuple[str, ...]:
        """One line per bad field."""
        return tuple(f"{self.prefix}: {field}: {reason}" for field, reason in self.problems)

    def line(self) -> str:
        """All of it in one line."""
        return f"{self.prefix}: " + "; ".join(f"{field}: {reason}" for field, reason in self.problems)


def parse(row: Row) -> Task | Refusal:
    """Validates a row in the SWE-bench schema; lower-case spellings of the test lists serve too."""
    fields = fields_of(row, COLUMNS)
    if isinstance(fields, Refusal):
        return fields
    for lower, name in LOWER_CASE.items():
        other = fields.pop(lower, None)
        if fields.get(name) is None and other is not None:
            fields[name] = other
    try:
        return Task.model_validate(fields)
    except ValidationError as error:
        return refusal(row, fields, error)


def fields_of(row: Row, names: Collection[str]) -> dict[str, Any] | Refusal:
    """The fields of these names that the row has."""
    if isinstance(row.value, Malformed):
        return Refusal(row.where, "", (("row", row.value.reason),))
    if not isinstance(row.value, Mapping):
        return Refusal(row.where, "", (("row", f"not an object of fields but {_kind(row.value)}"),))
    return {name: row.value[name] for name in names if name in row.value}


def refusal(row: Row, fields: Mapping[str, Any], error: ValidationError) -> Refusal:
    """What pydantic found wrong, in the words of whoever has to repair the row."""
    instance = fields.get("instance_id")
    problems = tuple(
        (_field(problem["loc"]), _reason(problem))
        for problem in error.errors(include_url=False, include_context=False)
    )
    return Refusal(row.where, printable(instance) if isinstance(instance, str) else "", problems)


def _field(location: tuple[int | str, ...]) -> str:
    """List positions count from 1, as row numbers do."""
    head, *rest = location
    return str(head) + "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in rest)


def _reason(problem: Any) -> str:
    match problem["type"]:
        case "missing":
            reason = "missing"
        case "string_pattern_mismatch":
            expected = EXPECTED.get(problem["loc"][0], "free of NUL characters")
            reason = f"{printable(problem['input'])} is not {expected}"
        case "string_unicode":
            reason = "holds a lone surrogate, which UTF-8 cannot store"
        case "string_too_short":
            reason = "empty"
        case "string_type":
            reason = f"not text but {_kind(problem['input'])}"
        case "tuple_type":
            reason = f"not a list of test ids but {_kind(problem['input'])}"
        case "value_error":
            reason = f"{printable(problem['input'])} is {problem['msg'].removeprefix('Value error, ')}"
        case _:
            reason = f"{problem['msg']}, not {_kind(problem['input'])}"
    return reason


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case list() | tuple():
            return f"a list of {len(value)}"
        case Mapping():
            return f"an object of {len(value)} fields"
        case _:
            return f"{type(value).__name__} {printable(value, 40)}"
