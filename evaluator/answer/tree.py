"""Reads of a repository by names that a stranger chose."""

import stat
from pathlib import Path, PurePosixPath


def locate(tree: Path, path: str) -> Path | None:
    """Where `path` is in `tree`; None when it leads out of it or through a symbolic link."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
        return None
    at = tree
    try:
        for part in parts:
            at /= part
            if at.is_symlink():
                return None
    except OSError:  # a name longer than the file system has
        return None
    return at


def read_text(tree: Path, path: str, largest: int) -> str | None:
    """The file with its line ends as they are; None unless it is UTF-8 text of at most `largest` bytes."""
    at = locate(tree, path)
    try:
        if at is None or not stat.S_ISREG((facts := at.lstat()).st_mode) or facts.st_size > largest:
            return None
        text = at.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text
