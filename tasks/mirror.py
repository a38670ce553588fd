"""Repositories: one bare mirror of each, and plain trees of their commits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from tasks import tree
from tasks.cache import cache_root, publish
from tasks.errors import SourceError
from tasks.fetch import GITHUB, checked_template, fetch, shown
from tasks.git import GitError, open_git, run
from tasks.printable import printable
from tasks.task import Task
from tasks.version import TAG_PATTERNS, version_of

LOCAL_OWNER = "pypi"
"""Owner of the repositories that are made on this machine from published packages: nothing to fetch."""
BRANCHES_AND_TAGS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
"""Not `refs/pull/*`: several times the size, and only ever needed for a commit that can be had by its id."""


def mirror_path(repo: str, cache: Path | None = None) -> Path:
    """Where the bare mirror of `owner/name` lives, whether it is there yet or not."""
    return (cache or cache_root()) / "mirrors" / f"{repo.replace('/', '+')}.git"


class Mirrors:
    """Repositories fetched once into `cache`, shared by all processes of this machine.

    `url_template` holds `{owner}` and `{name}`. Raises InputError when it holds anything else.
    """

    def __init__(self, cache: Path | None = None, url_template: str = GITHUB) -> None:
        self._cache = cache or cache_root()
        self._url_template = checked_template(url_template)

    def export(self, task: Task) -> Path:
        """The files of the task's base commit, without `.git`; made once, never to be changed.

        Raises SourceError when repository or commit cannot be had, with what would help.
        """
        target = self._cache / "trees" / task.repo.replace("/", "__") / task.base_commit
        with _explained(task.repo, self._cache), publish(target) as draft:
            if draft:
                mirror = self._holding(task.repo, task.base_commit)
                with _undamaged(task.repo, mirror), open_git(mirror) as git:
                    tree.write(git, task.base_commit, draft)
        return target

    def describe(self, task: Task) -> str:
        """PEP 440 version of the base commit counted from the last release tag, or "" without one.

        Raises SourceError as `export` does.
        """
        with _explained(task.repo, self._cache):
            mirror = self._holding(task.repo, task.base_commit)
            with _undamaged(task.repo, mirror), open_git(mirror) as git:
                patterns = [f"--match={pattern}" for pattern in TAG_PATTERNS]
                try:
                    found = run(
                        git, "describe", "--tags", "--long", "--abbrev=40", *patterns, task.base_commit
                    )
                except GitError as error:
                    if "No names found" in error.complaint or "No tags can describe" in error.complaint:
                        return ""
                    raise
        return version_of(found.decode(errors="replace").strip())

    def _holding(self, repo: str, commit: str) -> Path:
        """The mirror of `repo`, made or brought up to date if that is what it takes to hold `commit`."""
        mirror = self._mirror(repo)
        if _holds(repo, mirror, commit):
            return mirror
        if repo.startswith(f"{LOCAL_OWNER}/"):
            raise SourceError(
                f"{mirror} lacks commit {commit}: it was made by another version of the set.",
                f"Delete {mirror} and run `assay tasks prepare`.",
            )
        with FileLock(mirror.parent / f".{mirror.name}.fetch.lock"):
            for refspecs in (BRANCHES_AND_TAGS, (f"+{commit}:refs/assay/{commit}",)):
                if not _holds(repo, mirror, commit):
                    fetch(self._url(repo), mirror, refspecs)
        if _holds(repo, mirror, commit):
            return mirror
        raise SourceError(
            f"{repo} at {shown(self._url(repo))} has no commit {commit}.",
            "Check the base_commit of the task; or name a repository that holds it with --repo-url.",
        )

    def _mirror(self, repo: str) -> Path:
        mirror = mirror_path(repo, self._cache)
        if repo.startswith(f"{LOCAL_OWNER}/") and not mirror.exists():
            raise SourceError(f"The repository {repo} is not prepared yet.", "Run `assay tasks prepare`.")
        with publish(mirror) as draft:
            if draft:
                fetch(self._url(repo), draft, BRANCHES_AND_TAGS)
        return mirror

    def _url(self, repo: str) -> str:
        owner, name = repo.split("/")
        return self._url_template.format(owner=owner, name=name)


def _holds(repo: str, mirror: Path, commit: str) -> bool:
    with _undamaged(repo, mirror), open_git(mirror) as git:
        try:
            run(git, "rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}")
        except GitError as error:
            if error.complaint:
                raise
            return False
    return True


@contextmanager
def _undamaged(repo: str, mirror: Path) -> Iterator[None]:
    try:
        yield
    except GitError as error:
        local = repo.startswith(f"{LOCAL_OWNER}/")
        again = "run `assay tasks prepare`" if local else "run again to fetch it anew"
        said = printable(" ".join(error.complaint.split()), 300)
        raise SourceError(
            f"The mirror of {repo} at {mirror} is damaged: {said}",
            f"Delete {mirror} and {again}.",
        ) from error


@contextmanager
def _explained(repo: str, cache: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SourceError(
            f"The files of {repo} cannot be put into {cache}: {error.strerror or error}",
            "Free some disk space, or set ASSAY_CACHE to a directory that can be written and has room.",
        ) from error
