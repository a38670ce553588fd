"""Text from models, tests and datasets, made fit to be shown."""

import unicodedata


def plain(text: str) -> str:
    """`text` with nothing left in it that steers a terminal, hides or reorders: such characters show escaped.

    Line breaks (`\\n`) and tabs stay; exotic spaces become plain ones.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else _shown(char) for char in text)


def line(text: str, limit: int = 200) -> str:
    """`plain` text on one line of at most `limit` characters."""
    shown = " ".join(plain(text[: 4 * limit]).split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def excerpt(text: str, lines: int) -> str:
    """The first and last of `plain` text's lines, `lines` in all, each cut at 400 characters."""
    all_lines = text.split("\n")
    dropped = len(all_lines) - lines
    if dropped > 0:
        head = lines // 3
        tail = all_lines[len(all_lines) - (lines - head) :]
        all_lines = [*all_lines[:head], f"[… {dropped:,} lines left out …]", *tail]
    return "\n".join(plain(one if len(one) <= 400 else one[:399] + "…") for one in all_lines)


def _shown(char: str) -> str:
    if unicodedata.category(char) == "Zs":
        return " "
    return char.encode("unicode_escape").decode("ascii")
