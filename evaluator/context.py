"""Which files of a repository a model gets to see."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evaluator.answer.tree import read_text
from evaluator.patch import parse_patch
from evaluator.paths import PatchError
from tasks.errors import InputError
from tasks.task import Task

Kind = Literal["bm25", "oracle"]

CHARS_PER_TOKEN = 3
"""Source code takes three to four characters a token; counting with three never overruns a model's window."""

_LARGEST_FILE = 512 * 1024
_CANDIDATES = 30
_SOURCE = re.compile(
    r"\.(py|pyx|pyi|c|h|cc|cpp|hpp|cs|go|java|jsx?|kt|lua|m|php|pl|r|rb|rs|scala|swift|tsx?|vue)$",
    re.IGNORECASE,
)
_TEST_FOLDERS = frozenset({"tests", "__tests__", "spec", "specs"})
_TEST_NAME = re.compile(r"^(?:test_|tests?\.|conftest\.)|[._-](?:tests?|spec)\.|Tests?\.\w+$")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True)
class Shown:
    """One file; `text` is its beginning only when `cut`."""

    path: str
    text: str
    cut: bool = False


@dataclass(frozen=True)
class Context:
    kind: Kind
    files: tuple[Shown, ...]


def choose(task: Task, tree: Path, kind: Kind, tokens: int) -> Context:
    """Files worth at most `tokens` tokens (see CHARS_PER_TOKEN), best first; reads `tree`, stays inside it.

    `bm25` ranks source files that are no tests by the words of path and content against those of the issue.
    `oracle` takes the files that the reference fix changes: knowledge no user of a model has.

    Raises:
        InputError: `oracle`, and the reference fix cannot be read.
    """
    candidates = _ranked(task.problem_statement, tree) if kind == "bm25" else _touched(task, tree)
    return Context(kind, tuple(_fit(candidates, tokens * CHARS_PER_TOKEN)))


def _ranked(issue: str, tree: Path) -> list[Shown]:
    import bm25s  # takes a second

    sources, query = list(_sources(tree)), _words(issue)
    if not sources or not query:
        return []
    asked = frozenset(query)
    # Words nobody asked for count in a file's length only; one stand-in for them all spares time and memory.
    documents = [
        [word if word in asked else "" for word in _words(f"{each.path} {each.text}")] for each in sources
    ]
    index = bm25s.BM25()
    index.index(documents, show_progress=False)
    scores = index.get_scores(query)
    order = sorted(range(len(sources)), key=lambda at: (-float(scores[at]), sources[at].path))
    return [sources[at] for at in order[:_CANDIDATES] if scores[at] > 0]


def _touched(task: Task, tree: Path) -> list[Shown]:
    try:
        paths = [each.old for each in parse_patch(task.patch).files if each.old is not None]
    except PatchError as error:
        raise InputError(f"The reference fix of {task.instance_id} cannot be read: {error}") from None
    return [shown for path in dict.fromkeys(paths) if (shown := _shown(tree, path))]


def _fit(candidates: list[Shown], chars: int) -> Iterator[Shown]:
    """Whole files while they fit; a best one that alone is too large is cut at a line's end."""
    for at, each in enumerate(candidates):
        size = len(each.text) + len(each.path)
        if size <= chars:
            yield each
            chars -= size
        elif at == 0 and (end := each.text.rfind("\n", 0, max(0, chars - len(each.path)))) > 0:
            yield Shown(each.path, each.text[:end], cut=True)
            return


def _sources(tree: Path) -> Iterator[Shown]:
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = Path(folder, name).relative_to(tree)
            if _SOURCE.search(name) and not _is_test(path):
                shown = _shown(tree, path.as_posix())
                if shown and shown.text.strip():
                    yield shown


def _is_test(path: Path) -> bool:
    # `test` is a folder of tests in most languages; in Python it is as often a package that helps testing.
    folders = _TEST_FOLDERS if path.suffix == ".py" else _TEST_FOLDERS | {"test"}
    return not folders.isdisjoint(path.parts[:-1]) or bool(_TEST_NAME.search(path.name))


def _shown(tree: Path, path: str) -> Shown | None:
    """The file, unless it is no text of a reasonable size inside `tree`."""
    text = read_text(tree, path, _LARGEST_FILE)
    return None if text is None else Shown(path, text)


def _words(text: str) -> list[str]:
    """Identifiers in lower case, whole and in parts: `parseHTTPDate` is also `parse`, `http` and `date`."""
    words: list[str] = []
    for word in _WORD.findall(text):
        pieces = _PIECE.findall(word)
        words += [piece.lower() for piece in pieces if len(piece) > 1]
        if len(pieces) > 1:
            words.append(word.lower())
    return words
