"""Sites where a comparison becomes its opposite, or asks for a value that neither side of the fix gives."""

import ast
import re
from collections.abc import Iterator

from evaluator.twins.expected import is_pure
from evaluator.twins.helpers import EXPECTED, FRAMEWORKS, SWAPS, UNITTEST
from evaluator.twins.literals import Style, is_literal, token_of
from evaluator.twins.reader import Called, Reader, Truth
from evaluator.twins.site import SLOT, Operator, Site

_OPPOSITES: dict[type[ast.cmpop], tuple[Operator, str, str]] = {
    ast.Eq: (Operator.EQ_NEG, "==", "!="),
    ast.NotEq: (Operator.EQ_NEG, "!=", "=="),
    ast.Is: (Operator.IS_NEG, "is", "is not"),
    ast.IsNot: (Operator.IS_NEG, "is not", "is"),
    ast.In: (Operator.IN_NEG, "in", "not in"),
    ast.NotIn: (Operator.IN_NEG, "not in", "in"),
    ast.Lt: (Operator.ORDER_NEG, "<", ">="),
    ast.LtE: (Operator.ORDER_NEG, "<=", ">"),
    ast.Gt: (Operator.ORDER_NEG, ">", "<="),
    ast.GtE: (Operator.ORDER_NEG, ">=", "<"),
}
_CONSTANTS = {
    "assertTrue": ("assertEqual", "None"),
    "assertFalse": ("assertEqual", SLOT),
    "assertIsNone": ("assertIs", "False"),
}
"""Assertions of a constant: the method, and the value, that ask for a third one."""
_SIMPLE = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant


def sites(reader: Reader) -> Iterator[Site]:
    for truth in reader.truths:
        if isinstance(truth.node, ast.Compare):
            if len(truth.node.ops) == 1:
                yield from _third_of_comparison(reader, truth, truth.node)
                yield from _opposite(reader, truth, truth.node)
        elif isinstance(truth.place.statement, ast.Assert):
            yield _denied(reader, truth)
    for call in reader.calls:
        if call.name in reader.source.bound:
            continue
        yield from _third_of_call(reader, call)
        if call.name in SWAPS and isinstance(call.node.func, ast.Attribute):
            yield reader.site(Operator.UT_SWAP, call.place, _name_span(reader, call), (SWAPS[call.name],))


def _third_of_comparison(reader: Reader, truth: Truth, node: ast.Compare) -> Iterator[Site]:
    left, operator, right = node.left, node.ops[0], node.comparators[0]
    if isinstance(operator, ast.Is) and (other := _third(right)):
        yield reader.site(Operator.THIRD, truth.place, right, (other,))
    elif isinstance(operator, ast.In | ast.NotIn):
        text = reader.source.text(right)
        container = text if isinstance(right, _SIMPLE) else f"({text})"
        token = token_of(reader.source.text(left), Style.EXACT) if is_literal(left) else None
        literal, style = (token[1], Style.EXACT) if token else ("''", Style.WORD)
        template = f"{container} == {SLOT}"
        yield reader.site(Operator.THIRD, truth.place, node, (template,), literal=literal, style=style)


def _third(node: ast.expr) -> str:
    """Of `True`, `False` and `None`, one that is neither `node` nor its opposite; empty for all else."""
    if not isinstance(node, ast.Constant):
        return ""
    if node.value is None:
        return "False"
    return "None" if isinstance(node.value, bool) else ""


def _opposite(reader: Reader, truth: Truth, node: ast.Compare) -> Iterator[Site]:
    operator, sign, opposite = _OPPOSITES[type(node.ops[0])]
    start, end = reader.source.end(node.left), reader.source.start(node.comparators[0])
    between = reader.source.slice(start, end)
    spelled = re.compile(r"\s+".join(map(re.escape, sign.split())))
    if "#" not in between and (found := spelled.search(between)):
        span = start + found.start(), start + found.end()
        yield reader.site(operator, truth.place, span, (opposite,))


def _denied(reader: Reader, truth: Truth) -> Site:
    node = truth.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = reader.source.text(node.operand)
        opposite = inner if isinstance(node.operand, _SIMPLE) else f"({inner})"
    else:
        text = reader.source.text(node)
        opposite = f"not {text}" if isinstance(node, _SIMPLE) else f"not ({text})"
    return reader.site(Operator.ASSERT_NOT, truth.place, node, (opposite,))


def _third_of_call(reader: Reader, call: Called) -> Iterator[Site]:
    arguments = call.node.args
    if call.name in _CONSTANTS and isinstance(call.node.func, ast.Attribute):
        if span := _first_argument(reader, call):
            method, other = _CONSTANTS[call.name]
            template = f"{method}({reader.source.text(arguments[0])}, {other}"
            # Of numbers from 2 on: True and False equal 1 and 0.
            literal = "0" if other == SLOT else ""
            yield reader.site(Operator.THIRD, call.place, span, (template,), literal=literal)
    elif call.name == "assertIs" and len(arguments) > 1 and (third := _third(arguments[1])):
        yield reader.site(Operator.THIRD, call.place, arguments[1], (third,))
    else:
        yield from _third_of_helper(reader, call)


def _third_of_helper(reader: Reader, call: Called) -> Iterator[Site]:
    """An expected argument that is no literal, off by a number."""
    helper = FRAMEWORKS.get(call.name) or UNITTEST.get(call.name)
    if helper is None or not helper.numeric or len(call.node.args) < 2:
        return
    first, second = call.node.args[:2]
    says_so = [isinstance(node, ast.Name) and bool(EXPECTED.fullmatch(node.id)) for node in (first, second)]
    expected = first if says_so == [True, False] else second
    if not isinstance(expected, ast.Starred) and not is_pure(expected):
        template = f"({reader.source.text(expected)}) + {SLOT}"
        yield reader.site(Operator.HELPER_THIRD, call.place, expected, (template,), literal="0")


def _name_span(reader: Reader, call: Called) -> tuple[int, int]:
    """Of the method's name alone."""
    end = reader.source.end(call.node.func)
    return end - len(call.name.encode()), end


def _first_argument(reader: Reader, call: Called) -> tuple[int, int] | None:
    """From the method's name to the end of its first argument, where nothing but a `(` is between."""
    if not call.node.args or isinstance(call.node.args[0], ast.Starred | ast.GeneratorExp):
        return None
    start, end = _name_span(reader, call)
    first = call.node.args[0]
    before = reader.source.slice(end, reader.source.start(first))
    after = reader.source.slice(reader.source.end(first), reader.source.end(call.node))
    if before.strip() != "(" or not after.lstrip().startswith((",", ")")):
        return None
    return start, reader.source.end(first)
