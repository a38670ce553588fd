"""The starter set: real bugs of real packages, made on this machine from releases on the package index.

The project holds facts alone (`data/starter/*.json`, see `tasks.bug`). Sources, fixes, tests and problem
statements are derived from the published archives when the set is prepared, checked by hash, and kept in the
cache. What is found damaged there is made again.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from tasks.bug import Archive, Bug, fix_digest
from tasks.cache import cache_root
from tasks.errors import SourceError
from tasks.git import GitError, open_git, run
from tasks.index import source_distribution
from tasks.mirror import mirror_path
from tasks.release import Fix, derive, unpack
from tasks.task import TaskSet

NAME = "starter"
DOWNLOADS = 8
"""At a time."""

Progress = Callable[[str, int, int], None]
"""Called with an instance id before it is made, how many are done, and how many there are to make."""


@cache
def bugs() -> tuple[Bug, ...]:
    """The recorded bugs, by instance id."""
    files = sorted(resources.files("tasks.data").joinpath("starter").iterdir(), key=lambda file: file.name)
    return tuple(Bug.model_validate_json(file.read_bytes()) for file in files if file.name.endswith(".json"))


def load(progress: Progress | None = None, root: Path | None = None) -> TaskSet:
    """The set, prepared if it is not yet. Each task brings its environment.

    Args:
        root: of the cache; the usual one by default.

    Raises:
        SourceError: as `prepare`.
    """
    root = root or cache_root()
    if any(kept_fix(bug, root) is None or not _holds(bug, root) for bug in bugs()):
        prepare(bugs(), progress, root)
    fixes = ((bug, kept_fix(bug, root)) for bug in bugs())
    return TaskSet(NAME, tuple(bug.task(fix) for bug, fix in fixes if fix is not None))


def prepare(chosen: Sequence[Bug], progress: Progress | None = None, root: Path | None = None) -> None:
    """Makes what is missing or damaged: the fixes of the chosen bugs, repositories with their base commits.

    Any number of processes may ask at once: one works, the others wait. Needs no network when all is there.

    Raises:
        SourceError: a release cannot be had, or does not lead to what is recorded.
    """
    root = root or cache_root()
    (root / NAME).mkdir(parents=True, exist_ok=True)
    with FileLock(root / NAME / ".lock"):
        for repo in {bug.repo for bug in chosen}:
            _drop_damaged(mirror_path(repo, root))
        missing = [bug for bug in chosen if kept_fix(bug, root) is None or not _holds(bug, root)]
        with ThreadPoolExecutor(DOWNLOADS) as pool:
            fetched = {
                archive.sha256: pool.submit(_fetch, bug, archive, root)
                for bug in missing
                for archive in (bug.base, bug.fixed)
            }
            for done, bug in enumerate(missing):
                if progress:
                    progress(bug.instance_id, done, len(missing))
                _make(bug, fetched[bug.base.sha256].result(), fetched[bug.fixed.sha256].result(), root)


def kept_fix(bug: Bug, root: Path) -> Fix | None:
    """The fix in the cache, if it is there and exactly the recorded one."""
    try:
        fix = TypeAdapter(Fix).validate_json(_place(bug, root).read_bytes())
    except (OSError, ValidationError):
        return None
    return fix if fix_digest(fix) == bug.fix_digest else None


def _make(bug: Bug, base: Path, fixed: Path, root: Path) -> None:
    with (
        TemporaryDirectory(prefix="assay-starter-") as base_dir,
        TemporaryDirectory(prefix="assay-") as fixed_dir,
    ):
        trees = unpack(base, Path(base_dir)), unpack(fixed, Path(fixed_dir))
        fix = derive(*trees, bug.base.version, mirror_path(bug.repo, root))
    if fix_digest(fix) != bug.fix_digest:
        raise SourceError(
            f"{bug.instance_id}: comparing its releases gives another fix than the recorded one.",
            "git compares in another way than the versions known so far: install a current git.",
        )
    draft = _place(bug, root).with_suffix(".part")
    draft.write_text(json.dumps(vars(fix)), "utf-8")
    draft.replace(_place(bug, root))


def _fetch(bug: Bug, archive: Archive, root: Path) -> Path:
    return source_distribution(bug.package, archive.version, archive.sha256, root / "sdists")


def _place(bug: Bug, root: Path) -> Path:
    return root / NAME / f"{bug.instance_id}.json"


def _holds(bug: Bug, root: Path) -> bool:
    mirror = mirror_path(bug.repo, root)
    if not mirror.is_dir():
        return False
    try:
        with open_git(mirror) as git:
            run(git, "cat-file", "-e", f"{bug.base_commit}^{{tree}}")
    except GitError:
        return False
    return True


def _drop_damaged(mirror: Path) -> None:
    if not mirror.exists():
        return
    try:
        with open_git(mirror) as git:
            run(git, "fsck", "--full", "--no-dangling", "--no-progress")
    except (GitError, OSError):
        shutil.rmtree(mirror)
