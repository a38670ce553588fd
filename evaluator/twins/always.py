"""Sites of last resort: what no program satisfies. Such a test looks odd, and an object that equals
everything fails it as honest code does."""

import ast
from collections.abc import Iterator

from evaluator.twins.literals import Style
from evaluator.twins.reader import Place, Reader, walk_own
from evaluator.twins.site import SLOT, Operator, Site

_SIMPLE_STATEMENTS = ast.Assert | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Delete
_EXCEPTIONS = ("ZeroDivisionError", "EOFError", "OverflowError")


def sites(reader: Reader) -> Iterator[Site]:
    yield from _append(reader)
    for place in reader.places:
        if isinstance(place.statement, ast.Assert):
            test = place.statement.test
            template = f"({reader.source.text(test)}) is None"
            yield reader.site(Operator.NONE_WRAP, place, test, (template,))
    yield from _wrap_raises(reader)


def _last(reader: Reader) -> Place | None:
    """The last statement of the test, unless it leaves the test, or the test is a generator."""
    body = reader.function.node.body
    last = reader.places[-1].top if reader.places else None
    generates = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in walk_own(body))
    if last is not body[-1] or generates or isinstance(last, ast.Return | ast.Raise | ast.Pass):
        return None
    return next(place for place in reader.places if place.statement is last)


def _append(reader: Reader) -> Iterator[Site]:
    """After the last statement: a variable that is certainly bound equals something else."""
    last = _last(reader)
    if last is None:
        return
    end = reader.source.end(last.statement)
    separator = "; "
    if not isinstance(last.statement, _SIMPLE_STATEMENTS):
        line = reader.source.line_start(last.top.lineno)
        indent = reader.source.slice(line, line + last.top.col_offset)
        separator = f"\n{indent}"
    for name in _last_bound(reader):
        template = f"{separator}assert {name} == {SLOT}"
        yield reader.site(Operator.APPEND, last, (end, end), (template,), literal="''", style=Style.WORD)


def _last_bound(reader: Reader) -> list[str]:
    """Variables of the test that are certainly bound at its end, the last two, last first."""
    names: dict[str, None] = {}
    for statement in reader.function.node.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr())
            ):
                names.pop(name, None)
                names[name] = None
            case ast.Delete():
                names.clear()
    return list(names)[::-1][:2]


def _wrap_raises(reader: Reader) -> Iterator[Site]:
    """The last statement raises. On the same line, so that no line moves."""
    last = _last(reader)
    if last is None or not isinstance(last.statement, _SIMPLE_STATEMENTS):
        return
    start = reader.source.start(last.statement)
    guard = _guard(reader)
    if guard and not reader.source.slice(reader.source.line_start(last.statement.lineno), start).strip():
        templates = tuple(f"with {guard}({name}): " for name in _EXCEPTIONS)
        yield reader.site(Operator.WRAP_RAISES, last, (start, start), templates)


def _guard(reader: Reader) -> str | None:
    """What this file calls an assertion that something is raised."""
    for name, origin in reader.source.imports.items():
        if name in reader.source.bound:
            continue
        if origin == "pytest":
            return f"{name}.raises"
        if origin == "pytest.raises" or (origin.startswith("sympy.") and origin.endswith(".raises")):
            return name
    arguments = reader.function.node.args.args
    uses_assertions = any(call.name.startswith("assert") for call in reader.calls)
    return (
        f"{arguments[0].arg}.assertRaises"
        if arguments and arguments[0].arg == "self" and uses_assertions
        else None
    )
