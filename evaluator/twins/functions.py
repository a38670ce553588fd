"""Which function of the test files a test id names."""

import ast
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from evaluator.twins.source import Source, dotted, parse

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_DJANGO = re.compile(r"(\w+) \(([\w.]+)\)")
_LARGEST_DIFF = 4_000_000


class LineStatus(StrEnum):
    """What a solver may have seen of a line."""

    ADDED = "added"
    """The test patch added it."""
    TOUCHED = "touched"
    """It was there, in a function that the test patch changes."""
    PUBLIC = "public"
    """The whole function is in the base commit, so a twin of it can be told from the original."""


@dataclass(frozen=True)
class TestFile:
    """A test file before and after the test patch; `before` is None where there was none."""

    __test__ = False  # to a test runner that collects by name

    before: bytes | None
    after: bytes


@dataclass(frozen=True)
class TestFunction:
    """A function of a test file, and the test ids it answers to."""

    __test__ = False

    path: str
    name: str
    """Qualified within the file: `TestGet.test_redirect`."""
    source: Source
    node: FunctionNode
    ids: tuple[str, ...]
    required: tuple[str, ...]
    """Those of the ids the function was looked up for."""
    added: frozenset[int]
    """Lines the test patch added, counted from 1."""
    public: bool

    @property
    def first_line(self) -> int:
        return min(node.lineno for node in (self.node, *self.node.decorator_list))

    @property
    def last_line(self) -> int:
        return self.node.end_lineno or self.node.lineno

    def status(self, line: int) -> LineStatus:
        if self.public:
            return LineStatus.PUBLIC
        return LineStatus.ADDED if line in self.added else LineStatus.TOUCHED


def possible_files(test_ids: Iterable[str]) -> tuple[str, ...]:
    """Paths that the ids may be about, whether there are such files or not.

    A node id names its file; a label of Django's runner names modules below `tests`; other ids name none.
    """
    found: dict[str, None] = {}
    for test_id in test_ids:
        path, separator, _ = test_id.partition("::")
        if separator:
            found[path] = None
        elif django := _DJANGO.fullmatch(test_id.strip()):
            words = django[2].split(".")
            for end in range(1, len(words)):
                found["/".join(("tests", *words[:end])) + ".py"] = None
    return tuple(found)


def locate(
    files: Mapping[str, TestFile], required: Iterable[str], others: Iterable[str] = ()
) -> tuple[TestFunction, ...]:
    """The functions that `required` ids name, each with all ids that would run it.

    Understands node ids of pytest, ids of Django's runner (`test_x (module.Class)` or the first line of a
    docstring), and bare function names. Ids that name no function of `files` are left out.
    """
    index = _Index(files)
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for test_id in dict.fromkeys(required):
        for place in index.find(test_id):
            known = found.setdefault(place, ([], []))
            known[0].append(test_id)
            known[1].append(test_id)
    for test_id in dict.fromkeys(others):
        for place in index.find(test_id):
            if place in found and test_id not in found[place][0]:
                found[place][0].append(test_id)
    return tuple(index.function(*place, *map(tuple, ids)) for place, ids in found.items())


class _Index:
    """Every function of the files by qualified name, later definitions over earlier ones."""

    def __init__(self, files: Mapping[str, TestFile]) -> None:
        self._files = files
        self._sources = {path: source for path, file in files.items() if (source := parse(file.after))}
        self._scopes = {path: dict(definitions(source.tree)) for path, source in self._sources.items()}
        self._public = [f"\n{_plain(file.before)}\n" for file in files.values() if file.before]
        self._old: dict[str, tuple[Source | None, dict[str, FunctionNode | ast.ClassDef]]] = {}
        self._bare: dict[str, list[tuple[str, str]]] = {}
        self._docstrings: dict[str, list[tuple[str, str]]] = {}
        for path, scope in self._scopes.items():
            for name, node in scope.items():
                if isinstance(node, ast.ClassDef):
                    continue
                if "." not in name:
                    self._bare.setdefault(name, []).append((path, name))
                if title := (ast.get_docstring(node) or "").strip().split("\n")[0].strip():
                    self._docstrings.setdefault(title, []).append((path, name))

    def find(self, test_id: str) -> list[tuple[str, str]]:
        path, separator, rest = test_id.partition("::")
        if separator:
            parts = [part for part in rest.partition("[")[0].split("::") if part != "()"]
            return self._member(path, ".".join(parts)) if path in self._scopes else []
        if django := _DJANGO.fullmatch(test_id.strip()):
            return self._labelled(django[2], django[1])
        return self._docstrings.get(test_id.strip()) or self._bare.get(test_id.partition("[")[0].strip(), [])

    def _labelled(self, label: str, method: str) -> list[tuple[str, str]]:
        words = label.removesuffix(f".{method}").split(".")
        for path in self._scopes:
            module = path.removesuffix(".py").removesuffix("/__init__").split("/")
            for split in range(len(words) - 1, 0, -1):
                if module[-split:] == words[:split] and (
                    found := self._member(path, ".".join((*words[split:], method)))
                ):
                    return found
        return []

    def _member(self, path: str, name: str, depth: int = 0) -> list[tuple[str, str]]:
        """A function by name, looked for in the base classes too, in whichever file they are."""
        if isinstance(self._scopes[path].get(name), FunctionNode):
            return [(path, name)]
        owner, _, method = name.rpartition(".")
        node = self._scopes[path].get(owner)
        if isinstance(node, ast.ClassDef) and depth < 20:
            for base in node.bases:
                place = self._class(path, base)
                if place and (found := self._member(place[0], f"{place[1]}.{method}", depth + 1)):
                    return found
        return []

    def _class(self, path: str, base: ast.expr) -> tuple[str, str] | None:
        name = dotted(base)
        if isinstance(self._scopes[path].get(name), ast.ClassDef):
            return path, name
        last = name.rpartition(".")[2]
        others = [other for other, scope in self._scopes.items() if isinstance(scope.get(last), ast.ClassDef)]
        return (others[0], last) if len(others) == 1 else None

    def function(self, path: str, name: str, ids: tuple[str, ...], required: tuple[str, ...]) -> TestFunction:
        source, node = self._sources[path], cast(FunctionNode, self._scopes[path][name])
        draft = TestFunction(path, name, source, node, ids, required, frozenset(), False)
        lines = source.lines(draft.first_line, draft.last_line)
        text = "\n".join(("", *lines, ""))
        if any(text in before for before in self._public):
            return TestFunction(path, name, source, node, ids, required, frozenset(), True)
        old = self._lines_before(path, name)
        added = {draft.first_line + number for number in _new_lines(old, lines)}
        return TestFunction(path, name, source, node, ids, required, frozenset(added), False)

    def _lines_before(self, path: str, name: str) -> list[str]:
        if path not in self._old:
            before = self._files[path].before
            source = parse(before) if before is not None else None
            self._old[path] = (source, dict(definitions(source.tree)) if source else {})
        source, scope = self._old[path]
        node = scope.get(name)
        if source is None or node is None:
            return []
        first = min(part.lineno for part in (node, *node.decorator_list))
        return source.lines(first, node.end_lineno or node.lineno)


def definitions(tree: ast.Module) -> Iterator[tuple[str, FunctionNode | ast.ClassDef]]:
    """Functions and classes of a module and of its classes, by qualified name, in the order of the text."""
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, scope = pending.pop()
        inside: list[tuple[str, ast.AST]] = []
        for node in ast.iter_child_nodes(scope):
            if isinstance(node, FunctionNode | ast.ClassDef):
                yield prefix + node.name, node
                if isinstance(node, ast.ClassDef):
                    inside.append((f"{prefix}{node.name}.", node))
            elif isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
                inside.append((prefix, node))
        pending += reversed(inside)


def _plain(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _new_lines(old: list[str], new: list[str]) -> Iterator[int]:
    """Indices of the lines of `new` that a comparison does not find in `old`."""
    if len(old) * len(new) > _LARGEST_DIFF:
        known = set(old)
        yield from (number for number, line in enumerate(new) if line not in known)
        return
    for tag, _, _, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            yield from range(first, last)
