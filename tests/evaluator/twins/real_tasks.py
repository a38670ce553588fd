"""Public tasks, and their test files out of local mirrors."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evaluator.apply import apply_patch
from evaluator.patch import parse_patch
from evaluator.twins.bank import TestFile
from evaluator.twins.functions import possible_files
from tasks.files import read_file
from tasks.git import GitError, open_git, run
from tasks.rows import parse
from tasks.task import Task


def shared_data() -> Path:
    shared = os.environ.get("ASSAY_SHARED_DATA")
    if not shared:
        pytest.skip("ASSAY_SHARED_DATA names no directory with the public sets")
    return Path(shared)


def mirror(repo: str) -> Path | None:
    """The local mirror of a repository, if there is one: ASSAY_MIRRORS is a template of `file:` addresses."""
    template = os.environ.get("ASSAY_MIRRORS", "")
    owner, name = repo.split("/")
    path = Path(template.removeprefix("file://").format(owner=owner, name=name))
    return path if template.startswith("file://") and path.is_dir() else None


def verified() -> Iterator[tuple[Task, Path]]:
    """Rows of SWE-bench Verified whose repositories are mirrored here."""
    for row in read_file(shared_data() / "SWE-bench_Verified.parquet"):
        task = parse(row)
        assert isinstance(task, Task)
        if found := mirror(task.repo):
            yield task, found


def test_files(task: Task, repository: Path) -> dict[str, TestFile]:
    """The files of the test patch and of the required tests, before and after the patch."""
    patch = parse_patch(task.test_patch)
    paths = {*patch.paths, *possible_files(task.fail_to_pass)}
    before: dict[str, bytes] = {}
    with open_git(repository) as git, TemporaryDirectory() as folder:
        for path in paths:
            try:
                before[path] = run(git, "cat-file", "blob", f"{task.base_commit}:{path}")
            except GitError:
                continue
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(before[path])
        patched = apply_patch(patch, Path(folder)).files
    after = before | {path: file.content for path, file in patched.items() if file is not None}
    return {
        path: TestFile(before.get(path), content)
        for path, content in after.items()
        if path.endswith(".py") and patched.get(path, True) is not None
    }


test_files.__test__ = False  # type: ignore[attr-defined]
