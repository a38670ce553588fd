"""Streams of unknown length in bounded memory."""

RUNAWAY = 10
"""A stream this many times its limit long will not end by itself."""


class Capture:
    """Head and tail of a stream, `limit` bytes in all; a line between them says how much is missing."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def feed(self, part: bytes) -> None:
        self.total += len(part)
        room = self.limit // 2 - len(self._head)
        self._head += part[:room]
        self._tail += part[room:]
        if len(self._tail) > 2 * self.limit:  # now and then, not at every byte
            self._trim()

    @property
    def runaway(self) -> bool:
        return self.total > RUNAWAY * self.limit

    @property
    def dropped(self) -> int:
        """Bytes of the middle that are gone."""
        self._trim()
        return self.total - len(self._head) - len(self._tail)

    def content(self) -> bytes:
        dropped = self.dropped
        notice = b"\n[... %d bytes dropped ...]\n" % dropped if dropped else b""
        return bytes(self._head) + notice + bytes(self._tail)

    def _trim(self) -> None:
        del self._tail[: -(self.limit - self.limit // 2)]
