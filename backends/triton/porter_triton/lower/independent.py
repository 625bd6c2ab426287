"""Whether the turns of a loop have nothing to do with each other but what they add up or compare.

No turn reads what another one leaves in a variable; each store goes to another place in each turn of a thread; and a
buffer that the loop writes is touched in it at one index only, elsewhere across a barrier. So no barrier in the loop
has anything to wait for.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import chain

from porter.python_tree import expression_tree
from porter_triton.device.source import helpers
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Line, Loop, Store, names_in
from porter_triton.lower.gathering import called, gathered
from porter_triton.lower.lanes import side_by_side
from porter_triton.lower.types import Arithmetic, Pointer
from porter_triton.lower.values import Scalar

# What computes each element of a tile from the elements at its place.
_ELEMENTWISE = frozenset({
    "where", "maximum", "minimum", "clamp", "abs", "floor", "ceil", "fma", "umulhi", "cast", "zeros", "full",
    "exp", "exp2", "log", "log2", "sqrt", "sqrt_rn", "rsqrt", "div_rn", "sin", "cos", "erf", "sigmoid",
    "program_id", "num_programs",
})  # fmt: skip
_METHODS = frozenset({"to"})


@dataclass(frozen=True, slots=True)
class Turns:
    """What is known of a loop whose turns are independent.

    `wide` are the names that differ between turns, `gathered` what is added up or compared, by Triton's word for it and
    its type. `bits` has the smallest number that is loaded. `shared`: threads touch elsewhere what others touch here.
    """

    wide: frozenset[str]
    gathered: Mapping[str, tuple[str, Arithmetic]]
    bits: int
    shared: bool


def independent(cx: Context, loop: Loop, lines: list[Line], carried: frozenset[str]) -> Turns | None:
    """The turns of `loop`, whose body is `lines` and hands on the variables `carried`; None where they depend."""
    assert loop.steps is not None
    body = _Body(carried, loop.steps.masked, loop.steps.even, {loop.variable}, {loop.variable})
    if not all(body.fits(line) for line in lines if line.text != BARRIER) or not body.bits:
        return None
    if not loop.steps.masked and not _alike(cx, body.pointers):
        return None
    read, written = _bases(body.loaded), _bases(body.stored)
    for base in written:
        touching = {_index(cx, p) for p in (*body.loaded, *body.stored) if base in p.bases}
        if len(touching) > 1:
            return None
    elsewhere = any(cx.writes[base] > sum(base in p.bases for p in body.stored) for base in written)
    shared = elsewhere or bool(written & cx.decisions.loaded or read & cx.decisions.stored)
    return Turns(frozenset(body.wide), body.gathered, body.bits, shared)


@dataclass(slots=True)
class _Body:
    """The statements of a turn, read one after another."""

    carried: frozenset[str]
    masked: bool
    even: bool
    wide: set[str]
    linear: set[str]  # of these, what grows by the same with each turn
    data: set[str] = field(default_factory=set)  # what follows from what was loaded
    zero: set[str] = field(default_factory=set)  # what was loaded and is 0 where nothing was
    gathered: dict[str, tuple[str, Arithmetic]] = field(default_factory=dict)
    loaded: list[Scalar] = field(default_factory=list)
    stored: list[Scalar] = field(default_factory=list)
    pointers: list[Scalar] = field(default_factory=list)  # that differ between turns
    bits: int = 0

    def fits(self, line: Line) -> bool:
        """Returns whether a statement may run for several turns at once."""
        if line.target in self.carried:
            return self._gathers(line)
        if line.reads & self.carried:
            return False
        if line.store is not None:
            return self._stores(line.store)
        if line.effect or line.value is None:
            return False
        if not (self._loads(line) if line.pointer is not None else elementwise(line.text)):
            return False
        (self.wide.add if self._is_wide(line.text) else self.wide.discard)(line.target)
        grows = self._is_linear(expression_tree(line.text))
        (self.linear.add if grows else self.linear.discard)(line.target)
        told = line.pointer is not None or bool(line.reads & self.data)
        (self.data.add if told else self.data.discard)(line.target)
        return True

    def _is_wide(self, text: str) -> bool:
        return bool(names_in(text) & self.wide)

    def _is_linear(self, node: ast.expr) -> bool:
        """Returns whether a value grows by the same with each turn."""
        match node:
            case ast.Name(id=name):
                return name in self.linear
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
                moving = [side for side in (left, right) if self._is_wide(ast.unparse(side))]
                return len(moving) == 1 and self._is_linear(moving[0])
            case ast.Call(func=ast.Attribute(value=inner, attr="to")):
                return self._is_linear(inner)
            case ast.Call(args=[inner, _]) if called(node) == "cast":
                return self._is_linear(inner)
        return False

    def _gathers(self, line: Line) -> bool:
        found = gathered(line)
        if found is None or line.value is None or not line.value.varying or not elementwise(line.text):
            return False
        type_, known = line.value.type, self.gathered.get(line.target)
        if not isinstance(type_, Arithmetic) or type_.bits < 32 or (known is not None and known[0] != found.operation):
            return False
        if line.reads & (self.carried - {line.target}):
            return False
        self.gathered[line.target] = found.operation, type_
        return (
            not self.masked
            or self._is_wide(found.mask)
            or (found.term is not None and vanishes(found.term, self.wide, self.zero))
        )

    def _loads(self, line: Line) -> bool:
        _, arguments, mask, other = load_parts(line.text)
        assert line.pointer is not None
        if not elementwise(*arguments, mask) or self._parts(mask):
            return False
        self.loaded.append(line.pointer)
        if not self._is_wide(arguments[0]):
            return not self._is_wide(line.text)
        if self.masked and not self._is_wide(mask):
            return False
        if not self.masked and not self.even and self._is_wide(mask):
            return False  # a window's borders: it is short
        if other == ["other=0.0"]:
            self.zero.add(line.target)
        return self._reaches(line.pointer, least=True)

    def _stores(self, store: Store) -> bool:
        self.stored.append(store.pointer)
        mask = "" if store.mask is None else store.mask.text
        if not elementwise(store.pointer.text, store.value.text, mask) or self._parts(mask):
            return False
        index = expression_tree(store.pointer.text)
        if not self._is_linear(index) or (self.masked and not self._is_wide(mask)):
            return False
        if store.value.varying and not self._is_wide(store.value.text):
            return False
        return self._reaches(store.pointer, least=False)

    def _parts(self, mask: str) -> bool:
        """Returns whether data decide element by element on an access, which is one an element then.

        A lane of a tile has several neighbours, so that these accesses lie apart: each touches the memory of all.
        """
        return not self.data.isdisjoint(names_in(mask))

    def _reaches(self, pointer: Scalar, *, least: bool) -> bool:
        """Returns whether threads have addresses of their own in each turn."""
        assert isinstance(pointer.type, Pointer)
        element = pointer.type.element
        if not pointer.varying or not isinstance(element, Arithmetic):
            return False
        self.pointers.append(pointer)
        if least:
            self.bits = min(self.bits or element.bits, max(element.bits, 8))
        return True


def vanishes(term: ast.expr, wide: Collection[str], zero: Collection[str]) -> bool:
    """Returns whether a term is 0 where a mask that depends on `wide` says so; `zero` are names of what is."""
    match term:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to")) | ast.Name(id=name):
            return name in zero
        case ast.Call(args=[mask, _, ast.Constant(value=0)]) if called(term) == "where":
            return any(isinstance(node, ast.Name) and node.id in wide for node in ast.walk(mask))
    return False


BARRIER = "tl.debug_barrier()"


def load_parts(text: str) -> tuple[str, list[str], str, list[str]]:
    """The function, positional arguments, mask, and other keywords of a load or store."""
    call = expression_tree(text)
    assert isinstance(call, ast.Call)
    parts = {k.arg: ast.get_source_segment(text, k.value) or "" for k in call.keywords}
    mask = parts.pop("mask", "")
    arguments = [ast.get_source_segment(text, a) or "" for a in call.args]
    return ast.unparse(call.func), arguments, mask, [f"{name}={value}" for name, value in parts.items()]


def elementwise(*texts: str) -> bool:
    """Returns whether each element of some values depends on nothing but the elements at its place."""
    for node in chain.from_iterable(ast.walk(expression_tree(text)) for text in texts if text):
        match node:
            case ast.Subscript():
                return False
            case ast.Call(func=ast.Name(id=name)):
                if name not in helpers() or not helpers()[name].elementwise:
                    return False
            case ast.Call(func=ast.Attribute(attr=name)) if called(node) != name:
                if name not in _METHODS:
                    return False
            case ast.Call():
                if called(node) not in _ELEMENTWISE:
                    return False
    return True


def _alike(cx: Context, pointers: list[Scalar]) -> bool:
    """Returns whether all lie alike in memory, so that one layout of the tile suits them."""
    if all(side_by_side(pointer) for pointer in pointers):
        return True
    return len({_index(cx, pointer) for pointer in pointers}) == 1


def _index(cx: Context, pointer: Scalar) -> str:
    """The text of a pointer without the buffer's name, where it is a parameter and an index."""
    first, _, rest = pointer.text.partition(" + ")
    return rest if first in cx.unchanged and any(p.name == first for p in cx.parameters) else pointer.text


def _bases(pointers: list[Scalar]) -> frozenset[str]:
    return frozenset(base for pointer in pointers for base in pointer.bases)
