"""Sites where another literal is expected: in an assertion, or in a variable that only assertions use."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from evaluator.twins.expected import Leaf, Operand, is_free, is_pure, leaves
from evaluator.twins.helpers import EXPECTED
from evaluator.twins.literals import Style, token_of
from evaluator.twins.reader import Place, Reader
from evaluator.twins.site import SLOT, Operator, Site

PER_OPERAND = 2
"""Literals tried of one operand, its first and its last: they stand or fall together."""
_EMPTY = {"[]": f"[{SLOT}]", "()": f"({SLOT},)", "{}": f"{{{SLOT}: {SLOT}}}"}
_READS_NAMES = frozenset(("locals", "vars", "eval", "exec", "globals"))


def sites(reader: Reader, operands: Iterable[Operand]) -> Iterator[Site]:
    """Literals of expected operands, then those assigned to names that mean what is expected."""
    operands = tuple(operands)
    for operand in operands:
        operator = operand.pure if is_pure(operand.node) else operand.nested
        if operator:
            yield from literal_sites(reader, operand, operand.node, operator, place=operand.place)
    yield from _variables(reader, operands)


def literal_sites(
    reader: Reader,
    operand: Operand,
    node: ast.expr,
    operator: Operator,
    *,
    place: Place,
    targets: tuple[str, ...] = (),
) -> Iterator[Site]:
    """Sites of the literals of `node`, which is what `operand` expects."""
    text = reader.source.text(node)
    if text in _EMPTY and operand.style is Style.EXACT:
        yield reader.site(
            operator, place, node, (_EMPTY[text],), literal="0", free=operand.equality, targets=targets
        )
        return
    usable = []
    for leaf in leaves(reader, node, operand.constructors):
        style = Style.TOLERANT if leaf.tolerant else operand.style
        if span := _token_span(reader, leaf, style):
            token, free = reader.source.slice(*span), is_free(operand, leaf)
            usable.append(
                reader.site(
                    operator, place, span, (SLOT,), literal=token, style=style, free=free, targets=targets
                )
            )
    yield from usable if len(usable) <= PER_OPERAND else (usable[0], usable[-1])


def _token_span(reader: Reader, leaf: Leaf, style: Style) -> tuple[int, int] | None:
    """Of that token of a literal which can be changed."""
    text = reader.source.text(leaf.node)
    token = token_of(text, style)
    if token is None:
        return None
    start = reader.source.start(leaf.node) + len(text[: token[0]].encode())
    return start, start + len(token[1].encode())


def used_only_as_expected(reader: Reader, operands: Iterable[Operand]) -> dict[str, list[Operand]]:
    """Names of which every use in the test is as a whole expected operand, with those operands."""
    by_name: dict[str, list[Operand]] = {}
    for operand in operands:
        if isinstance(operand.node, ast.Name):
            by_name.setdefault(operand.node.id, []).append(operand)
    labels = {id(argument) for call in reader.calls if call.name == "subTest" for argument in call.arguments}
    uses: Counter[str] = Counter()
    for statement in reader.function.node.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in labels:
                if node.id in _READS_NAMES:
                    return {}
                uses[node.id] += 1
    return {
        name: found
        for name, found in by_name.items()
        if len({id(operand.node) for operand in found}) == uses[name]
    }


def _variables(reader: Reader, operands: Iterable[Operand]) -> Iterator[Site]:
    """Literals assigned to a name count for the assertions between that assignment and the next."""
    bindings = Counter(bound_names(reader))
    for name, uses in used_only_as_expected(reader, operands).items():
        assigned = [
            (place, place.statement.value)
            for place in reader.places
            if isinstance(place.statement, ast.Assign) and _is_name(place.statement.targets, name)
        ]
        if not EXPECTED.fullmatch(name) or bindings[name] != len(assigned):
            continue
        ends = [place.statement.lineno for place, _ in assigned[1:]]
        for (place, value), end in zip(assigned, [*ends, None], strict=True):
            lines = range(place.statement.lineno, end or reader.function.last_line + 1)
            if meant := [use for use in uses if use.place.statement.lineno in lines]:
                use, both = strictest(meant), _common(place, meant)
                yield from literal_sites(reader, use, value, Operator.EXPECTED_VAR, place=both)


def _is_name(targets: list[ast.expr], name: str) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name


def bound_names(reader: Reader) -> Iterator[str]:
    for node in ast.walk(reader.function.node):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
                yield from names


def loads(reader: Reader, name: str) -> int:
    """How often a test reads a name."""
    return sum(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(reader.function.node)
    )


def strictest(uses: list[Operand]) -> Operand:
    """The use that allows the least: as a pattern before within a tolerance before exactly."""
    order = (Style.PATTERN, Style.TOLERANT, Style.EXACT)
    return min(uses, key=lambda use: (order.index(use.style), not use.place.unconditional))


def _common(place: Place, uses: list[Operand]) -> Place:
    """The assertion a variable counts for, if it is reached whenever that and the assignment are."""
    use = strictest(uses).place
    return Place(use.statement, use.top, use.unconditional and place.unconditional)
