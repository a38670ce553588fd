"""Sites in the rows of `pytest.mark.parametrize`: elements that the test uses only as what it expects.

A test id names the row it came from by the values in it. So an element whose value is part of the id is
changed only if the ids are given in the decorator, or can be pinned there as they are.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from evaluator.twins.expected import Operand
from evaluator.twins.reader import Reader
from evaluator.twins.site import Operator, Site
from evaluator.twins.source import Edit, dotted
from evaluator.twins.values import literal_sites, strictest, used_only_as_expected


@dataclass(frozen=True)
class Row:
    """One set of parameters."""

    cells: tuple[ast.expr, ...]
    given_id: str | None
    """None where pytest makes it up, and for an id that the text does not tell."""
    pinned: bool
    """Whether the id does not depend on the cells."""


@dataclass(frozen=True)
class Table:
    """A decorator with literal rows."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    rows_node: ast.expr
    has_ids: bool

    @cached_property
    def ids(self) -> tuple[str | None, ...]:
        """Of each row, as pytest spells it; None where that cannot be told."""
        ids = [
            row.given_id if row.pinned else _made_id(self.names, row.cells, number)
            for number, row in enumerate(self.rows)
        ]
        return tuple(row_id if ids.count(row_id) == 1 else None for row_id in ids)


def sites(reader: Reader, operands: Iterable[Operand]) -> Iterator[Site]:
    tables = [_table(node) for node in reader.function.node.decorator_list if _is_parametrize(node)]
    if len(tables) != 1 or (table := tables[0]) is None:
        return  # the ids of a product of tables do not tell their parts
    pins = _pins(reader, table)
    for name, uses in used_only_as_expected(reader, operands).items():
        if name not in table.names:
            continue
        at, use = table.names.index(name), strictest(uses)
        for row, row_id in zip(table.rows, table.ids, strict=True):
            targets = tuple(test_id for test_id in reader.function.ids if test_id.endswith(f"[{row_id}]"))
            in_place = row.pinned or not _is_in_id(row.cells[at])
            if row_id is None or not targets or not (in_place or pins):
                continue
            operator = Operator.PARAM if in_place else Operator.PARAM_KEEPID
            found = literal_sites(reader, use, row.cells[at], operator, place=use.place, targets=targets)
            yield from found if in_place else (site.pinned(pins) for site in found)


def _pins(reader: Reader, table: Table) -> tuple[Edit, ...]:
    """What gives the rows the ids they have. Pytest makes up the id of a row that is given None."""
    if table.has_ids or any(row.pinned for row in table.rows):
        return ()
    end = reader.source.end(table.rows_node)
    return (Edit(end, end, f", ids={list(table.ids)!r}"),)


def _is_parametrize(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).endswith("mark.parametrize")


def _table(node: ast.expr) -> Table | None:
    match node:
        case ast.Call(args=[names_node, ast.List() | ast.Tuple() as rows_node], keywords=keywords):
            pass
        case _:
            return None
    names = _names(names_node)
    ids: list[str | None] | None = None
    for keyword in keywords:
        if keyword.arg != "ids":
            return None
        ids = _strings(keyword.value)
        if ids is None or len(ids) != len(rows_node.elts):
            return None
    rows = []
    for number, element in enumerate(rows_node.elts):
        given = ids[number] if ids else None
        row = _row(element, len(names), given)
        if row is None:
            return None
        rows.append(row)
    return Table(names, tuple(rows), rows_node, ids is not None) if names and rows else None


def _names(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(name.strip() for name in node.value.split(",") if name.strip())
    return tuple(name for name in _strings(node) or () if name)


def _strings(node: ast.expr) -> list[str | None] | None:
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    values = [element.value for element in node.elts if isinstance(element, ast.Constant)]
    strings: list[str | None] = [value for value in values if isinstance(value, str)]
    return strings if len(strings) == len(node.elts) else None


def _row(element: ast.expr, width: int, given: str | None) -> Row | None:
    pinned = given is not None
    if isinstance(element, ast.Call):
        if not dotted(element.func).endswith("param"):
            return Row((element,), given, pinned) if width == 1 else None
        for keyword in element.keywords:
            if keyword.arg == "id":
                value = getattr(keyword.value, "value", None)
                given, pinned = (value, True) if isinstance(value, str) else (None, True)
        cells = tuple(element.args)
    elif width == 1:
        cells = (element,)
    else:
        cells = tuple(element.elts) if isinstance(element, ast.List | ast.Tuple) else ()
    if len(cells) != width or any(isinstance(cell, ast.Starred) for cell in cells):
        return None
    return Row(cells, given, pinned)


def _is_in_id(cell: ast.expr) -> bool:
    """Whether the value of a cell is part of its row's id."""
    return not isinstance(cell, ast.List | ast.Tuple | ast.Dict | ast.Set)


def _made_id(names: tuple[str, ...], cells: tuple[ast.expr, ...], number: int) -> str | None:
    parts = [_part(name, cell, number) for name, cell in zip(names, cells, strict=True)]
    return None if None in parts else "-".join(filter(None, parts))


def _part(name: str, cell: ast.expr, number: int) -> str | None:
    """One cell's part of an id. Source: how pytest 3 to 9 make ids up, as far as all of them agree."""
    sign = ""
    if isinstance(cell, ast.UnaryOp) and isinstance(cell.op, ast.USub):
        sign, cell = "-", cell.operand
    match cell:
        case ast.Constant(value=bool() | None as value) if not sign:
            return str(value)
        case ast.Constant(value=int() | float() as value):
            return f"{sign}{value}" if abs(value) < 1e15 else None
        case ast.Constant(value=str() as value) if (
            not sign and value and value.isascii() and value.isprintable()
        ):
            return value
        case ast.List() | ast.Tuple() | ast.Dict() | ast.Set() if not sign:
            return f"{name}{number}"
    return None
