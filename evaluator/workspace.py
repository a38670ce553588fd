"""What is laid over a fresh copy of the base: the patch's own files, and everything the grader owns.

The copy starts at the base, so leaving a path out restores it. Reverting is no punishment: the rest of the
patch is judged, and a flag tells what was left out.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath

from evaluator.apply import Changes, read_file
from evaluator.paths import MIXED, PathClass, classify, parents, shadowed_module
from evaluator.runner.plan import Canaries
from evaluator.runner_sections import keep_runner_sections
from sandbox.job import File

REVERTED = {
    PathClass.TEST: "reverted_test_edit",
    PathClass.RUNNER: "reverted_runner_config",
    PathClass.STARTUP: "reverted_startup_file",
    PathClass.COMPILED: "dropped_binary",
}


@dataclass(frozen=True)
class Trusted:
    """The grader's side of one task."""

    files: Mapping[str, File | None]
    """What the test patch makes of the base."""
    fixed: frozenset[str]
    """Paths the reference fix changes: sources, wherever they lie."""


@dataclass(frozen=True)
class Workspace:
    """Files to write and to remove in the copy."""

    files: Mapping[str, File]
    removals: tuple[str, ...]
    flags: frozenset[str]
    patched: frozenset[str]
    """Those of `files` that are the patch's."""


def lay_out(changes: Changes, trusted: Trusted, canaries: Canaries, tree: Path) -> Workspace:
    """The workspace of one run.

    A path belongs to the grader when the test patch touches it, when it is a test, runner or start-up file,
    or when it is compiled code. A file among the tests that the reference fix changes counts as source.
    """
    kept: dict[str, File | None] = {}
    flags = set(changes.flags)
    for path, patched in changes.files.items():
        file = patched
        kind = _kind(path, trusted, tree)
        if kind in REVERTED:
            flags.add(REVERTED[kind])
            continue
        if path.rsplit("/", 1)[-1] in MIXED:
            file, touched = _keep_runner_sections(path, file, tree)
            if touched:
                flags.add(REVERTED[PathClass.RUNNER])
        if kind is PathClass.BUILD:
            flags.add("build_input_changed")
        kept[path] = file
    laid = kept | dict(trusted.files)
    files = {path: file for path, file in laid.items() if file is not None}
    files |= {path: File(content) for path, content in canaries.files.items()}
    removals = tuple(path for path, file in laid.items() if file is None and path not in files)
    return Workspace(files, removals, frozenset(flags), frozenset(kept) & files.keys())


def _kind(path: str, trusted: Trusted, tree: Path) -> PathClass:
    if path in trusted.files or any(path in parents(other) for other in trusted.files):
        return PathClass.TEST
    kind = classify(path)
    if kind is PathClass.TEST and path in trusted.fixed:
        return PathClass.SOURCE
    module = shadowed_module(path)
    if module and not (tree / module).exists() and not (tree / f"{module}.py").exists():
        return PathClass.STARTUP
    return kind


def _keep_runner_sections(path: str, file: File | None, tree: Path) -> tuple[File | None, bool]:
    base = read_file(tree / path)
    if file is not None and file.link:
        return base, True
    content, touched = keep_runner_sections(
        path.rsplit("/", 1)[-1], base.content if base else None, file.content if file else b""
    )
    if content is None or (file is None and not touched):
        return None, touched
    return replace(file or base or File(), content=content, link=""), touched


def trusted_sources(files: Iterable[str], workspace: Workspace, tree: Path) -> dict[str, str]:
    """SHA-256 of the Python files that decide what `files` test: these, and the grader's beside and above."""
    files = frozenset(files)
    folders = {folder for path in files for folder in PurePosixPath(path).parents}
    known = {str(folder / name) for folder in folders for name in _names(tree / folder)}
    found = {
        path: workspace.files.get(path) or read_file(tree / path)
        for path in sorted((known | workspace.files.keys()) - workspace.patched)
        if path.endswith(".py")
        and PurePosixPath(path).parent in folders
        and (path in files or classify(path) in (PathClass.TEST, PathClass.RUNNER))
    }
    return {path: sha256(file.content).hexdigest() for path, file in found.items() if file and not file.link}


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names alone
    except (FileNotFoundError, NotADirectoryError):
        return []
