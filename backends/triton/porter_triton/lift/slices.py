"""Shared arrays and the slices of dynamic shared memory that pointers name: `float* b = smem + blockDim.x`."""

from __future__ import annotations

from dataclasses import dataclass

from porter.syntax.nodes import Binary, Cast, Declare, Expression, Name, Statement, Subscript, TypeName, Unary, Variable
from porter.syntax.terms import mentions
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import bare, number


@dataclass(frozen=True, slots=True)
class Slice:
    """`name` begins `offset` elements behind the beginning of the shared array `root`, which may be itself."""

    name: str
    root: str
    offset: int
    element: TypeName


def slice_of(facts: Facts, name: str) -> Slice | None:
    """Returns what `name` is a slice of; None where it is no shared array of one dimension, or the place is not
    known.
    """
    found = _declared(facts, name)
    if found is None:
        return None
    if found.storage.endswith("shared"):
        return Slice(name, name, 0, found.type) if len(found.extents) == 1 else None
    if found.type.pointers != 1 or found.extents or found.value is None or name in facts.changed:
        return None
    element = TypeName(found.type.name, found.type.arguments)
    begun = _begin(facts, bare(found.value), element)
    return None if begun is None else Slice(name, begun.root, begun.offset, element)


def private(facts: Facts, array: Slice, taken: tuple[Statement, ...]) -> bool:
    """Returns whether, outside of `taken`, its memory is reached only by brackets behind names whose place is known."""
    body, names = facts.function.body, _names(facts, array.root)
    known = (n for n in walk(body) if isinstance(n, Declare) and all(_is_view(facts, v) for v in n.variables))
    passed = {id(n) for part in (*known, *taken) for n in walk(part)}
    for node in walk(body):
        if id(node) in passed:
            continue
        if isinstance(node, Unary) and node.operator == "&" and any(mentions(node, name) for name in names):
            return False
        if isinstance(node, Subscript):
            passed.add(id(node.owner))
        elif isinstance(node, Name) and node.name in names:
            return False
    return True


def apart(facts: Facts, array: Slice, size: int, node: object) -> bool:
    """Returns whether `node` reaches none of the first `size` elements of `array` by the name of another slice."""
    for part in walk(node):
        if not isinstance(part, Subscript) or not isinstance(part.owner, Name) or part.owner.name == array.name:
            continue
        other = slice_of(facts, part.owner.name)
        if other is not None and other.root == array.root and not _beside(facts, array, size, other, bare(part.index)):
            return False
    return True


def _is_view(facts: Facts, variable: Variable) -> bool:
    return variable.type.pointers == 1 and slice_of(facts, variable.name) is not None


def _beside(facts: Facts, array: Slice, size: int, other: Slice, index: Expression) -> bool:
    """Returns whether an element of another slice lies before or behind; indices are not negative."""
    if other.offset >= array.offset + size:
        return True
    threads = facts.threads or 0
    within = facts.is_thread(index) or facts.is_lane(index) or facts.is_warp(index)
    reach = 1 if number(index) == 0 else threads if within else None
    return reach is not None and other.offset + reach <= array.offset


def _names(facts: Facts, root: str) -> frozenset[str]:
    """The root and all slices of it, as far as they are known."""
    declared = {v.name for n in walk(facts.function.body) if isinstance(n, Declare) for v in n.variables}
    slices = (found for name in declared if (found := slice_of(facts, name)) is not None)
    return frozenset({root, *(found.name for found in slices if found.root == root)})


def _begin(facts: Facts, value: Expression, element: TypeName) -> Slice | None:
    """Returns where a pointer points to."""
    while isinstance(value, Cast):
        value = value.operand
    if isinstance(value, Unary) and value.operator == "&" and isinstance(value.operand, Subscript):
        value = Binary("+", value.operand.owner, value.operand.index)
    if isinstance(value, Name):
        return slice_of(facts, value.name)
    if not isinstance(value, Binary) or value.operator != "+" or not isinstance(value.left, Name):
        return None
    base, step = slice_of(facts, value.left.name), facts.value(value.right)
    if base is None or step is None or base.element != element:
        return None
    return Slice(base.name, base.root, base.offset + step, element)


def _declared(facts: Facts, name: str) -> Variable | None:
    found = [v for n in walk(facts.function.body) if isinstance(n, Declare) for v in n.variables if v.name == name]
    return found[0] if len(found) == 1 else None
