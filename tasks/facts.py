"""What is known of public tasks beyond their rows: environments, test files, those no offline run can judge.

The facts are `data/environments.json`:

    repositories   common fields, and `versions`, each of which names an environment and `pins` laid over it
    environments   named sets of pins; `like` takes over another set, `pins` replaces, `without` drops
    exceptions     instances whose recorded environment is not the usual one of their version
    quarantine     instances no offline run can judge, with the reason

Source: the specifications and frozen environments of the SWE-bench harness. Three things differ on purpose.
Installs are editable everywhere, so that a patch is seen without installing again. The locale is `C.UTF-8`,
which every system has. Sphinx tests run under pytest directly, where the harness goes through tox.
"""

import json
import re
from functools import cache
from importlib import resources
from typing import Any

from tasks.environment import Environment, RunnerName
from tasks.errors import InputError
from tasks.task import Task

_PATCHED_FILE = re.compile(r"^diff --git a/.+ b/(.+)$", re.MULTILINE)


def environment_of(task: Task) -> Environment:
    """A task's own environment, else the one recorded for the instance, else for its repository and version.

    Raises:
        InputError: nothing is recorded for it.
    """
    if task.environment is not None:
        return task.environment
    known = _recorded(task)
    if known is None:
        raise InputError(
            f"{task.instance_id}: no environment is known for {task.repo} version {task.version or '(none)'}",
            "Give the row an `environment` object, or an `image` and run with the docker backend.",
        )
    return known


def published_environment(task: Task) -> Environment | None:
    """The environment inside the image a row names, or None when it names none.

    What the image cannot tell (test command, variables) comes from the recorded facts where there are any.
    """
    if task.image is None:
        return None
    parser = (task.log_parser or "pytest").removeprefix("parse_log_")
    runner: RunnerName = "django" if parser == "django" else "sympy" if parser == "sympy" else "pytest"
    known = task.environment or _recorded(task) or Environment(runner=runner)
    baked_in = {"packages": (), "pre_install": (), "system_packages": ()}
    return Environment.model_validate(
        known.model_dump() | baked_in | {"image": task.image, "log_parser": parser, "runner": runner}
    )


def test_files(task: Task) -> tuple[str, ...]:
    """Files of a task's test patch to give to its test runner, as `patched_tests`."""
    return patched_tests(task.test_patch)


def patched_tests(test_patch: str) -> tuple[str, ...]:
    """Python files a patch touches, in its order: what can be given to a test runner.

    The SWE-bench harness leaves out some known data formats instead, and hands what remains to runners that
    find no test in it. Empty when only data is touched: the whole suite has to run then.
    """
    touched = _PATCHED_FILE.findall(test_patch)
    return tuple(dict.fromkeys(path for path in touched if path.endswith(".py")))


def quarantine_of(task: Task) -> str:
    """Why no run of this task says anything about a patch; empty when a run does."""
    reason: str = task.quarantine or _facts()["quarantine"].get(task.instance_id, "")
    return reason


def _recorded(task: Task) -> Environment | None:
    repository = _facts()["repositories"].get(task.repo, {"versions": []})
    for row in repository["versions"]:
        if task.version and task.version in row["versions"].split():
            break
    else:
        return None
    common = {key: value for key, value in repository.items() if key != "versions"}
    spec = common | row
    usual: str = row["environment"]
    base = _environment(_exceptions().get(task.instance_id, usual))
    pins = base["pins"] | _pins(row.get("pins", ""))
    return Environment(
        python=spec.get("python", base["python"]),
        packages=tuple(pins.values()),
        frozen=base["frozen"],
        system_packages=tuple(spec.get("system_packages", "").split()),
        pre_install=tuple(spec.get("pre_install", ())),
        variables=tuple(spec.get("variables", {}).items()),
        **{key: spec[key] for key in ("install", "test_command", "runner", "log_parser") if key in spec},
    )


@cache
def _facts() -> dict[str, Any]:
    text = resources.files("tasks.data").joinpath("environments.json").read_text("utf-8")
    facts: dict[str, Any] = json.loads(text)
    return facts


@cache
def _exceptions() -> dict[str, str]:
    return {instance: name for name, text in _facts()["exceptions"].items() for instance in text.split()}


@cache
def _environment(name: str) -> dict[str, Any]:
    """`python`, `frozen` and `pins` (requirement by package name) of a set, over the set it is `like`."""
    row = _facts()["environments"][name]
    base: dict[str, Any] = _environment(row["like"]) if "like" in row else {"pins": {}, "frozen": True}
    pins: dict[str, str] = base["pins"] | _pins(row.get("pins", ""))
    for package in row.get("without", "").split():
        del pins[package]
    kept = {key: row[key] for key in ("python", "frozen") if key in row}
    return base | kept | {"pins": dict(sorted(pins.items()))}


def _pins(text: str) -> dict[str, str]:
    return {pin.partition("==")[0]: pin for pin in text.split()}
