"""Git's binary patch blocks, as far as their promised size must be known before anything is unpacked."""

import base64
import zlib
from collections.abc import Iterator, Sequence

from evaluator.paths import PatchError

HEADER_LINES = 20
"""Enough of a block for what precedes its first unpacked bytes."""


def result_size(kind: bytes, size: int, lines: Sequence[bytes]) -> int:
    """Bytes of the file a `literal` or `delta` block makes. `size` and `lines` are the block's own.

    A delta begins with two numbers in groups of seven bits, low ones first: size before, size after.

    Raises:
        PatchError: `unparsable`.
    """
    if kind == b"literal":
        return size
    try:
        packed = b"".join(map(_line, lines[:HEADER_LINES]))
        head = iter(zlib.decompressobj().decompress(packed, 32))
        _number(head)
        return _number(head)
    except (ValueError, zlib.error, StopIteration):
        raise PatchError("unparsable", "binary delta") from None


def _line(line: bytes) -> bytes:
    """One line of base 85, whose first letter tells how many bytes it holds."""
    length = line[0] - (ord("A") - 1 if line[:1].isupper() else ord("a") - 27)
    return base64.b85decode(line[1:])[:length]


def _number(digits: Iterator[int]) -> int:
    value = shift = 0
    while True:
        digit = next(digits)
        value |= (digit & 0x7F) << shift
        if digit < 0x80:
            return value
        shift += 7
