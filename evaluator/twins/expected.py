"""Which literals of a test say what is expected, and never what is given to the code under test.

The rule is one of syntax: an operand is expected if it stands beside `==` or where a listed helper takes what
it expects. Of such an operand only literals count that lie below containers, arithmetic and constructors of
plain data. Below a call to other code, below a subscript and in an f-string nothing is touched.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.twins.helpers import EQUALITIES, FRAMEWORKS, PREDICATES, UNITTEST, Helper
from evaluator.twins.literals import Style, is_literal
from evaluator.twins.raises import message_of
from evaluator.twins.reader import Called, Place, Reader, Truth
from evaluator.twins.site import Operator
from evaluator.twins.source import dotted, last_name

DEEPEST = 40
_ALL, _FIRST = True, False
_CONSTRUCTORS = {
    **{f"builtins.{name}": _ALL for name in ("list", "tuple", "set", "frozenset", "dict", "sorted")},
    **{f"builtins.{name}": _FIRST for name in ("str", "bytes", "bytearray", "float", "complex", "repr")},
    "collections.OrderedDict": _ALL,
    "collections.Counter": _ALL,
    "collections.deque": _FIRST,
    "datetime.timedelta": _ALL,
    "decimal.Decimal": _FIRST,
    "fractions.Fraction": _ALL,
    "numpy.array": _FIRST,
    "numpy.asarray": _FIRST,
    "numpy.float64": _FIRST,
    "numpy.int64": _FIRST,
    "os.path.join": _ALL,
    "pathlib.Path": _ALL,
    "pathlib.PurePath": _ALL,
    "pytest.approx": _FIRST,
    "re.escape": _FIRST,
    "textwrap.dedent": _FIRST,
}
"""Calls that make plain data of plain data, and whether of all their arguments or of the first alone."""
_STRING_METHODS = {"join": True, "format": True, "encode": False, "strip": False, "lstrip": False}
"""Of string literals; whether their arguments are data as well."""
_TOO_LARGE = 1_000_000


@dataclass(frozen=True)
class Operand:
    """An expected expression. `nested` is None where only a pure literal will do."""

    place: Place
    node: ast.expr
    pure: Operator
    nested: Operator | None
    style: Style = Style.EXACT
    equality: bool = False
    """Whether nothing but what equals it passes."""
    constructors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Leaf:
    """A literal of an expected expression."""

    node: ast.Constant
    plain: bool
    """Whether nothing but containers lies between the two: any other literal makes another value."""
    tolerant: bool = False


def operands(reader: Reader) -> tuple[Operand, ...]:
    """What the assertions of a test expect, in no particular order."""
    found: list[Operand] = []
    for truth in reader.truths:
        found += _compared(truth)
        if isinstance(truth.node, ast.Call):
            helper = PREDICATES.get(last_name(truth.node.func))
            if helper and (isinstance(truth.node.func, ast.Attribute) or len(truth.node.args) > 1):
                found += _arguments(truth.place, truth.node, helper, Operator.HELPER_LIT)
    for call in reader.calls:
        found += _called(call, reader)
    return tuple(found)


def _compared(truth: Truth) -> Iterator[Operand]:
    node = truth.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    left, right = node.left, node.comparators[0]
    if is_pure(left) and is_pure(right):
        return
    if isinstance(node.ops[0], ast.Eq):
        yield Operand(truth.place, right, Operator.EQ_LIT, Operator.EQ_NESTED, equality=True)
        yield Operand(truth.place, left, Operator.EQ_LIT, None, equality=True)
    elif isinstance(node.ops[0], ast.In):
        yield Operand(truth.place, left, Operator.IN_LIT, None)


def _called(call: Called, reader: Reader) -> Iterator[Operand]:
    if message := message_of(call, reader):
        yield Operand(call.place, message, Operator.RAISES_MSG, Operator.RAISES_MSG, Style.PATTERN)
    name, arguments = call.name, call.node.args
    if name in EQUALITIES and len(arguments) >= 2 and name not in reader.source.bound:
        one, other = arguments[:2]
        if not (is_pure(one) and is_pure(other)):
            yield Operand(call.place, one, Operator.UT_LIT, None, equality=True)
            yield Operand(call.place, other, Operator.UT_LIT, Operator.UT_NESTED, equality=True)
        return
    for table, operator in ((UNITTEST, Operator.UT_LIT), (FRAMEWORKS, Operator.HELPER_LIT)):
        # A helper that the file defines itself is another one of that name.
        if (helper := table.get(name)) and (helper.local or name not in reader.source.bound):
            yield from _arguments(call.place, call.node, helper, operator)


def _arguments(place: Place, call: ast.Call, helper: Helper, operator: Operator) -> Iterator[Operand]:
    nested = Operator.UT_NESTED if operator is Operator.UT_LIT else operator
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return
    for at, argument in enumerate(call.args):
        if helper.every or at in helper.at:
            yield Operand(place, argument, operator, nested, helper.style, constructors=helper.constructors)
    for keyword in call.keywords:
        if keyword.arg and (helper.every or {keyword.arg, "*"} & set(helper.keywords)):
            yield Operand(
                place, keyword.value, operator, nested, helper.style, constructors=helper.constructors
            )


def is_pure(node: ast.AST) -> bool:
    """Whether an expression is a literal, or a container of nothing else."""
    pending = [node]
    while pending:
        current = pending.pop()
        match current:
            case ast.Constant():
                if not is_literal(current):
                    return False
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant()):
                pass
            case ast.List() | ast.Tuple() | ast.Set():
                pending += current.elts
            case ast.Dict() if None not in current.keys:
                pending += [*filter(None, current.keys), *current.values]
            case _:
                return False
    return True


def leaves(reader: Reader, node: ast.expr, constructors: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Literals of an expected expression that may take another value, in the order of the text."""
    pending: list[tuple[ast.AST, bool, bool, int]] = [(node, True, False, 0)]
    while pending:
        current, plain, tolerant, depth = pending.pop()
        if depth > DEEPEST:
            continue
        inner: list[ast.AST] = []
        match current:
            case ast.Constant() if is_literal(current):
                if not (isinstance(current.value, int) and abs(current.value) >= _TOO_LARGE and not plain):
                    yield Leaf(current, plain, tolerant)
                continue
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
                inner = [current.operand]
            case ast.List() | ast.Tuple() | ast.Set():
                inner = [*current.elts]
            case ast.Dict() if None not in current.keys:
                inner = [
                    part for pair in zip(current.keys, current.values, strict=True) for part in pair if part
                ]
            case ast.BinOp():
                plain = False
                inner = _of_arithmetic(current)
            case ast.Call():
                plain = False
                tolerant = tolerant or reader.source.origin(current.func) == "pytest.approx"
                inner = _of_call(reader, current, constructors)
        pending += [(child, plain, tolerant, depth + 1) for child in reversed(inner)]


def _of_arithmetic(node: ast.BinOp) -> list[ast.AST]:
    """Not exponents of numbers, nor distances of shifts: another value may take the machine's memory."""
    if isinstance(node.op, ast.LShift | ast.RShift) or (isinstance(node.op, ast.Pow) and is_pure(node.left)):
        return [node.left]
    return [node.left, node.right]


def _of_call(reader: Reader, node: ast.Call, constructors: tuple[str, ...]) -> list[ast.AST]:
    """Arguments that are data as well; of a method of a string literal that literal too."""
    keywords = [keyword.value for keyword in node.keywords]
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return []
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant):
        everything = _STRING_METHODS.get(node.func.attr)
        receiver: list[ast.AST] = [] if everything is None else [node.func.value]
        return [*receiver, *node.args, *keywords] if everything else receiver
    everything = _CONSTRUCTORS.get(reader.source.origin(node.func))
    if everything or dotted(node.func) in constructors:
        return [*node.args, *keywords]
    return [] if everything is None else [*node.args[:1]]


def is_free(operand: Operand, leaf: Leaf) -> bool:
    """Whether any other value of a leaf fails as surely as the next."""
    exact = operand.style is Style.EXACT and not leaf.tolerant
    return operand.equality and exact and leaf.plain and not isinstance(leaf.node.value, bool | None)
