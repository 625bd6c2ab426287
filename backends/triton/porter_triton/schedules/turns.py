"""Sets how many turns of a loop a tile has, where it has a row for each: `ahead = tl.arange(0, 4)[:, None] * step`.

Rows only differ in how far ahead of the counter they are, so there may be any number of them if the loop steps as far.
What is gathered in them, `[4, threads]`, is one value a thread behind the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, edited_knob
from porter.source.edit import Edit
from porter_triton.schedules.text import ModuleText, last_name, number

_VALUES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Rows:
    """`count` turns at a time: `places` say so, `step` is the number of steps or one that is `count` times as large.

    `column` is what a step is, empty for 1.
    """

    count: int
    places: tuple[ast.expr, ...]
    step: ast.expr
    column: str


def turns(module: ModuleText) -> Iterator[EditedKnob]:
    """Yields a knob for each kernel with such loops, which turns all of them."""
    for family, names in module.families.items():
        found = [rows for name in names for _, rows in rows_of(module, module.jitted[name].body)]
        known = {rows.count for rows in found}
        if found:
            values = tuple(value for value in _VALUES if {value} != known)
            yield edited_knob(f"{family}.turns", values, partial(_edits, module, found))


def _edits(module: ModuleText, found: Sequence[Rows], value: Value) -> Iterator[Edit]:
    for rows in found:
        yield from (module.replaced(place, str(value)) for place in rows.places)
        yield module.replaced(rows.step, str(int(value) * ((number(rows.step) or 0) // rows.count)))


def rows_of(module: ModuleText, suite: Sequence[ast.stmt]) -> Iterator[tuple[ast.For, Rows]]:
    """Yields the loops that have rows in a list of statements, and in what these hold."""
    for index, statement in enumerate(suite):
        if isinstance(statement, ast.For) and (found := _rows(module, suite[:index], statement)) is not None:
            yield statement, found
        for inner in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
            yield from rows_of(module, inner)


def _rows(module: ModuleText, before: Sequence[ast.stmt], loop: ast.For) -> Rows | None:
    """Returns what is known of a loop behind some statements; None without rows, or if something else uses them."""
    for index in reversed(range(len(before))):
        made = before[index]
        match made:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (extent := _extent(_first(value))) is not None:
                count, step = number(extent), _step(module, value, loop)
                shapes = [shape for node in before[index + 1 :] for shape in _shapes(node)]
                places = [shape.elts[0] for shape in shapes if number(shape.elts[0]) == count]
                if count is None or step is None or not _is_ahead(name, loop):
                    return None
                return Rows(count, (extent, *places), step, _rest(module, value).removeprefix(" * "))
    return None


def _extent(node: ast.expr) -> ast.expr | None:
    """Returns the 4 of `tl.arange(0, 4)[:, None]`."""
    match node:
        case ast.Subscript(
            value=ast.Call(func=function, args=[ast.Constant(value=0), extent]),
            slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None, step=None), ast.Constant(value=None)]),
        ):
            return extent if last_name(function) == "arange" else None
    return None


def _step(module: ModuleText, column: ast.expr, loop: ast.For) -> ast.expr | None:
    """Returns the number in the loop's step that counts steps of the `column`; None where it is not known."""
    match loop.iter:
        case ast.Call(func=function, args=[_, _, step]) if last_name(function) == "range":
            extent, first = _extent(_first(column)), _first(step)
            count, one, all_ = number(extent), _rest(module, column), _rest(module, step)
            factor = number(first)
            if count is None or factor is None:
                return None
            written = one.removeprefix(" * ") or "1"
            whole = not all_ and written.isdecimal() and factor == count * int(written)
            return first if whole or (factor == count and one == all_) else None
    return None


def _first(product: ast.expr) -> ast.expr:
    """Returns the first factor."""
    while isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        product = product.left
    return product


def _rest(module: ModuleText, product: ast.expr) -> str:
    """Returns what stands behind the first factor."""
    return module.text[module.end(_first(product)) : module.end(product)]


def _is_ahead(name: str, loop: ast.For) -> bool:
    """Returns whether the body only knows rows by the loop's counter plus `name`: no other shape or numbering."""
    counter = loop.target.id if isinstance(loop.target, ast.Name) else ""
    inside = [node for statement in loop.body for node in ast.walk(statement)]
    sums = [node for node in inside if _is_sum(node, counter, name)]
    uses = [node for node in inside if isinstance(node, ast.Name) and node.id in (name, counter)]
    shapes = any(isinstance(node, (ast.List, ast.For, ast.While)) or _numbers(node) for node in inside)
    return len(sums) == 1 and len(uses) == 2 and not shapes


def _is_sum(node: ast.AST, one: str, other: str) -> bool:
    match node:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=ast.Name(id=right)):
            return (left, right) == (one, other)
    return False


def _numbers(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "arange"


def _shapes(node: ast.AST) -> Iterator[ast.List]:
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.List) and inner.elts)
