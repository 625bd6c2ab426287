"""Rewrites the text of a module of Triton kernels by rules. At most they change how results are rounded.

None makes arithmetic coarser than the interpreter shows: there `/` and `tl.sqrt` are as exact as `tl.div_rn` and
`tl.sqrt_rn`, so a candidate that exchanges them would pass although nothing tested the exchange.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from porter.backend import PortedFile
from porter.evolve.candidate import File
from porter.evolve.proposing.rewrite import Rewritten
from porter.source.edit import Edit, apply_edits
from porter_triton.kept import kept_rows
from porter_triton.schedules.text import ModuleText, last_name

_DIVISION = "div_rn"
_NEAREST = frozenset((_DIVISION, "sqrt_rn"))
_ROUNDING = frozenset(("floor", "ceil", "rint", "round", "trunc", "llrint", "nearbyint", "float2int_rn"))
_CASTS = frozenset(("to", "cast"))
_REDUCING = frozenset(("sum", "max", "min", "reduce"))
_SHAPED = frozenset(("arange", "zeros", "full"))
_Rule = Callable[[ModuleText, ast.FunctionDef], Iterable[Edit]]


def rewrites(files: tuple[PortedFile, ...]) -> Iterator[Rewritten]:
    """Yields what each rule makes of each kernel of the first file in which it changes something."""
    module = ModuleText.of(files[0].text)
    if module is None or not module.language:
        return
    for name, rule in _RULES.items():
        for family, kernels in module.families.items():
            edits = [edit for kernel in kernels for edit in rule(module, module.jitted[kernel])]
            if edits:
                changed = (replace(files[0], text=apply_edits(module.text, edits)), *files[1:])
                yield Rewritten(name, family, tuple(File(file.name, file.text) for file in changed))


def _by_reciprocal(module: ModuleText, kernel: ast.FunctionDef) -> Iterator[Edit]:
    """Yields a quotient as a product where its divisor is the same for a loop's turns, or for a tile's elements.

    Of nested ones the innermost; the others are there for the next time.
    """
    if _makes_whole_numbers(kernel):
        return
    loops = [node for node in ast.walk(kernel) if isinstance(node, (ast.For, ast.While))]
    inside = {id(node): node for loop in loops for statement in loop.body for node in ast.walk(statement)}
    changed = {n.id for n in inside.values() if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    targets = [loop.target for loop in loops if isinstance(loop, ast.For)]
    changed |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    tiles = _tiles(kernel)

    def is_shared(dividend: ast.expr, divisor: ast.expr, *, turned: bool) -> bool:
        name = _name(divisor)
        return name not in changed if turned else name not in tiles and _is_tile(dividend, tiles)

    nodes = [node for statement in kernel.body for node in ast.walk(statement) if isinstance(node, ast.expr)]
    parts = {id(node): found for node in nodes if (found := _divided(node))}
    quotients = {place for place, found in parts.items() if is_shared(*found, turned=place in inside)}
    for node in nodes:
        if quotients.intersection(map(id, ast.walk(node))) == {id(node)}:
            yield module.replaced(node, _product(module, node))


def _divided(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Returns dividend and divisor, if that is a variable, cast or not, and the dividend more than a number."""
    match node:
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            parts = left, right
        case ast.Call(args=[left, right], keywords=[]) if last_name(node.func) == _DIVISION:
            parts = left, right
        case _:
            return None
    return parts if _name(parts[1]) and not isinstance(parts[0], ast.Constant) else None


def _name(divisor: ast.expr) -> str:
    """Returns the variable that a divisor is; empty for anything else."""
    match divisor:
        case ast.Name(id=name) | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to")):
            return name
    return ""


def _product(module: ModuleText, quotient: ast.expr) -> str:
    """Returns `a / b` as `(a) * (1.0 / b)`; the reciprocal is rounded as the quotient was."""
    parts = _divided(quotient)
    assert parts is not None
    left, right = (module.text[module.start(part) : module.end(part)] for part in parts)
    if isinstance(quotient, ast.BinOp):
        return f"({left}) * (1.0 / {right})"
    return f"(({left}) * {module.language}.{_DIVISION}(1.0, {right}))"


def _tiles(kernel: ast.FunctionDef) -> set[str]:
    """Returns the variables that may have an element for each of several lanes."""
    found: set[str] = set()
    assigned = [node for node in ast.walk(kernel) if isinstance(node, (ast.Assign, ast.AugAssign))]
    while more := {name for node in assigned if _is_tile(node.value, found) for name in _targets(node)} - found:
        found |= more
    return found


def _targets(node: ast.Assign | ast.AugAssign) -> Iterator[str]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def _is_tile(node: ast.AST, tiles: set[str]) -> bool:
    """Returns whether it is made of numbered lanes or of tiles, and not brought to one value."""
    if isinstance(node, ast.Call) and last_name(node.func) in _REDUCING:
        return False
    if (isinstance(node, ast.Call) and last_name(node.func) in _SHAPED) or (
        isinstance(node, ast.Name) and node.id in tiles
    ):
        return True
    return any(_is_tile(child, tiles) for child in ast.iter_child_nodes(node))


def _makes_whole_numbers(kernel: ast.FunctionDef) -> bool:
    """Returns whether quotients or roots may become whole numbers, in which the last bit shows."""
    calls = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    if any(last_name(call.func) in _ROUNDING for call in calls):
        return True
    fractions = _fractions(kernel)
    casts = (call for call in calls if last_name(call.func) in _CASTS and _is_whole(call))
    return any(_has_fraction(part, fractions) for call in casts for part in (call.func, *call.args))


def _fractions(kernel: ast.FunctionDef) -> set[str]:
    """Returns the variables that quotients and roots go into, through any number of others."""
    found: set[str] = set()
    assigned = [node for node in ast.walk(kernel) if isinstance(node, (ast.Assign, ast.AugAssign))]
    while True:
        more = {name for node in assigned if _has_fraction(node.value, found) for name in _targets(node)}
        if more <= found:
            return found
        found |= more


def _has_fraction(node: ast.AST, names: set[str]) -> bool:
    return any(
        (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div))
        or (isinstance(part, ast.Call) and last_name(part.func) in _NEAREST)
        or (isinstance(part, ast.Name) and part.id in names)
        for part in ast.walk(node)
    )


def _is_whole(cast: ast.Call) -> bool:
    """Returns whether it may be to a type of whole numbers: to any that is not plainly one of floats."""
    types = [last_name(argument) for argument in cast.args[-1:]]
    return not types or not types[0].startswith(("float", "bfloat", "fp"))


_RULES: Mapping[str, _Rule] = {"division by reciprocal": _by_reciprocal, "rows kept on the chip": kept_rows}
