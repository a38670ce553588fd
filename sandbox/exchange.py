"""The three streams of a container over one connection: its input going in, the others coming back mixed."""

import selectors
import socket
import struct
import time
from collections.abc import Callable
from typing import Literal

STDOUT, STDERR = 1, 2
HEADER = struct.Struct(">B3xI")
"""Before each piece that comes back: the stream it belongs to and its length."""
CHUNK = 1 << 18
LOOK_EVERY_S = 2.0

Ending = Literal["closed", "wall", "stopped"]


class Exchange:
    """Talks to an attached container until it closes its streams, time is up, or it must not go on.

    `receive(stream, part)` gets what comes back; `look()` is called now and then. Either ends the exchange by
    answering False.
    """

    def __init__(
        self,
        connection: socket.socket,
        given: bytes,
        receive: Callable[[int, bytes], bool],
        look: Callable[[], bool],
    ) -> None:
        self._connection = connection
        self._unsent = memoryview(given)
        self._receive = receive
        self._look = look
        self._header = b""
        self._stream = 0
        self._left = 0

    def run(self, deadline: float) -> Ending:
        """`deadline` is on the monotonic clock.

        Raises:
            OSError: the connection broke.
        """
        self._connection.setblocking(False)
        next_look = time.monotonic() + LOOK_EVERY_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while (now := time.monotonic()) < deadline:
                if now >= next_look:
                    if not self._look():
                        return "stopped"
                    next_look = time.monotonic() + LOOK_EVERY_S
                for _, events in selector.select(min(deadline, next_look) - now):
                    if events & selectors.EVENT_WRITE and self._send():
                        selector.modify(self._connection, selectors.EVENT_READ)
                    if events & selectors.EVENT_READ and (ending := self._read()):
                        return ending
        return "wall"

    def _send(self) -> bool:
        """Whether all is sent, and the container told that no more will come."""
        try:
            while self._unsent:
                self._unsent = self._unsent[self._connection.send(self._unsent[:CHUNK]) :]
            self._connection.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            return False
        except ConnectionError:
            pass  # a command need not read its input
        return True

    def _read(self) -> Ending | None:
        try:
            part = self._connection.recv(CHUNK)
        except BlockingIOError:
            return None
        if not part:
            return "closed"
        return None if self._split(part) else "stopped"

    def _split(self, part: bytes) -> bool:
        more = True
        while part and more:
            if not self._left:
                missing = HEADER.size - len(self._header)
                self._header, part = self._header + part[:missing], part[missing:]
                if len(self._header) == HEADER.size:
                    self._stream, self._left = HEADER.unpack(self._header)
                    self._header = b""
                continue
            piece, part = part[: self._left], part[self._left :]
            self._left -= len(piece)
            more = self._receive(self._stream, piece)
        return more
