"""The bug instance: one frozen record in the public SWE-bench schema."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from tasks.digest import digest
from tasks.environment import Environment


def _id_list(value: Any) -> Any:
    """Official rows spell the lists as JSON text, derived sets as lists, Multilingual as Python lists."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError(f"neither a list nor JSON text of one: {error}") from None
    return value


def _null_is_empty(value: Any) -> Any:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_null_is_empty)]
TestIds = Annotated[tuple[str, ...], BeforeValidator(_id_list)]
InstanceId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
Repository = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]


class Task(BaseModel):
    """One bug: what a solver is told, and what only the grader knows.

    Field names are those of the SWE-bench rows. `digest` names the content; `instance_id` the identity in a set.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    instance_id: InstanceId
    repo: Repository
    base_commit: Commit
    problem_statement: str
    patch: str
    test_patch: str
    fail_to_pass: TestIds = Field(alias="FAIL_TO_PASS", min_length=1)
    pass_to_pass: TestIds = Field(alias="PASS_TO_PASS")
    hints_text: Text = ""
    version: Text = ""
    environment_setup_commit: Text = ""
    created_at: Text = ""
    difficulty: Text = ""
    image: str | None = None
    eval_script: str | None = None
    log_parser: str | None = None
    environment: Environment | None = None
    quarantine: Text = ""
    """Why no run of this task says anything about a patch (for example `needs network: httpbin.org`); empty if it does."""

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
