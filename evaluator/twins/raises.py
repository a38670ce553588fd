"""Assertions that something is raised: which exception they expect, and which message."""

import ast
import builtins
from collections.abc import Iterator

from evaluator.twins.literals import Style
from evaluator.twins.reader import Called, Reader
from evaluator.twins.site import SLOT, Operator, Site

_NAMES = {
    **dict.fromkeys(("raises", "warns"), None),
    **dict.fromkeys(("assertRaises", "assertWarns", "assert_raises", "failUnlessRaises"), None),
    **dict.fromkeys(("assertRaisesMessage", "assertRaisesRegex", "assertRaisesRegexp"), 1),
    **dict.fromkeys(("assertWarnsMessage", "assertWarnsRegex"), 1),
    **dict.fromkeys(("assert_raises_regex", "assert_raise_message", "assert_warns_message"), 1),
}
"""Position of the expected message, where one is given by position."""
_MESSAGES = ("match", "expected_message", "expected_regex")
_EXCEPTIONS = ("ImportError", "ZeroDivisionError", "EOFError", "OverflowError", "NameError", "BufferError")
_WARNINGS = ("ImportWarning", "BytesWarning", "UnicodeWarning", "ResourceWarning")


def message_of(call: Called, reader: Reader) -> ast.expr | None:
    """The expression for the expected message, if the call expects one."""
    if call.name == "match" and not call.with_block and len(call.node.args) == 1:
        receiver = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
        if isinstance(receiver, ast.Name) and receiver.id in _caught(reader):
            return call.node.args[0]
    if not _expects_exception(call, reader):
        return None
    for keyword in call.node.keywords:
        if keyword.arg in _MESSAGES and call.with_block:
            return keyword.value
    at = _NAMES[call.name]
    return call.node.args[at] if at is not None and len(call.node.args) > at else None


def _caught(reader: Reader) -> set[str]:
    """Names of what was caught: `info` of `with raises(ValueError) as info`."""
    return {
        item.optional_vars.id
        for place in reader.places
        if isinstance(place.statement, ast.With | ast.AsyncWith)
        for item in place.statement.items
        if isinstance(item.optional_vars, ast.Name)
    }


def _expects_exception(call: Called, reader: Reader) -> bool:
    if call.name not in _NAMES or not call.node.args:
        return False
    if isinstance(call.node.func, ast.Name):  # of pytest, sympy, nose; not one the file defines itself
        return call.name in reader.source.imports and call.name not in reader.source.bound
    return True


def sites(reader: Reader) -> Iterator[Site]:
    """Other exceptions than the expected one, and messages where none is expected."""
    for call in reader.calls:
        if not _expects_exception(call, reader):
            continue
        expected = call.node.args[0]
        if not isinstance(expected, ast.Name | ast.Attribute | ast.Tuple):
            continue
        others = tuple(_unrelated(reader, expected, "warn" in call.name.lower()))
        if others:
            yield reader.site(Operator.RAISES_EXC, call.place, expected, others)
        is_pytests = reader.source.origin(call.node.func) in ("pytest.raises", "pytest.warns")
        if is_pytests and call.with_block and len(call.node.args) == 1 and not call.node.keywords:
            end = reader.source.end(expected)
            yield reader.site(
                Operator.RAISES_ADDMATCH,
                call.place,
                (end, end),
                (f", match={SLOT}",),
                literal="''",
                style=Style.WORD,
            )


def _unrelated(reader: Reader, expected: ast.expr, warning: bool) -> Iterator[str]:
    """Exceptions that are none of the expected, nor the other way round, as far as built-in ones tell."""
    parts = expected.elts if isinstance(expected, ast.Tuple) else [expected]
    known = [
        kind
        for part in parts
        if isinstance(part, ast.Name)
        and part.id not in ("BaseException", "Exception", "Warning")  # these would be caught as well
        and isinstance(kind := getattr(builtins, part.id, None), type)
    ]
    for name in _WARNINGS if warning else _EXCEPTIONS:
        other = getattr(builtins, name)
        if name not in reader.source.bound and not any(
            issubclass(other, kind) or issubclass(kind, other) for kind in known
        ):
            yield name
