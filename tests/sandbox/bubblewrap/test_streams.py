"""Bounded streams, and the splitting of the result channel."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sandbox.capture import Capture
from sandbox.job import Job
from sandbox.protocol import Frames, new_boundary


def cut(content: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(content), *(place % (len(content) + 1) for place in places)})
    return [content[start:end] for start, end in pairwise(edges)]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300)), st.integers(2, 100))
def test_a_capture_keeps_both_ends(content, places, limit):
    """However a stream arrives, its beginning and its end are kept, and all of it when it fits."""
    capture = Capture(limit)
    for part in cut(content, places):
        capture.feed(part)
    kept = capture.content()
    if len(content) <= limit:
        assert kept == content
    else:
        assert kept.startswith(content[: limit // 2])
        assert kept.endswith(content[-(limit - limit // 2) :])
        assert len(kept) <= limit + 40


@given(st.binary(max_size=300), st.binary(max_size=300), st.lists(st.integers(0, 900)), st.integers(0, 255))
def test_the_channel_is_split_wherever_it_is_cut(frames, file, places, status):
    """What the command wrote, its files and its status come apart again however the bytes arrive."""
    boundary = new_boundary()
    stream = b"%b started\n%b%b file 1 %d\n%b%b end %d\n" % (
        *(boundary, frames, boundary, len(file)),
        *(file, boundary, status),
    )
    channel = Frames(boundary, Job((), collect=("a", "b")))
    for part in cut(stream, places):
        channel.feed(part)
    assert (channel.content(), channel.collected(), channel.exit_status) == (frames, {"b": file}, status)


def test_a_channel_cut_short_has_no_status():
    """When `init` did not get to its last word, neither a status nor half a file is made up."""
    boundary = new_boundary()
    channel = Frames(boundary, Job((), collect=("a",)))
    channel.feed(b"%b started\nwords%b file 0 10\nhalf" % (boundary, boundary))
    assert (channel.content(), channel.collected(), channel.exit_status) == (b"words", {}, None)


def test_a_failure_of_init_is_told():
    """The reason why a sandbox could not be made reaches the host."""
    boundary = new_boundary()
    channel = Frames(boundary, Job(()))
    channel.feed(boundary + b" failed no such place\n")
    assert (channel.started, channel.failure) == (False, "no such place")
