"""Two releases of a package as a bug: the older one as a commit, and what the newer one changed in it.

Everything is derived with git from the two source distributions, so that equal archives give equal bytes on
any machine: a fixed committer and date, fixed diff options, no configuration of the user's.
"""

import os
import re
import stat
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from tasks.errors import SourceError
from tasks.git import GitError, open_git, run
from tasks.printable import printable

if TYPE_CHECKING:
    from git import Git

LARGEST_TREE_BYTES = 256 << 20
LARGEST_TREE_FILES = 20_000
_COMMITTER = b"Assay <assay@localhost> 946684800 +0000"
_DIFF = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--full-index",
    "--diff-algorithm=myers",
    "--indent-heuristic",
)
_CHANGELOG = re.compile(r"(^|/)(changes|changelog|history|news)(\.(rst|md|txt))?$", re.IGNORECASE)
_TEST = re.compile(r"(^|/)(tests?|testing)/|^(test_[^/]*|[^/]*_test|tests|conftest)\.py$")
_NO_SOURCE = re.compile(
    r"^(artwork|bench|benchmarks|doc|docs|etc|examples|requirements|scripts|tools)/"
    r"|(^|/)(\.|[^/]*\.egg-info/)|/locale/|^setup\.py$|^[^/]*(?<!\.py)$"
)


@dataclass(frozen=True)
class Fix:
    """What a newer release changed, over `base_commit`, which holds the older one."""

    base_commit: str
    problem_statement: str
    """The lines that the newer release's changelog adds."""
    patch: str
    test_patch: str


def unpack(archive: Path, into: Path) -> Path:
    """Extracts the regular files of a source distribution, but for any `.git`, and runs nothing of it.

    Returns its one top directory.

    Raises:
        SourceError: not such an archive, too large, or a path in it leads outside.
    """
    try:
        with tarfile.open(archive, "r:gz") as tar:
            count = size = 0
            for member in tar:
                count, size = count + 1, size + member.size
                if count > LARGEST_TREE_FILES or size > LARGEST_TREE_BYTES:
                    raise SourceError(f"{archive.name} unpacks to more than a source distribution should.")
                path = PurePosixPath(member.name)
                if path.is_absolute() or ".." in path.parts:
                    raise SourceError(
                        f"{archive.name} holds a path that leads outside: {printable(member.name)}"
                    )
                content = tar.extractfile(member) if member.isfile() else None
                if content and ".git" not in member.name.lower().split("/"):
                    target = into / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content.read())
                    target.chmod(0o755 if member.mode & stat.S_IXUSR else 0o644)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise SourceError(f"{archive.name} is not a source distribution: {error}") from error
    match list(into.iterdir()):
        case [top] if top.is_dir():
            return top
    raise SourceError(f"{archive.name} is not a source distribution: it needs one top directory.")


def derive(base: Path, fixed: Path, version: str, mirror: Path) -> Fix:
    """Compares two unpacked releases, and leaves the tree `base` as a commit in the bare repository `mirror`.

    Args:
        base: the older release, whose `version` becomes the tag of its commit.
        fixed: the newer release; nothing of it enters the mirror.
        mirror: made when absent.

    Raises:
        SourceError: git failed, or there is no changelog entry, no source change or no test change.
    """
    with tempfile.TemporaryDirectory(prefix="assay-release-") as scratch, open_git(Path(scratch)) as git:
        try:
            run(git, "init", "--quiet", "--bare", "--template=")
            old, new = _commit(git, base, "base"), _commit(git, fixed, "fixed")
            mirror.mkdir(parents=True, exist_ok=True)
            with open_git(mirror) as kept:
                run(kept, "init", "--quiet", "--bare", "--template=")
            run(git, "push", "--quiet", str(mirror), f"+{old}:refs/tags/{version}")
            names = run(git, "diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new)
            changed = [os.fsdecode(name) for name in names.split(b"\0") if name]
            fix = Fix(
                base_commit=old,
                problem_statement=_entry(_diff(git, old, new, filter(_CHANGELOG.search, changed), context=0)),
                patch=_diff(git, old, new, filter(is_source, changed)),
                test_patch=_diff(git, old, new, filter(is_test, changed)),
            )
        except GitError as error:
            raise SourceError(
                f"git could not compare two releases: {printable(error.complaint, 400)}"
            ) from error
    for part in ("problem_statement", "patch", "test_patch"):
        if not getattr(fix, part).strip():
            raise SourceError(f"The release after {version} has no {part.replace('_', ' ')} to derive.")
    return fix


def is_test(path: str) -> bool:
    return bool(_TEST.search(path)) and not _NO_SOURCE.search(path)


def is_source(path: str) -> bool:
    """Whether a changed file is part of a fix: no test, documentation, metadata or build configuration."""
    return not (_TEST.search(path) or _NO_SOURCE.search(path) or _CHANGELOG.search(path))


def _commit(git: "Git", tree: Path, branch: str) -> str:
    """Commits a directory byte by byte (no filters, attributes or ignore rules) and returns the commit."""
    with tempfile.TemporaryFile() as stream:
        stream.write(b"commit refs/heads/%s\ncommitter %s\ndata 0\n" % (branch.encode(), _COMMITTER))
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                mode = b"100755" if path.stat().st_mode & stat.S_IXUSR else b"100644"
                _write(stream, mode, path.relative_to(tree), path.read_bytes())
        stream.seek(0)
        run(git, "fast-import", "--quiet", stdin=stream)
    return run(git, "rev-parse", f"refs/heads/{branch}").decode().strip()


def _write(stream: BinaryIO, mode: bytes, path: Path, content: bytes) -> None:
    name = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    stream.write(b'M %s inline "%s"\ndata %d\n%s\n' % (mode, name, len(content), content))


def _diff(git: "Git", old: str, new: str, paths: Iterable[str], context: int = 3) -> str:
    if not (chosen := list(paths)):
        return ""
    try:
        text = run(
            git, "--literal-pathspecs", "diff", *_DIFF, f"-U{context}", old, new, "--", *chosen
        ).decode()
    except UnicodeDecodeError as error:
        raise SourceError(f"A release changes a file that is not UTF-8 text: {error}") from error
    if binary := re.search(r"^Binary files .* differ$", text, re.MULTILINE):
        raise SourceError(f"A release changes a file that is no text: {printable(binary[0])}")
    return text


def _entry(changelog_diff: str) -> str:
    """The longest addition: a release's own entry, where older entries were touched up as well."""
    hunks = re.split(r"^@@.*$", changelog_diff, flags=re.MULTILINE)
    entries: list[str] = ["\n".join(re.findall(r"^\+(.*)$", hunk, re.MULTILINE)).strip() for hunk in hunks]
    return max(entries, key=lambda entry: entry.count("\n"))
