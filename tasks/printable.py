"""Foreign text made fit for a terminal, a log line or an error message."""


def printable(value: object, limit: int = 80) -> str:
    """`value` on one line of at most `limit` characters: printable text as it is, all else as `repr`.

    `repr` escapes control, bidirectional and invisible characters, so nothing foreign steers a terminal.
    """
    if isinstance(value, str):
        text = value[: limit + 1]
        shown = text if text and text.isprintable() else repr(text)
    else:
        try:
            shown = repr(value)
        except (ValueError, RecursionError):  # an integer of more digits than Python prints; endless nesting
            shown = f"<{type(value).__name__}>"
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
