"""The change in a model's answer."""

import re
from dataclasses import dataclass
from pathlib import Path

from evaluator.answer.edits import Unusable, as_diff, read_edits
from evaluator.answer.fences import blocks, without_thinking

LONGEST = 8 * 2**20
"""Characters. No model writes as much for one bug, and nobody should wait for it to be read."""

_HEADER = re.compile(r"^(?:diff --git |--- .*\n\+\+\+ )", re.M)
_HUNK = re.compile(r"^@@ ", re.M)
_DIFF_LANGUAGES = frozenset({"diff", "patch", "udiff"})
_DIFF_LINE = re.compile(
    r"[-+ @\\]|diff --git |(?:old|new|deleted|similarity|rename|copy|index) |literal |delta "
)


@dataclass(frozen=True)
class Extracted:
    """A unified diff, or in `note` why there is none; one of the two is empty."""

    patch: str
    note: str = ""


def extract(text: str, tree: Path, *, cut: bool = False) -> Extracted:
    """Finds the change in `text`, whatever form it has; never raises for what `text` holds.

    Args:
        text: the answer, hostile.
        tree: the repository at its base commit; search/replace blocks are looked up in it, and nowhere else.
        cut: the answer ended at a token limit, so a diff with an open end is not the diff the model meant.
    """
    if len(text) > LONGEST:
        return Extracted("", "the answer is too long to read")
    answer = without_thinking(text.encode(errors="replace").decode())
    if not answer.strip():
        return Extracted("", "the answer ends while thinking" if text.strip() else "empty answer")
    try:
        if edits := read_edits(answer):
            return _result(as_diff(edits, tree), "the search/replace blocks change nothing")
        return _result(_diff(answer, cut), "no diff in the answer")
    except Unusable as fault:
        return Extracted("", str(fault))


def _result(patch: str, otherwise: str) -> Extracted:
    return Extracted(patch) if patch else Extracted("", otherwise)


def _diff(answer: str, cut: bool) -> str:
    """The diffs in fences, each different one once; without any, what follows the first bare header."""
    fenced = [block for block in blocks(answer) if _HEADER.search(block.text)] or [
        block for block in blocks(answer) if block.language in _DIFF_LANGUAGES and _HUNK.search(block.text)
    ]
    bare = None if fenced else _HEADER.search(answer)
    if cut and (bare or not all(block.closed for block in fenced)):
        raise Unusable("the answer was cut inside its diff")
    if bare:
        return _without_prose(answer[bare.start() :])
    return "".join(dict.fromkeys(f"{block.text}\n" for block in fenced))


def _without_prose(text: str) -> str:
    """`text` up to the last line that is like a diff, and a blank one, which may be its last context."""
    lines = text.rstrip().split("\n")
    while not _DIFF_LINE.match(lines[-1]):
        lines.pop()
    return "".join(f"{line}\n" for line in (*lines, ""))
