"""A Python file whose text is edited by position, with what its syntax tree knows of places."""

import ast
import builtins
import codecs
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

LARGEST = 4_000_000
"""Bytes. No test file is larger, and what is would not be read in bounded time."""
_LINE_ENDS = re.compile(rb"\r\n|\r|\n")
_ENCODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


_BINDING = (
    ast.Import,
    ast.ImportFrom,
    ast.Name,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.arg,
)


@dataclass(frozen=True, order=True)
class Edit:
    """Bytes `start` to `end` of a file are replaced by `text`."""

    start: int
    end: int
    text: str


def apply_edits(content: bytes, edits: Iterable[Edit]) -> bytes:
    """The content after all edits. An edit given twice is made once.

    Raises:
        ValueError: two edits overlap.
    """
    parts, at = [], 0
    for edit in sorted(set(edits)):
        if edit.start < at:
            raise ValueError(f"edits overlap at byte {edit.start}")
        parts += [content[at : edit.start], edit.text.encode()]
        at = edit.end
    return b"".join((*parts, content[at:]))


@dataclass(frozen=True)
class Source:
    """A file in UTF-8 and its syntax tree. Offsets count bytes from the start of the file."""

    content: bytes
    tree: ast.Module

    def start(self, node: ast.AST) -> int:
        return self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        return self.slice(self.start(node), self.end(node))

    def slice(self, start: int, end: int) -> str:
        return self.content[start:end].decode()

    def line_start(self, line: int) -> int:
        """Offset of a line, counted from 1."""
        return self._lines[line - 1]

    def line_at(self, offset: int) -> int:
        """The line of an offset, counted from 1."""
        return max(1, bisect_right(self._lines, offset))

    def lines(self, first: int, last: int) -> list[str]:
        """Lines `first` to `last`, both included, without their ends."""
        return [line.decode() for line in _LINE_ENDS.split(self.content)[first - 1 : last]]

    @cached_property
    def _lines(self) -> list[int]:
        first = len(codecs.BOM_UTF8) if self.content.startswith(codecs.BOM_UTF8) else 0
        return [first, *(match.end() for match in _LINE_ENDS.finditer(self.content))]

    def _offset(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    @cached_property
    def imports(self) -> dict[str, str]:
        """What imported names stand for: `{"pt": "pytest", "raises": "pytest.raises"}`."""
        found: dict[str, str] = {}
        for node in self._nodes:
            if isinstance(node, ast.Import):
                for name in node.names:
                    first = name.name.partition(".")[0]
                    found[name.asname or first] = name.name if name.asname else first
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    found[name.asname or name.name] = f"{node.module or ''}.{name.name}"
        return found

    @cached_property
    def bound(self) -> frozenset[str]:
        """Every name the file gives a meaning of its own, anywhere, other than by importing it."""
        found = set()
        for node in self._nodes:
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    found.add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
        return frozenset(found)

    @cached_property
    def _nodes(self) -> tuple[ast.AST, ...]:
        """Those that may bind a name."""
        return tuple(node for node in ast.walk(self.tree) if isinstance(node, _BINDING))

    def origin(self, node: ast.AST) -> str:
        """Where a name comes from (`pytest.raises`, `builtins.set`), as far as imports tell; else ""."""
        head, dot, rest = dotted(node).partition(".")
        if not head or head in self.bound:
            return ""
        if head in self.imports:
            return self.imports[head] + dot + rest
        return f"builtins.{head}{dot}{rest}" if hasattr(builtins, head) else ""


def dotted(node: ast.AST) -> str:
    """`a.b.c` for what is written so, else an empty string."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST) -> str:
    """`c` of `a.b.c` and of `f().c`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def parse(content: bytes) -> Source | None:
    """The file read as Python; None for what is not, is not UTF-8, or is too large."""
    if len(content) > LARGEST or not _says_utf8(content):
        return None
    tree = syntax(content.removeprefix(codecs.BOM_UTF8))
    return Source(content, tree) if tree else None


def syntax(content: bytes) -> ast.Module | None:
    """The syntax tree of UTF-8 text, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content.decode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _says_utf8(content: bytes) -> bool:
    for line in _LINE_ENDS.split(content, 2)[:2]:
        if declared := _ENCODING.match(line):
            try:
                return codecs.lookup(declared[1].decode()).name in ("utf-8", "ascii")
            except LookupError:
                return False
    return True
