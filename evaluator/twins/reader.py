"""Reads a test function: its assertions, and whether each is reached whenever the test passes."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from evaluator.twins.functions import TestFunction
from evaluator.twins.helpers import TRANSPARENT
from evaluator.twins.literals import Style
from evaluator.twins.site import Operator, Site
from evaluator.twins.source import Source, last_name

_NESTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


@dataclass(frozen=True)
class Place:
    """Where an assertion stands: its statement, and the statement of the test's body which that is in."""

    statement: ast.stmt
    top: ast.stmt
    unconditional: bool


@dataclass(frozen=True)
class Truth:
    """An expression that has to be true for the test to pass."""

    place: Place
    node: ast.expr


@dataclass(frozen=True)
class Called:
    """A call made for its effect, or as a context manager (`with_block`): of an assertion helper, perhaps."""

    place: Place
    node: ast.Call
    with_block: bool

    @property
    def name(self) -> str:
        return last_name(self.node.func)

    @property
    def arguments(self) -> list[ast.expr]:
        return [*self.node.args, *(keyword.value for keyword in self.node.keywords)]


class Reader:
    """One test function, taken apart."""

    def __init__(self, function: TestFunction) -> None:
        self.function = function
        self.source: Source = function.source
        self.places = tuple(_places(function))
        calls = [(place, tuple(_calls(place))) for place in self.places]
        self.calls = tuple(call for _, of_place in calls for call in of_place)
        self.truths = tuple(truth for place, of_place in calls for truth in self._truths(place, of_place))

    def site(
        self,
        operator: Operator,
        place: Place,
        span: ast.AST | tuple[int, int],
        templates: tuple[str, ...],
        *,
        literal: str = "",
        style: Style = Style.EXACT,
        free: bool = False,
        targets: tuple[str, ...] = (),
    ) -> Site:
        """The site at `span` of an assertion at `place`, about all ids of the test or the given `targets`."""
        source = self.source
        start, end = (source.start(span), source.end(span)) if isinstance(span, ast.AST) else span
        line = source.line_at(start)
        return Site(
            operator,
            self.function.path,
            self.function.name,
            targets or self.function.ids,
            start,
            end,
            templates,
            literal,
            style,
            free,
            line,
            self.function.status(line),
            source.start(place.statement),
            source.start(place.top),
            place.unconditional,
        )

    def _truths(self, place: Place, calls: tuple[Called, ...]) -> Iterator[Truth]:
        pending = []
        if isinstance(place.statement, ast.Assert):
            pending = [Truth(place, place.statement.test)]
        for call in calls:
            if call.name in ("assertTrue", "assert_", "assert_true") and call.node.args:
                pending.append(Truth(place, call.node.args[0]))
        while pending:
            truth = pending.pop()
            node = truth.node
            if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
                pending += [Truth(truth.place, value) for value in reversed(node.values)]
            elif inner := self._of_each(node):
                pending.append(Truth(replace(truth.place, unconditional=False), inner))
            else:
                yield truth

    def _of_each(self, node: ast.expr) -> ast.expr | None:
        """What has to be true of every element, of which there may be none."""
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "all" and not node.args:
            return node.func.value if isinstance(node.func.value, ast.Compare) else None
        if len(node.args) != 1:
            return None
        argument = node.args[0]
        if self.source.origin(node.func) == "builtins.all":
            return argument.elt if isinstance(argument, ast.GeneratorExp | ast.ListComp) else None
        is_numpys = self.source.origin(node.func) == "numpy.all"
        return argument if is_numpys and isinstance(argument, ast.Compare) else None


def walk_own(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """What is in some statements, in their order, but for the functions and classes defined there."""
    pending = [*statements][::-1]
    while pending:
        node = pending.pop()
        if not isinstance(node, _NESTED):
            yield node
            pending += reversed([*ast.iter_child_nodes(node)])


def _places(function: TestFunction) -> Iterator[Place]:
    parameters = _parameters(function)
    always = True
    for top in function.node.body:
        pending: list[tuple[ast.stmt, bool]] = [(top, always)]
        while pending:
            statement, unconditional = pending.pop()
            yield Place(statement, top, unconditional)
            if isinstance(statement, ast.If) and _mentions(statement.test, parameters):
                continue  # taken by some rows only: an edit inside contradicts some ids and not others
            inside = unconditional and _is_transparent(statement)
            pending += [(child, inside) for child in reversed(list(_statements(statement)))]
        # Whatever comes after a return may not be reached by a test that passes.
        always = always and not any(isinstance(node, ast.Return) for node in walk_own([top]))


def _parameters(function: TestFunction) -> frozenset[str]:
    """Arguments of a test that has several rows."""
    if not any("[" in test_id for test_id in function.ids):
        return frozenset()
    return frozenset(argument.arg for argument in function.node.args.args)


def _mentions(node: ast.AST, names: frozenset[str]) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node))


def _statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Statements directly inside a compound one."""
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(statement, field, ())
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from part.body


def _is_transparent(statement: ast.stmt) -> bool:
    """Whether the block of a statement runs once, and to its end."""
    if not isinstance(statement, ast.With | ast.AsyncWith):
        return False
    managers = [item.context_expr for item in statement.items]
    return all(
        isinstance(manager, ast.Call) and last_name(manager.func) in TRANSPARENT for manager in managers
    )


def _calls(place: Place) -> Iterator[Called]:
    statement = place.statement
    if isinstance(statement, ast.With | ast.AsyncWith):
        for item in statement.items:
            if isinstance(item.context_expr, ast.Call):
                yield Called(place, item.context_expr, True)
    elif isinstance(statement, ast.Expr | ast.Assign):
        value = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        if isinstance(value, ast.Call):
            yield Called(place, value, False)
