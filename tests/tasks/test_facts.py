"""What is known of public tasks: environments, test files, quarantine."""

import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from tasks import facts
from tasks.environment import Environment
from tasks.errors import InputError
from tasks.files import read_file
from tasks.rows import parse
from tasks.task import Task


def public_rows(name: str) -> Iterator[Task]:
    """The rows of a public set, where a copy of it lies on this machine."""
    shared = os.environ.get("ASSAY_SHARED_DATA")
    if not shared:
        pytest.skip("ASSAY_SHARED_DATA names no directory with the public sets")
    for row in read_file(Path(shared) / f"{name}.parquet"):
        task = parse(row)
        assert isinstance(task, Task)
        yield task


def a_task(**fields: object) -> Task:
    known = {
        "instance_id": "psf__requests-1",
        "repo": "psf/requests",
        "version": "2.27",
        "base_commit": "0" * 40,
        "problem_statement": "It is broken.",
        "patch": "",
        "test_patch": "",
        "FAIL_TO_PASS": ["tests/test_a.py::test_a"],
        "PASS_TO_PASS": [],
    }
    return Task.model_validate(known | fields)


@pytest.mark.parametrize("name", ["SWE-bench_Verified", "SWE-bench_Lite"])
def test_every_public_task_has_an_environment(name: str) -> None:
    """Each row of the public sets has a Python version, exact pins and a test command."""
    seen = 0
    for task in public_rows(name):
        environment = facts.environment_of(task)
        assert environment.python and environment.test_command and environment.packages, task.instance_id
        assert all(pin.count("==") == 1 for pin in environment.packages), task.instance_id
        names = [pin.partition("==")[0] for pin in environment.packages]
        assert len(set(names)) == len(names), task.instance_id
        seen += 1
    assert seen in (300, 500)


def test_what_a_row_brings_comes_first() -> None:
    """A task's own environment is used as it is, though its repository is a known one."""
    own = Environment(python="3.12", packages=("pytest==8.3.5",))
    assert facts.environment_of(a_task(environment=own)) == own


def test_recorded_pins_of_a_version() -> None:
    """An environment is put together from its set, the sets that one is like, and its version's own pins."""
    flask = facts.environment_of(a_task(repo="pallets/flask", version="2.0"))
    assert flask.python == "3.9"
    assert {"click==8.0.1", "werkzeug==2.3.7", "pytest==7.3.0"} <= set(flask.packages)
    assert "click==8.1.3" not in flask.packages


def test_an_instance_with_an_environment_of_its_own() -> None:
    """Where one instance was recorded with other packages than the rest of its version, it gets those."""
    usual = facts.environment_of(a_task(repo="pylint-dev/pylint", version="2.15"))
    own = facts.environment_of(
        a_task(repo="pylint-dev/pylint", version="2.15", instance_id="pylint-dev__pylint-7277")
    )
    assert "astroid==2.11.7" in usual.packages
    assert "astroid==2.12.13" in own.packages


@pytest.mark.parametrize(
    ("repo", "version", "runner", "log_parser"),
    [
        ("django/django", "3.2", "django", "django"),
        ("sympy/sympy", "1.12", "sympy", "sympy"),
        ("sphinx-doc/sphinx", "4.1", "pytest", "pytest_v2"),
        ("psf/requests", "2.27", "pytest", "pytest_options"),
    ],
)
def test_runner_and_spelling(repo: str, version: str, runner: str, log_parser: str) -> None:
    """Each repository's tests have their runner, and its ids their spelling."""
    environment = facts.environment_of(a_task(repo=repo, version=version))
    assert (environment.runner, environment.log_parser) == (runner, log_parser)


@pytest.mark.parametrize(
    ("repo", "version"), [("psf/requests", "99.0"), ("psf/requests", ""), ("no/body", "1.0")]
)
def test_an_unknown_version_is_refused(repo: str, version: str) -> None:
    """Without an environment the error names task, repository and what to add to the row."""
    with pytest.raises(InputError) as caught:
        facts.environment_of(a_task(repo=repo, version=version))
    assert repo in caught.value.message
    assert "`environment`" in caught.value.remedy


def test_an_image_brings_its_packages() -> None:
    """For a row with an image nothing is installed; the test command is still the recorded one."""
    task = a_task(
        repo="django/django", version="3.2", image="example/django:latest", log_parser="parse_log_django"
    )
    published = facts.published_environment(task)
    assert published is not None
    assert (published.image, published.packages, published.log_parser) == (
        "example/django:latest",
        (),
        "django",
    )
    assert published.runner == "django"
    assert published.test_command.startswith("./tests/runtests.py")
    assert facts.published_environment(a_task()) is None


def test_an_image_of_an_unknown_repository() -> None:
    """An image alone is enough, whatever the repository."""
    published = facts.published_environment(
        a_task(repo="no/body", image="example/any", log_parser="parse_log_pytest")
    )
    assert published is not None
    assert (published.runner, published.log_parser) == ("pytest", "pytest")


def test_test_files_are_the_python_files_of_the_test_patch() -> None:
    """Data and templates are left out, the order is kept; a line that only looks like a header is none."""
    patch = (
        "diff --git a/tests/b/test_b.py b/tests/b/test_b.py\n"
        "--- a/tests/b/test_b.py\n+++ b/tests/b/test_b.py\n@@ -1 +1,2 @@\n x\n"
        "+diff --git a/tests/no.py b/tests/no.py\n"
        "diff --git a/tests/data.json b/tests/data.json\n"
        "diff --git a/tests/a.html b/tests/a.html\n"
        "diff --git a/tests/test_a.py b/tests/test_a.py\n"
    )
    assert facts.patched_tests(patch) == ("tests/b/test_b.py", "tests/test_a.py")
    assert facts.test_files(a_task(test_patch=patch)) == facts.patched_tests(patch)


@pytest.mark.parametrize(
    ("instance", "host"),
    [
        ("psf__requests-1724", "httpbin.org"),
        ("psf__requests-1766", "httpbin.org"),
        ("psf__requests-1921", "httpbin.org"),
        ("psf__requests-2317", "httpbin.org"),
        ("sphinx-doc__sphinx-8269", "www.google.com"),
    ],
)
def test_tasks_that_need_the_network_are_quarantined(instance: str, host: str) -> None:
    """Tasks whose tests talk to a public service are named so, with the service; others are not."""
    reason = facts.quarantine_of(a_task(instance_id=instance))
    assert reason.startswith("needs network: ") and host in reason
    assert facts.quarantine_of(a_task(instance_id="psf__requests-6028")) == ""


def test_a_row_can_bring_its_own_quarantine() -> None:
    """What a row says of itself is kept."""
    assert facts.quarantine_of(a_task(quarantine="flaky: test_a")) == "flaky: test_a"


def test_the_facts_stay_small() -> None:
    """Shared pins are written down once: the file stays below 150 kB."""
    file = resources.files("tasks.data").joinpath("environments.json")
    assert len(file.read_bytes()) < 150_000
