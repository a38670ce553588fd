"""The three streams of a container over one connection."""

import socket
import struct
import threading
import time
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.exchange import Exchange

pieces = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=8)


@settings(deadline=None)
@given(pieces, st.integers(1, 60))
def test_streams_come_apart_however_they_are_cut(sent: list[tuple[int, bytes]], step: int) -> None:
    """Each stream gets its own bytes in order, wherever the connection breaks them up."""
    received: dict[int, bytes] = defaultdict(bytes)
    expected: dict[int, bytes] = defaultdict(bytes)
    whole = b""
    for stream, part in sent:
        expected[stream] += part
        whole += struct.pack(">B3xI", stream, len(part)) + part

    def receive(stream: int, part: bytes) -> bool:
        received[stream] += part
        return True

    near, far = socket.socketpair()
    with near, far:
        exchange = Exchange(near, b"", receive, lambda: True)
        for cut in range(0, len(whole), step):
            far.sendall(whole[cut : cut + step])
        far.shutdown(socket.SHUT_WR)
        assert exchange.run(time.monotonic() + 60) == "closed"
    assert {k: v for k, v in received.items() if v} == {k: v for k, v in expected.items() if v}


def test_input_larger_than_any_buffer_goes_both_ways() -> None:
    """A container that answers while it is still being fed blocks neither side."""
    size, answered = 8 << 20, 0
    near, far = socket.socketpair()

    def echo() -> None:
        while part := far.recv(1 << 16):
            far.sendall(struct.pack(">B3xI", 1, len(part)) + part)
        far.close()

    def receive(stream: int, part: bytes) -> bool:
        nonlocal answered
        answered += len(part)
        return True

    thread = threading.Thread(target=echo)
    thread.start()
    with near:
        assert Exchange(near, bytes(size), receive, lambda: True).run(time.monotonic() + 60) == "closed"
    thread.join()
    assert answered == size


@pytest.mark.parametrize(("deadline", "ending"), [(0.05, "wall"), (60, "stopped")])
def test_an_exchange_ends_without_the_container(deadline: float, ending: str) -> None:
    """Time being up ends an exchange; so does a receiver that has had enough."""
    near, far = socket.socketpair()
    with near, far:
        if ending == "stopped":
            far.sendall(struct.pack(">B3xI", 2, 1) + b"x")
        exchange = Exchange(near, b"", lambda *_: False, lambda: True)
        assert exchange.run(time.monotonic() + deadline) == ending
