"""git, through GitPython, deaf to the configuration of the machine and of its user."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tasks.errors import SourceError

if TYPE_CHECKING:
    from git import Git

PROTOCOLS = ("file", "https", "ssh")


class GitError(Exception):
    """A git command failed. `complaint` is what it said, in English, not fit for a terminal."""

    def __init__(self, status: int, complaint: str) -> None:
        super().__init__(complaint)
        self.status = status
        self.complaint = complaint


@contextmanager
def open_git(directory: Path) -> Iterator["Git"]:
    """GitPython's git on the bare repository `directory`. Raises SourceError where git is missing."""
    try:
        from git import Git  # looks for the git program when it is imported
    except ImportError as error:
        raise SourceError(
            "There is no git program on this machine.", "Install git (Debian: apt-get install git)."
        ) from error
    git = Git(str(directory))
    git.update_environment(**_environment(directory))
    try:
        yield git
    finally:
        git.clear_cache()


def run(git: "Git", *arguments: str, stdin: BinaryIO | None = None) -> bytes:
    """Standard output of one git command, which reads the open file `stdin`. Raises GitError."""
    status, output, complaint = git.execute(
        ["git", *arguments],
        istream=stdin,
        with_extended_output=True,
        with_exceptions=False,
        stdout_as_string=False,
        strip_newline_in_stdout=False,
    )
    if status:
        raise GitError(int(status), str(complaint))
    return bytes(output)


def _environment(directory: Path) -> dict[str, str]:
    """Each variable also overrides one that a surrounding git command (a hook, a rebase) may have set."""
    return {
        "GIT_DIR": str(directory),
        "GIT_OBJECT_DIRECTORY": str(directory / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_NAMESPACE": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(resources.files("tasks") / "data" / "gitconfig"),
        "GIT_CONFIG_PARAMETERS": "",
        "GIT_CONFIG_COUNT": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_SSH_COMMAND": os.environ.get(
            "GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=20"
        ),
    }
