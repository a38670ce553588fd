"""Sabotage of the functions that a reference fix changes, for tasks whose twins are weak.

If the fail-to-pass tests still pass over a fix whose function raises or returns nonsense, they do not depend
on it. An honest rewrite may go another way round, so this is a suspicion at most.
"""

import ast
from collections.abc import Iterator
from enum import StrEnum

from evaluator.twins.functions import FunctionNode, definitions
from evaluator.twins.reader import walk_own
from evaluator.twins.source import Edit, Source, apply_edits, parse, syntax


class Sabotage(StrEnum):
    """What stands in place of a function's body."""

    RAISE = "raise"
    WRONG = "wrong"
    """It returns a value of the kind that it used to, or does nothing."""


def touched_functions(before: bytes | None, after: bytes) -> tuple[str, ...]:
    """Qualified names of the functions of `after` whose text is not that of `before`."""
    source = parse(after)
    if source is None:
        return ()
    old = _texts(parse(before) if before is not None else None)
    return tuple(name for name, texts in _texts(source).items() if old.get(name) != texts)


def sabotage(content: bytes, name: str, way: Sabotage) -> bytes | None:
    """The file with the body of a function replaced; None if there is no such function, or nothing changes.

    Args:
        content: the patched file, of the reference fix or of any other patch.
        name: qualified, as `touched_functions` gives it.
    """
    source = parse(content)
    if source is None:
        return None
    nodes = [node for own, node in _functions(source) if own == name]
    edits = [
        _edit(source, node, "raise RuntimeError" if way is Sabotage.RAISE else _wrong(node)) for node in nodes
    ]
    changed = apply_edits(content, edits)
    return changed if changed != content and syntax(changed.removeprefix(b"\xef\xbb\xbf")) else None


def _functions(source: Source) -> Iterator[tuple[str, FunctionNode]]:
    for name, node in definitions(source.tree):
        if isinstance(node, FunctionNode):
            yield name, node


def _texts(source: Source | None) -> dict[str, list[str]]:
    """The text of every function; a property's getter and setter are two of one name."""
    found: dict[str, list[str]] = {}
    if source is not None:
        for name, node in _functions(source):
            parts = map(source.text, (*node.decorator_list, node))
            found.setdefault(name, []).append("\n".join(parts))
    return found


def _edit(source: Source, node: FunctionNode, statement: str) -> Edit:
    """A statement in place of the body, but for its docstring."""
    first, last = node.body[0], node.body[-1]
    if ast.get_docstring(node, clean=False) is not None:
        return Edit(source.end(first), source.end(last), f"; {statement}")
    top = min(part.lineno for part in (first, *getattr(first, "decorator_list", ())))
    return Edit(source.line_start(top) + first.col_offset, source.end(last), statement)


def _wrong(node: FunctionNode) -> str:
    own = tuple(walk_own(node.body))
    if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in own):
        return "return; yield"
    returned = [inner.value for inner in own if isinstance(inner, ast.Return) and inner.value is not None]
    return f"return {_wrong_value(returned[-1])}" if returned else "pass"


def _wrong_value(value: ast.expr) -> str:
    """Nonsense of the kind that is returned."""
    if isinstance(value, ast.Constant):
        if isinstance(value.value, bool):
            return repr(not value.value)
        return _OTHER_CONSTANTS.get(type(value.value), "None")
    return next((text for kinds, text in _EMPTY if isinstance(value, kinds)), "None")


_OTHER_CONSTANTS = {int: "-1", float: "-1.0", str: "''", bytes: "b''", type(None): "0"}
_EMPTY: tuple[tuple[type[ast.expr] | tuple[type[ast.expr], ...], str], ...] = (
    ((ast.List, ast.ListComp), "[]"),
    ((ast.Dict, ast.DictComp), "{}"),
    ((ast.Set, ast.SetComp), "set()"),
    (ast.Tuple, "()"),
    (ast.JoinedStr, "''"),
    ((ast.Compare, ast.BoolOp), "False"),
)
