"""What the commands share when they speak: consoles, JSON, and text nobody should trust."""

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from results.text import plain


def out() -> Console:
    """Results, on standard output."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def err() -> Console:
    """Progress and complaints, on standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def complain(message: str, remedy: str = "") -> None:
    """Prints an error: what is wrong, then what to do."""
    console = err()
    console.print(Text("error: ", "bold red") + Text(plain(message)))
    if remedy:
        console.print(Text(plain(remedy)))


def emit(value: Any) -> None:
    """Prints `value` as JSON, safe for any terminal (ASCII only)."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, default=str) + "\n")
