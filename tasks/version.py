"""The version of a commit between two releases, for projects that take theirs from git."""

import re

from packaging.version import InvalidVersion, Version

TAG_PATTERNS = ("[0-9]*", "v[0-9]*", "*-[0-9]*", "*-v[0-9]*")
"""Tags that name a release: 1.2, v1.2, project-1.2, project-v1.2."""

_DESCRIBED = re.compile(r"(?:.*-)??v?(?P<version>[0-9].*)-(?P<distance>[0-9]+)-g(?P<commit>[0-9a-f]{40})")


def version_of(described: str) -> str:
    """PEP 440 version for the output of `git describe --long --abbrev=40`, or "" when its tag is no version.

    A tagged commit has its tag's version. Any other is a development version of the next one, in the manner
    of setuptools_scm: 59 commits after 7.0.1 is `7.0.2.dev59+gabcdef0`, 59 after 7.1.0.dev0 is
    `7.1.0.dev59+gabcdef0`.
    """
    match = _DESCRIBED.fullmatch(described)
    if not match:
        return ""
    try:
        tag = Version(match["version"])
    except InvalidVersion:
        return ""
    distance = int(match["distance"])
    if not distance:
        return tag.public
    dev = (tag.dev or 0) + distance
    return f"{_next(tag)}.dev{dev}+g{match['commit'][:7]}"


def _next(tag: Version) -> str:
    """The version that development after `tag` leads to."""
    release = list(tag.release)
    if tag.dev is None and tag.pre is None and tag.post is None:
        release[-1] += 1
    text = ".".join(map(str, release))
    if tag.pre is not None:
        stage, number = tag.pre
        text += f"{stage}{number + (tag.dev is None and tag.post is None)}"
    if tag.post is not None:
        text += f".post{tag.post + (tag.dev is None)}"
    return f"{tag.epoch}!{text}" if tag.epoch else text
