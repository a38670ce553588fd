"""What the project keeps of a starter bug: facts that name public releases, and no text of theirs."""

import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict

from tasks.digest import digest
from tasks.environment import Environment
from tasks.release import Fix
from tasks.task import Task

Tests = dict[str, dict[str, tuple[str, ...]]]
"""Test ids by file, then by function: the parameter sets that count, or none where it has no parameters."""


class Archive(BaseModel):
    """A source distribution on the package index."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    sha256: str


class Bug(BaseModel):
    """A pair of releases: tests of the newer one show something broken in the older one, and mended."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    package: str
    base: Archive
    fixed: Archive
    python: str
    packages: tuple[str, ...]
    """Pins of everything but the package itself: what it needs, its tests, and what builds it."""
    base_commit: str
    fix_digest: str
    """Of the `Fix` that the two archives lead to."""
    fail_to_pass: Tests
    pass_to_pass: Tests

    @property
    def instance_id(self) -> str:
        return f"{self.package}-{self.fixed.version}"

    @property
    def repo(self) -> str:
        """As `tasks.mirror` names repositories made from packages."""
        return f"pypi/{self.package}"

    @cached_property
    def environment(self) -> Environment:
        return environment(self.python, self.packages)

    def task(self, fix: Fix) -> Task:
        return Task(
            instance_id=self.instance_id,
            repo=self.repo,
            version=self.base.version,
            base_commit=self.base_commit,
            problem_statement=fix.problem_statement,
            patch=fix.patch,
            test_patch=fix.test_patch,
            FAIL_TO_PASS=ids(self.fail_to_pass),
            PASS_TO_PASS=ids(self.pass_to_pass),
            environment=self.environment,
        )


def environment(python: str, packages: Iterable[str]) -> Environment:
    """All of it pinned, the build tools included, so that installing the release fetches nothing."""
    return Environment(
        python=python,
        packages=tuple(packages),
        install="python -m pip install --no-deps --no-build-isolation -e .",
        test_command="pytest -rA",
        log_parser="nodeid",
    )


def fix_digest(fix: Fix) -> str:
    return digest(vars(fix))


def ids(tests: Tests) -> tuple[str, ...]:
    """The pytest ids of grouped tests."""
    return tuple(
        f"{file}::{name}{parameters}"
        for file, functions in tests.items()
        for name, sets in functions.items()
        for parameters in ([f"[{each}]" for each in sets] or [""])
    )


def group(test_ids: Iterable[str]) -> Tests:
    """The opposite of `ids`, sorted by file and function."""
    grouped: dict[str, dict[str, list[str]]] = {}
    for each in sorted(test_ids):
        function, bracket, parameters = each.partition("[")
        file, _, name = function.partition("::")
        sets = grouped.setdefault(file, {}).setdefault(name, [])
        if bracket:
            sets.append(parameters.removesuffix("]"))
    return {file: {name: tuple(sets) for name, sets in names.items()} for file, names in grouped.items()}


def dump(bug: Bug) -> str:
    """JSON with one line per pin and per test function, so that a change to it can be read."""

    def text(value: Any, depth: int) -> str:
        if isinstance(value, dict) and depth < 3:
            inner = ",\n".join(
                f"{' ' * (depth + 1)}{json.dumps(k)}: {text(v, depth + 1)}" for k, v in value.items()
            )
            return "{\n" + inner + "\n" + " " * depth + "}"
        return json.dumps(value)

    return text(bug.model_dump(mode="json"), 0) + "\n"
