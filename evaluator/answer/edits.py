"""Search/replace blocks: read them, and make the change they describe.

path/of/the/file
<<<<<<< SEARCH
lines as they are
=======
lines as they shall be
>>>>>>> REPLACE
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evaluator.answer.tree import locate, read_text
from evaluator.answer.unified import unified

_START = re.compile(r"<{5,9} ?SEARCH\b *(.*)")
_MIDDLE = re.compile(r"={5,9}")
_END = re.compile(r">{5,9} ?REPLACE\b.*")
_LARGEST_FILE = 2**20
_MOST_EDITS = 300
_LOOK_BACK = 3


class Unusable(Exception):  # noqa: N818 - says what is wrong with an answer, not with us
    """The blocks describe no change that could be made; the message says which and why."""


@dataclass(frozen=True)
class Edit:
    path: str
    search: tuple[str, ...]
    replace: tuple[str, ...]


def read_edits(text: str) -> list[Edit]:
    """The blocks in order; one that names no file is about the file of the block before it.

    Raises:
        Unusable: a block is not finished, or the first names no file.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    edits: list[Edit] = []
    at = 0
    while at < len(lines):
        if start := _START.fullmatch(lines[at].rstrip()):
            middle = _next(lines, at, _MIDDLE)
            end = _next(lines, middle, _END)
            path = _path(start[1]) or _path_above(lines, at) or (edits[-1].path if edits else "")
            if not path:
                raise Unusable("a search/replace block names no file")
            if len(edits) == _MOST_EDITS:
                raise Unusable(f"more than {_MOST_EDITS} search/replace blocks")
            edits.append(Edit(path, tuple(lines[at + 1 : middle]), tuple(lines[middle + 1 : end])))
            at = end
        at += 1
    return edits


def as_diff(edits: list[Edit], tree: Path) -> str:
    """One unified diff against `tree` of all edits, made one after the other.

    Raises:
        Unusable: one of them cannot be made; half a change is none.
    """
    before: dict[str, str | None] = {}
    after: dict[str, str] = {}
    for number, edit in enumerate(edits, 1):
        path = edit.path
        if path not in before:
            before[path] = read_text(tree, path, _LARGEST_FILE)
        try:
            after[path] = _edited(after.get(path, before[path]), edit, tree)
        except Unusable as fault:
            raise Unusable(f"edit {number} of {len(edits)}, {path[:200]!r}: {fault}") from None
    return "".join(unified(path, before[path], text) for path, text in after.items() if text != before[path])


def _edited(content: str | None, edit: Edit, tree: Path) -> str:
    creates = not any(line.strip() for line in edit.search)
    if creates and not content:
        at = locate(tree, edit.path)
        if content is None and at is not None and at.exists():
            raise Unusable("the file is there already, and no text")
        return "".join(f"{line}\n" for line in edit.replace)
    if content is None:
        raise Unusable("there is no such text file")
    if creates:
        raise Unusable("nothing to search for, in a file that is not empty")
    return _substituted(content, edit)


def _substituted(content: str, edit: Edit) -> str:
    """Replaces the one place that matches: to the letter, else but for line ends, else but for indents."""
    lines = content.split("\n")
    for blind in (_without_return, str.rstrip, str.strip):
        first = _place(lines, edit.search, blind)
        if first is None:
            continue
        last = first + len(edit.search)
        replacement = edit.replace
        if blind is str.strip:
            replacement = _reindented(edit, lines[first:last])
        ending = "\r" if lines[first].endswith("\r") else ""
        return "\n".join(lines[:first] + [line + ending for line in replacement] + lines[last:])
    raise Unusable("the text to search for is not in the file")


def _place(lines: list[str], search: tuple[str, ...], blind: Callable[[str], str]) -> int | None:
    """Index of the only place where `search` is, to a reader `blind` to some of the blanks."""
    text = "".join(f"\n{blind(line)}" for line in lines) + "\n"
    wanted = "".join(f"\n{blind(line)}" for line in search) + "\n"
    at = text.find(wanted)
    if at < 0:
        return None
    if text.find(wanted, at + 1) >= 0:
        raise Unusable("the text to search for is in the file more than once")
    return text.count("\n", 0, at)


def _reindented(edit: Edit, matched: list[str]) -> tuple[str, ...]:
    """The replacement moved as far as the searched text was from where it really is."""
    pairs = zip(edit.search, matched, strict=True)
    meant, real = next((_indent(each), _indent(line)) for each, line in pairs if each.strip())
    return tuple(
        real + line.removeprefix(meant) if line.strip() and line.startswith(meant) else line
        for line in edit.replace
    )


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _without_return(line: str) -> str:
    return line.removesuffix("\r")


def _next(lines: list[str], after: int, mark: re.Pattern[str]) -> int:
    for at in range(after + 1, len(lines)):
        line = lines[at].rstrip()
        if mark.fullmatch(line):
            return at
        if _START.fullmatch(line):
            break
    raise Unusable("a search/replace block is not finished")


def _path_above(lines: list[str], start: int) -> str:
    above = (line for line in reversed(lines[max(0, start - _LOOK_BACK) : start]) if line.strip())
    for line in above:
        fence = line.lstrip().startswith(("```", "~~~"))
        if path := _path(re.split(r"[\s:]", line.strip())[-1] if fence else line):
            return path
        if not fence:
            break
    return ""


def _path(text: str) -> str:
    """`text` as the name of a file, without the decoration models put around one; "" if it is none."""
    name = re.sub(r"^(?:file|path|filename)\s*:\s*", "", text.strip().strip("`*#\"' "), flags=re.IGNORECASE)
    name = name.strip("`*\"': ").removeprefix("./")
    looks_right = name.isprintable() and not re.search(r"[\s`\"\\<>]", name) and re.search(r"[./]", name)
    return name if looks_right and len(name) < 1000 else ""
