"""Finds the facts of a pair of releases: the tests that the newer one makes or keeps passing, every time."""

import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tasks.bug import Archive, Bug, environment, fix_digest, group
from tasks.environment import Environment
from tasks.errors import InputError, SourceError
from tasks.facts import patched_tests
from tasks.index import listed_hash, resolve, source_distribution
from tasks.release import derive, unpack

RunTests = Callable[[Path, Environment, tuple[str, ...]], Mapping[str, str]]
"""Runs test files of a tree under an environment. Returns the outcome by pytest id: `passed`, `failed`, …

It runs code of strangers, so it belongs to whoever has a sandbox.
"""


@dataclass(frozen=True)
class Mined:
    """A bug, and why the other tests of its files are not counted."""

    bug: Bug
    dropped: Mapping[str, str]
    """Reason by test id."""


def mine(
    package: str,
    base: str,
    fixed: str,
    cache: Path,
    run_tests: RunTests,
    *,
    python: str = "3.11",
    extra: tuple[str, ...] = (),
    repeats: int = 5,
) -> Mined:
    """Measures the release `fixed` of `package` against its predecessor `base`.

    Args:
        cache: keeps the source distributions.
        run_tests: runs tests, `2 * repeats` times.
        python: version the environment is made for.
        extra: requirements of the tests that the package does not declare.
        repeats: how often a test has to show the same outcome, before the fix and after it.

    Raises:
        SourceError: a release cannot be had, or lacks changelog entry, source change or test change.
        InputError: no test fails before the fix and passes after it every time.
    """
    archives = {
        version: Archive(version=version, sha256=listed_hash(package, version)) for version in (base, fixed)
    }
    with tempfile.TemporaryDirectory(prefix="assay-mine-") as scratch:
        old, new = (
            unpack(source_distribution(package, version, archive.sha256, cache), _directory(scratch, version))
            for version, archive in archives.items()
        )
        fix = derive(old, new, base, Path(scratch) / "mirror.git")
        pins = _pins(package, base, old, python, extra)
        before = _patched(old, Path(scratch) / "before", fix.test_patch)
        after = _patched(old, Path(scratch) / "after", fix.test_patch, fix.patch)
        files = patched_tests(fix.test_patch)
        runs = [
            [run_tests(tree, environment(python, pins), files) for _ in range(repeats)]
            for tree in (before, after)
        ]
    fail_to_pass, pass_to_pass, dropped = classify(*runs)
    if not fail_to_pass:
        raise InputError(
            f"No test fails with {package} {base} and passes with {fixed}, {repeats} times of {repeats}."
        )
    bug = Bug(
        package=package,
        base=archives[base],
        fixed=archives[fixed],
        python=python,
        packages=pins,
        base_commit=fix.base_commit,
        fix_digest=fix_digest(fix),
        fail_to_pass=group(fail_to_pass),
        pass_to_pass=group(pass_to_pass),
    )
    return Mined(bug, dropped)


def classify(
    before: list[Mapping[str, str]], after: list[Mapping[str, str]]
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """Sorts test ids by their outcomes in all runs: fail to pass, pass to pass, the rest with the reason."""
    fail_to_pass, pass_to_pass, dropped = [], [], {}
    for test in sorted({test for run in (*before, *after) for test in run}):
        was = {run.get(test, "absent") for run in before}
        now = {run.get(test, "absent") for run in after}
        if now != {"passed"}:
            dropped[test] = f"{' or '.join(sorted(now))} after the fix"
        elif was == {"passed"}:
            pass_to_pass.append(test)
        elif "passed" in was or "skipped" in was:
            dropped[test] = f"{' or '.join(sorted(was))} before the fix"
        else:
            fail_to_pass.append(test)
    return tuple(fail_to_pass), tuple(pass_to_pass), dropped


def _pins(package: str, version: str, tree: Path, python: str, extra: tuple[str, ...]) -> tuple[str, ...]:
    """Pins of what the release needs, of pytest, and of what builds it; without the release itself."""
    project = tree / "pyproject.toml"
    build = tomllib.loads(project.read_text("utf-8")).get("build-system", {}) if project.exists() else {}
    tools = list(build.get("requires", ["setuptools", "wheel"]))
    if any(tool.startswith("hatchling") for tool in tools):
        tools.append("editables")
    pins = resolve((f"{package}=={version}", "pytest", *tools, *extra), python)
    return tuple(pin for pin in pins if pin.partition("==")[0] != package)


def _patched(tree: Path, target: Path, *patches: str) -> Path:
    shutil.copytree(tree, target, symlinks=True)
    for patch in patches:
        command = ("git", "apply", "--whitespace=nowarn", "-")
        done = subprocess.run(command, cwd=target, input=patch.encode(), capture_output=True, check=False)
        if done.returncode:
            raise SourceError(
                f"git cannot apply what it has just compared: {done.stderr.decode(errors='replace')}"
            )
    return target


def _directory(scratch: str, name: str) -> Path:
    path = Path(scratch) / name
    path.mkdir()
    return path
