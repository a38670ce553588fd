"""The files of one commit, byte for byte as they were committed, in a plain directory.

`git archive` leaves out and rewrites what `.gitattributes` says; a checkout converts line ends and runs
filters. Here each blob is written as it is and hashed on its way: what arrives is what the commit names.
"""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tasks.errors import SourceError
from tasks.git import GitError, run
from tasks.printable import printable

if TYPE_CHECKING:
    from git import Git

MTIME_S = 946_684_800
"""Of every file and directory: 2000-01-01. Equal trees are equal, and what a patch writes is newer."""
SYMLINK, SUBMODULE = 0o120000, 0o160000


@dataclass(frozen=True)
class Entry:
    """A file, symlink or submodule of a commit. `path` is relative and stays inside."""

    mode: int
    blob: str
    path: PurePosixPath


def entries(git: "Git", commit: str) -> tuple[Entry, ...]:
    """What the commit holds: no path twice, none inside another, none leading out.

    Raises GitError, and SourceError for a commit that cannot be a directory.
    """
    listing = run(git, "ls-tree", "-r", "-z", "--full-tree", commit)
    found = tuple(map(_entry, filter(None, listing.split(b"\0"))))
    paths = {entry.path for entry in found}
    if len(paths) < len(found) or any(not paths.isdisjoint(path.parents) for path in paths):
        raise SourceError(f"Commit {commit} holds one path twice, which no honest repository does.")
    return found


def _entry(line: bytes) -> Entry:
    facts, _, name = line.partition(b"\t")
    mode, _, blob = facts.decode().split(" ")
    text = os.fsdecode(name)
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in text.split("/")):
        raise SourceError(f"A commit holds the path {name!r}, which no honest repository does.")
    return Entry(int(mode, 8), blob, PurePosixPath(text))


def write(git: "Git", commit: str, directory: Path) -> None:
    """Fills the empty `directory` with the files of `commit`. Submodules become empty directories.

    Raises GitError when the repository does not hold all of it, OSError when the disk does not take it.
    """
    found = entries(git, commit)
    _make_directories(directory, found)
    for entry in found:
        target = directory / entry.path
        if entry.mode == SYMLINK:
            target.symlink_to(_link(git, entry))
        elif entry.mode != SUBMODULE:
            target.write_bytes(_content(git, entry))
            target.chmod(0o755 if entry.mode & 0o100 else 0o644)
    _set_times(directory)


def _make_directories(directory: Path, found: Iterable[Entry]) -> None:
    needed = {parent for entry in found for parent in entry.path.parents}
    needed |= {entry.path for entry in found if entry.mode == SUBMODULE}
    for path in sorted(needed):
        (directory / path).mkdir(exist_ok=path == PurePosixPath("."))
        (directory / path).chmod(0o755)


def _content(git: "Git", entry: Entry) -> bytes:
    try:
        _, _, _, content = git.get_object_data(entry.blob)
    except ValueError as error:
        raise GitError(0, f"blob {entry.blob} cannot be read: {error}") from error
    header = b"blob %d\0" % len(content)
    if hashlib.sha1(header + content, usedforsecurity=False).hexdigest() != entry.blob:
        raise GitError(0, f"blob {entry.blob} is not what its name says")
    return bytes(content)


def _link(git: "Git", entry: Entry) -> str:
    content = _content(git, entry)
    if not content or b"\0" in content:
        raise SourceError(f"A commit holds a symlink to {printable(content)}, which no disk can hold.")
    return os.fsdecode(content)


def _set_times(directory: Path) -> None:
    for folder, folders, files in os.walk(directory, topdown=False):
        for name in (*files, *folders):
            os.utime(Path(folder, name), (MTIME_S, MTIME_S), follow_symlinks=False)
    os.utime(directory, (MTIME_S, MTIME_S))
