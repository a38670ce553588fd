"""What the commands share when they speak: consoles, JSON, and text nobody should trust."""

import json
import sys
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from results.text import plain
from tasks.errors import AssayError

UNBROKEN = 10_000
"""Columns of what is no terminal: programs read lines, and a broken one is two."""


def out() -> Console:
    """Results, on standard output."""
    return _console(sys.stdout)


def err() -> Console:
    """Progress and complaints, on standard error."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    return Console(file=stream, highlight=False, width=None if stream.isatty() else UNBROKEN)


def complain(error: AssayError, console: Console | None = None) -> None:
    """Prints what is wrong, then what to do."""
    console = console or err()
    console.print(Text("error: ", "bold red") + Text(plain(error.message)))
    if error.remedy:
        console.print(Text(plain(error.remedy)))


def write(content: bytes) -> None:
    """Prints foreign bytes: as they are into files and pipes, harmless on a terminal."""
    if sys.stdout.isatty():
        content = plain(content.decode(errors="replace")).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(content)


def emit(value: Any) -> None:
    """Prints `value` as JSON, safe for any terminal (ASCII only)."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, default=str) + "\n")
