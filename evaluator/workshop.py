"""Prepares a task for grading, once: its repository, its environment, the trusted side of its tests."""

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Protocol

from evaluator.apply import apply_patch, read_file
from evaluator.patch import parse_patch
from evaluator.paths import PatchError
from evaluator.runner.runners import RUNNERS, Runner, runner_arguments
from evaluator.workspace import Trusted
from sandbox.job import Prepared, Sandbox
from tasks.environment import Environment
from tasks.errors import BuildError
from tasks.facts import environment_of, published_environment, quarantine_of, test_files
from tasks.task import Task


class Repositories(Protocol):
    """Where base commits come from; `tasks.mirror.Mirrors` is one."""

    def export(self, task: Task) -> Path: ...

    def describe(self, task: Task) -> str: ...


class TaskFault(Exception):  # noqa: N818 - a property of the task, not a mistake of the program
    """No run of this task says anything about a patch. `code` is one of `EXPLANATIONS`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


@dataclass
class Control:
    """When a run of the reference fix last came to its end here, by the monotonic clock."""

    ended_at: float = -math.inf


@dataclass(frozen=True)
class Setup:
    """A task ready to be graded any number of times."""

    task: Task
    environment: Environment
    prepared: Prepared
    trusted: Trusted
    arguments: tuple[str, ...]
    """Of the test command, before the files."""
    files: tuple[str, ...]
    """Test files to run: those the test patch touches, in its order, else those of the required ids.

    Empty where neither names any: the whole suite has to run.
    """
    ignored: tuple[str, ...]
    """Pass-to-pass ids that name no file: pieces of output (`[100%]`) that a log parser took for tests."""
    control: Control = field(default_factory=Control, compare=False)


@dataclass
class _Slot:
    lock: Lock = field(default_factory=Lock)
    setup: Setup | None = None
    failure: BuildError | None = None


class Workshop:
    """Thread-safe; one instance serves a whole run.

    Args:
        environments: `published` uses the images that rows name, where they do; `built` never does.
    """

    def __init__(self, sandbox: Sandbox, repositories: Repositories, environments: str = "built") -> None:
        self.sandbox = sandbox
        self._repositories = repositories
        self._environments = environments
        self._slots: dict[str, _Slot] = {}
        self._lock = Lock()

    def environment(self, task: Task) -> Environment:
        """Raises InputError where none is known."""
        return environment_for(task, self._environments)

    def environment_digest(self, task: Task) -> str:
        return self.environment(task).digest

    def tree(self, task: Task) -> Path:
        """The repository at its base commit, read-only. Raises SourceError."""
        return self._repositories.export(task)

    def setup(self, task: Task) -> Setup:
        """Everything needed to grade `task`. The first call may build an environment; others wait.

        Raises:
            SourceError: repository or image cannot be had.
            BuildError: the environment does not build; not tried again in this process.
            TaskFault: the task is quarantined, or its own test patch does not apply.
            InputError: no environment is known, or there is no runner for its test command.
        """
        with self._lock:
            slot = self._slots.setdefault(task.digest, _Slot())
        with slot.lock:
            if slot.failure is not None:
                raise slot.failure
            if slot.setup is None:
                try:
                    slot.setup = self._make(task)
                except BuildError as error:
                    slot.failure = error
                    raise
            return slot.setup

    def _make(self, task: Task) -> Setup:
        if reason := quarantine_of(task):
            raise TaskFault("quarantined", reason)
        environment = self.environment(task)
        runner, arguments = RUNNERS[environment.runner], runner_arguments(environment)
        prepared = self.sandbox.prepare(
            environment,
            self.tree(task),
            f"{task.repo}@{task.base_commit}",
            self._repositories.describe(task),
        )
        trusted = _trusted(task, prepared.tree, runner)
        named: tuple[str, ...] = ()
        ignored: tuple[str, ...] = ()
        if environment.runner == "pytest":  # alone has the file in the id
            named = _files_of((*task.fail_to_pass, *task.pass_to_pass), trusted, prepared.tree)
            ignored = tuple(name for name in task.pass_to_pass if _file_of(name) not in named)
        official = tuple(path for path in test_files(task) if _runs(path, trusted, named))
        return Setup(task, environment, prepared, trusted, arguments, official or named, ignored)


def environment_for(task: Task, environments: str) -> Environment:
    """The environment a task runs in when `environments` are `built` or `published`. Raises InputError."""
    published = published_environment(task) if environments == "published" else None
    return published or environment_of(task)


def _file_of(test_id: str) -> str:
    return test_id.partition("::")[0]


def _files_of(test_ids: Iterable[str], trusted: Trusted, tree: Path) -> tuple[str, ...]:
    """The files ids name, in order, as far as there are such files."""

    def exists(path: str) -> bool:
        if path in trusted.files:
            return trusted.files[path] is not None
        return os.path.isfile(tree / path)  # noqa: PTH113 - no error for any name

    return tuple(filter(exists, dict.fromkeys(map(_file_of, test_ids))))


def _runs(path: str, trusted: Trusted, named: tuple[str, ...]) -> bool:
    """Whether a file the test patch touches is still there, and one of tests."""
    return trusted.files.get(path) is not None and (path.endswith(".py") or path in named)


def _trusted(task: Task, tree: Path, runner: Runner) -> Trusted:
    files = {path: read_file(tree / path) for path in runner.owned}
    try:
        if task.test_patch.strip():
            files |= apply_patch(parse_patch(task.test_patch), tree).files
    except PatchError as error:
        raise TaskFault("test_patch", str(error)) from None
    try:
        fixed = frozenset(parse_patch(task.patch).paths)
    except PatchError:
        fixed = frozenset()
    return Trusted(files, fixed - files.keys())
