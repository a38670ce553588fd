"""Twins of test functions written down in a test."""

import textwrap
from random import Random

from evaluator.twins.bank import TestFile, candidates, combine
from evaluator.twins.site import Operator, Twin

PATH = "tests/test_it.py"


def text(code: str) -> bytes:
    return textwrap.dedent(code).strip("\n").encode() + b"\n"


def offer(
    code: str, *names: str, before: str | None = None, others: tuple[str, ...] = ()
) -> tuple[Twin, ...]:
    """Twins of the named tests of a file (`test_a`, `TestA::test_b[row]`), drawn with a fixed seed."""
    file = TestFile(None if before is None else text(before), text(code))
    required = [f"{PATH}::{name}" for name in names or ("test_it",)]
    rest = [f"{PATH}::{name}" for name in others]
    return candidates({PATH: file}, required, rest, Random(7))


def body(*lines: str, imports: str = "") -> str:
    """A file whose one test, `test_it`, has these lines."""
    return f"{imports}\n\ndef test_it():\n" + "".join(f"    {line}\n" for line in lines)


def edits(code: str, *names: str) -> dict[Operator, list[tuple[str, str]]]:
    """What each operator replaces, and by what, in the file's order of offers."""
    content = text(code)
    found: dict[Operator, list[tuple[str, str]]] = {}
    for twin in offer(code, *names):
        old = content[twin.site.start : twin.site.end].decode()
        found.setdefault(twin.operator, []).append((old, twin.text))
    return found


def rendered(code: str, twin: Twin) -> str:
    """The file with one twin in it."""
    return combine({PATH: text(code)}, [twin])[PATH].decode()
