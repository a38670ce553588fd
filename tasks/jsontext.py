"""JSON from strangers: whole documents and lines, with the place of every fault."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Malformed:
    """Text that is not JSON, and why."""

    reason: str


def parse(text: bytes) -> Any:
    """The value, or `Malformed`. A byte order mark is allowed."""
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Malformed(f"not UTF-8: byte {error.start + 1} ({error.reason})")
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return Malformed(f"not JSON: {error.msg} at {line}column {error.colno}")
    except RecursionError:
        return Malformed("not readable: nested too deeply")
    except ValueError:
        return Malformed("not readable: a number has too many digits")


def document(path: Path) -> Any:
    """The value of a JSON file, or `Malformed`. Raises OSError."""
    return parse(path.read_bytes())


def lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Line number (from 1) and value or `Malformed` of each line of a JSONL file that is not blank.

    Lines end at a line feed and nowhere else: records may hold U+2028, U+0085 and carriage returns.
    Raises OSError.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, parse(line.rstrip(b"\n"))
