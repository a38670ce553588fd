"""The bug instance: one frozen record in the public SWE-bench schema."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from tasks.digest import digest
from tasks.environment import Environment

PYTHON_LIST = re.compile(
    r"""\s*\[\s*(?:(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")\s*(?:,\s*|(?=\])))*+\]\s*""", re.DOTALL
)
"""A flat list of plain string literals. What matches holds nothing that evaluating it could blow up on."""
PYTHON_LIST_CHARACTERS = 4_000_000
EPOCH_MILLISECONDS = 100_000_000_000
"""Epoch numbers from here on count milliseconds: as seconds they would lie beyond the year 5000."""


def _id_list(value: Any) -> Any:
    """Official rows spell the lists as JSON text, derived sets as lists, some as text of Python lists."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        if len(value) <= PYTHON_LIST_CHARACTERS and PYTHON_LIST.fullmatch(value):
            try:
                return ast.literal_eval(value.strip())
            except (ValueError, SyntaxError):  # an escape that names no character
                pass
    raise ValueError("neither a list nor JSON text of one")


def _timestamp(value: Any) -> Any:
    """Text as it is; dates and epoch numbers (seconds or milliseconds) as ISO 8601 in UTC."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            seconds = value / 1000 if abs(value) >= EPOCH_MILLISECONDS else value
            return datetime.fromtimestamp(seconds, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            raise ValueError("not a date: the number is outside the calendar") from None
    return "" if value is None else value


def _null_is_empty(value: Any) -> Any:
    return "" if value is None else value


def _empty_is_null(value: Any) -> Any:
    return None if value == "" else value


def _storable(value: str) -> str:
    """JSON can spell half of a character; no file, database or command line can hold it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("string_unicode", "not encodable as UTF-8") from None
    return value


Utf8 = Annotated[str, AfterValidator(_storable)]
Text = Annotated[Utf8, BeforeValidator(_null_is_empty)]
OptionalText = Annotated[Utf8 | None, BeforeValidator(_empty_is_null)]
Timestamp = Annotated[Utf8, BeforeValidator(_timestamp)]
TestId = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\x00]+$")]
TestIds = Annotated[tuple[TestId, ...], FailFast(), BeforeValidator(_id_list)]
InstanceId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
Repository = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")
]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]


class Task(BaseModel):
    """One bug: what a solver is told, and what only the grader knows.

    Field names are those of the SWE-bench rows. `digest` names the content, `instance_id` the
    identity in a set.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    instance_id: InstanceId
    repo: Repository
    base_commit: Commit
    problem_statement: Utf8
    patch: Utf8
    test_patch: Utf8
    fail_to_pass: TestIds = Field(alias="FAIL_TO_PASS")
    """Empty in the rare task whose tests do not even compile before the fix."""
    pass_to_pass: TestIds = Field(alias="PASS_TO_PASS")
    hints_text: Text = ""
    version: Text = ""
    environment_setup_commit: Text = ""
    created_at: Timestamp = ""
    difficulty: Text = ""
    image: OptionalText = None
    eval_script: OptionalText = None
    log_parser: OptionalText = None
    environment: Environment | None = None
    quarantine: Text = ""
    """Why no run of this task says anything about a patch (`needs network: example.org`), or empty."""

    @field_validator("pass_to_pass")
    @classmethod
    def _some_test(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not value and info.data.get("fail_to_pass") == ():
            raise ValueError("as empty as FAIL_TO_PASS: without any test nothing can show a fix")
        return value

    @cached_property
    def digest(self) -> str:
        return digest(self.model_dump(exclude={"hints_text", "created_at", "difficulty"}))


@dataclass(frozen=True)
class TaskSet:
    """Tasks in their order, with where they came from. Instance ids are unique."""

    name: str
    tasks: tuple[Task, ...]
    left_out: tuple[str, ...] = ()
    """One line per row that was refused and skipped on request."""

    @cached_property
    def digest(self) -> str:
        return digest([(task.instance_id, task.digest) for task in self.tasks])

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)
