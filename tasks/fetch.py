"""Bringing commits here: from which URL, and what would help when they do not come."""

import logging
import re
import string
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from tenacity import retry, retry_if_exception, stop_after_attempt, wait_exponential

from tasks.errors import InputError, SourceError
from tasks.git import PROTOCOLS, GitError, open_git, run
from tasks.printable import printable

if TYPE_CHECKING:
    from git import Git

GITHUB = "https://github.com/{owner}/{name}.git"

log = logging.getLogger(__name__)

FETCH = ("fetch", "--quiet", "--no-write-fetch-head", "--update-head-ok", "--prune")

_URL = re.compile(r"\w+://[^\s']+")
_UNKNOWN_COMMIT = re.compile(r"not our ref|couldn't find remote ref")
_BROKEN_OFF = re.compile(
    r"early EOF|unexpected disconnect|hung up unexpectedly|RPC failed|Connection reset|error: (?:429|5\d\d)"
)
_REMEDIES = {
    r"No space left|quota exceeded": (
        "Free some disk space, or set ASSAY_CACHE to a directory on a larger disk."
    ),
    r"bad object|corrupt|valid object|packfile": (
        "Delete {mirror} and run again; if that does not help, the source is damaged."
    ),
    r"does not appear to be a git repository|[Nn]ot found|could not read Username|not exist": (
        "Check the name, and --repo-url; for a private repository use an ssh:// URL."
    ),
    r"Permission denied|Host key|Authentication failed|error: 40[13]": (
        "Check your access rights, and for ssh that `ssh` to that host works without a question."
    ),
    r"": (
        "Connect to the network; or name local mirrors, for example"
        " --repo-url 'file:///mirrors/{{owner}}+{{name}}/repo'."
    ),
}
"""By what git said; the first that fits."""


def checked_template(template: str) -> str:
    """The template, if it makes a URL of `{owner}` and `{name}`. Raises InputError."""
    try:
        names = {name for _, name, *_ in string.Formatter().parse(template) if name is not None}
        scheme = urlsplit(template.format(owner="owner", name="name")).scheme
    except (ValueError, LookupError, AttributeError):
        names, scheme = {""}, ""
    if not names <= {"owner", "name"}:
        raise InputError(
            f"--repo-url {printable(template, 200)} is not usable.",
            "Its only placeholders are {owner} and {name}, for example file:///mirrors/{owner}+{name}/repo.",
        )
    if scheme not in PROTOCOLS:
        raise InputError(
            f"--repo-url {printable(template, 200)} does not begin with file://, https:// or ssh://.",
            "A local directory is file:///path; git@host:path is ssh://git@host/path.",
        )
    return template


def shown(url: str) -> str:
    """The URL without whatever password or token it carries, on one line."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return printable(urlunsplit(parts._replace(netloc=host, query="", fragment="")), 200)


def fetch(url: str, mirror: Path, refspecs: tuple[str, ...]) -> None:
    """Brings `refspecs` into the bare repository `mirror`, which may be an empty directory still.

    A commit that the other side does not know is no error. Raises SourceError with a remedy for all else.
    """
    log.info("fetching %s", shown(url))
    _make_bare(mirror)
    try:
        with open_git(mirror) as git:
            _patiently(git, *FETCH, "--", url, *refspecs)
    except GitError as error:
        if _UNKNOWN_COMMIT.search(error.complaint):
            return
        said = _URL.sub(shown(url), error.complaint)
        remedy = next(text for sign, text in _REMEDIES.items() if re.search(sign, said))
        raise SourceError(
            f"{shown(url)} cannot be fetched: {printable(' '.join(said.split()), 400)}",
            remedy.format(mirror=mirror),
        ) from error


def _make_bare(mirror: Path) -> None:
    """Not by `git init`, which refuses where a surrounding git command has set GIT_WORK_TREE."""
    for name in ("objects", "refs"):
        (mirror / name).mkdir(exist_ok=True)
    (mirror / "HEAD").write_text("ref: refs/heads/main\n")


def _broke_off(error: BaseException) -> bool:
    return isinstance(error, GitError) and bool(_BROKEN_OFF.search(error.complaint))


@retry(
    retry=retry_if_exception(_broke_off),
    stop=stop_after_attempt(3),
    wait=wait_exponential(multiplier=2),
    reraise=True,
)
def _patiently(git: "Git", *arguments: str) -> None:
    """A transfer that broke off half-way is worth another try; any other fault is not."""
    run(git, *arguments)
