"""Lines of a long text."""

from collections.abc import Iterator

AT_ONCE = 1 << 20
"""Characters. A log of tens of megabytes may be nothing but line ends."""


def lines(text: str) -> Iterator[str]:
    """As `text.split("\\n")`, never holding all of them."""
    start = 0
    while (end := text.find("\n", start + AT_ONCE)) >= 0:
        yield from text[start:end].split("\n")
        start = end + 1
    yield from text[start:].split("\n")
