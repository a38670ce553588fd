"""Versions of commits between releases."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from packaging.version import InvalidVersion, Version

from tasks.version import version_of

COMMIT = "abcdef0123" * 4


@pytest.mark.parametrize(
    ("tag", "distance", "version"),
    [
        ("v2.9.0", 0, "2.9.0"),
        ("7.0.1", 59, "7.0.2.dev59+gabcdef0"),
        ("7.1.0.dev0", 59, "7.1.0.dev59+gabcdef0"),
        ("7.1.0.dev3", 59, "7.1.0.dev62+gabcdef0"),
        ("6.0.0rc1", 33, "6.0.0rc2.dev33+gabcdef0"),
        ("1.0b2.dev1", 1, "1.0b2.dev2+gabcdef0"),
        ("v0.12", 4, "0.13.dev4+gabcdef0"),
        ("1.0.post1", 2, "1.0.post2.dev2+gabcdef0"),
        ("sympy-1.7", 3, "1.8.dev3+gabcdef0"),
        ("release-v1.7", 3, "1.8.dev3+gabcdef0"),
        ("1!2.0", 3, "1!2.1.dev3+gabcdef0"),
        ("2020-summer", 3, ""),
    ],
)
def test_versions_follow_the_last_release_tag(tag: str, distance: int, version: str) -> None:
    """A project that derives its version from git is told what git would have told it."""
    assert version_of(f"{tag}-{distance}-g{COMMIT}") == version


@pytest.mark.parametrize("text", ["", "v1.0", "v1.0-3", "v1.0-3-gabc"])
def test_anything_else_is_no_version(text: str) -> None:
    """Only the full output of `git describe --long` is read."""
    assert version_of(text) == ""


@given(
    st.builds(
        "{}{}".format,
        st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}", fullmatch=True),
        st.sampled_from(["", "a1", "rc2", ".post3", ".dev4", "rc1.post2", "b1.post2.dev3", "a1.dev0"]),
    ),
    st.integers(1, 9999),
)
def test_a_later_commit_is_a_later_version(tag: str, distance: int) -> None:
    """What follows a tag sorts after it and before the next commit; it is always a valid version."""
    try:
        released = Version(tag)
    except InvalidVersion:
        assume(False)
    first, second = (Version(version_of(f"{tag}-{count}-g{COMMIT}")) for count in (distance, distance + 1))
    assert released < first < second
