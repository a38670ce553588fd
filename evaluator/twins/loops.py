"""Sites in the table of a loop: elements that the loop's body uses only as what it expects."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from evaluator.twins.expected import Operand
from evaluator.twins.reader import Reader
from evaluator.twins.site import Operator, Site
from evaluator.twins.values import bound_names, literal_sites, loads, strictest, used_only_as_expected


def sites(reader: Reader, operands: Iterable[Operand]) -> Iterator[Site]:
    expected = used_only_as_expected(reader, operands)
    bindings = Counter(bound_names(reader))
    for place in reader.places:
        loop = place.statement
        if not isinstance(loop, ast.For):
            continue
        columns = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        for at, column in enumerate(columns):
            if not isinstance(column, ast.Name) or column.id not in expected or bindings[column.id] != 1:
                continue
            use = strictest(expected[column.id])
            somewhere = replace(use.place, unconditional=False)
            for row in _rows(reader, loop.iter, bindings):
                if cell := _cell(row, at, loop.target):
                    yield from literal_sites(reader, use, cell, Operator.LOOP_ROW, place=somewhere)


def _rows(reader: Reader, table: ast.expr, bindings: Counter[str]) -> list[ast.expr]:
    """Rows of a literal table, written in the loop or in a variable that nothing else reads."""
    if isinstance(table, ast.Name) and bindings[table.id] == 1 and loads(reader, table.id) == 1:
        for place in reader.places:
            match place.statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == table.id:
                    table = value
                    break
    return table.elts if isinstance(table, ast.List | ast.Tuple) else []


def _cell(row: ast.expr, at: int, target: ast.expr) -> ast.expr | None:
    if not isinstance(target, ast.Tuple):
        return row
    if not isinstance(row, ast.List | ast.Tuple) or len(row.elts) != len(target.elts):
        return None
    return row.elts[at]
