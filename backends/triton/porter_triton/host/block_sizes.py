"""Finds the sizes that a block may have, from how a host function makes them.

Doubled from 1 on, they are powers of two; rounded up to whole warps, `(n + 31) / 32 * 32`, they are multiples of 32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import gcd

from porter.syntax.nodes import (
    Asm,
    Assign,
    Binary,
    Block,
    Braces,
    Call,
    Cast,
    Choice,
    Declare,
    Evaluate,
    Expression,
    Literal,
    Member,
    Name,
    Return,
    SizeOf,
    Statement,
    TypeName,
    Unary,
    Update,
    Variable,
)
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.host.assigned_names import assigned_names
from porter_triton.host.c_types import BUILT_IN, Arithmetic

Sizes = tuple[int, ...]
Extents = tuple[Sizes, Sizes, Sizes]
_MOST = 1024  # threads of a block
_WARP = 32
_EXTENTS = frozenset({"size", "numel", "dim", "stride"})  # methods of tensors that give integers
_UNKNOWN: Extents = ((), (), ())
_MOST_CALLS = 4


@dataclass(frozen=True, slots=True)
class _Multiple:
    """Whole numbers that are multiples `of` one, of 0: what the others are; `power`: and powers of two."""

    of: int
    power: bool = False

    def either(self, other: _Multiple) -> _Multiple:
        """Returns what the numbers of both have in common."""
        return _Multiple(gcd(self.of, other.of), self.power and other.power)

    @property
    def sizes(self) -> Sizes:
        """The sizes that a block may have, if enough is known: powers of two, or whole warps."""
        if self.power:
            return tuple(1 << k for k in range(_MOST.bit_length()) if 1 << k >= self.of)
        return tuple(range(self.of, _MOST + 1, self.of)) if self.of and self.of % _WARP == 0 else ()


_ANY = _Multiple(1)


@dataclass(frozen=True)
class BlockSizes:
    """The only sizes that blocks of the launches in one function may have. The function is walked once for all."""

    unit: Unit
    function: FunctionTree
    depth: int = 0

    @cached_property
    def _nodes(self) -> tuple[object, ...]:
        return tuple(walk(self.function.body))

    @cached_property
    def _places(self) -> dict[int, tuple[Block, int]]:
        """The innermost block that each node stands in, by its identity, and which of the block's statements has it."""
        blocks = (n for n in self._nodes if isinstance(n, Block))
        return {id(n): (b, i) for b in blocks for i, s in enumerate(b.statements) for n in walk(s)}

    @cached_property
    def _assigned(self) -> frozenset[str]:
        return assigned_names(self.unit, self.function.body)

    @cached_property
    def _changed_by_calls(self) -> frozenset[str]:
        """Names that are changed by anything but an assignment of its own."""
        changing = (n for n in self._nodes if isinstance(n, Update | Unary | Call | Asm))
        return frozenset().union(*(assigned_names(self.unit, n) for n in changing))

    def extents(self, node: Expression) -> Extents:
        """Returns the possible sizes of a block, a `dim3` or a number in its place; none for an unknown extent."""
        if isinstance(node, Braces) and node.type is not None and node.type.name == "dim3":
            return self._of_items(node, node.items)
        if isinstance(node, Call) and isinstance(node.callee, Name):
            if node.callee.name == "dim3":
                return self._of_items(node, node.arguments)
            return self._returned(node.callee.name)
        if isinstance(node, Name) and (declared := self._declared(node.name)):
            if any(v.type.name == "dim3" for v in declared):
                return self._of_variable(node.name, declared)
            return self._of_items(node, (node,))
        return _UNKNOWN

    def _of_variable(self, name: str, declared: list[Variable]) -> Extents:
        if name in self._assigned:
            return _UNKNOWN
        return _either([_UNKNOWN if v.value is None else self.extents(v.value) for v in declared])

    def _returned(self, name: str) -> Extents:
        """Returns what a host function of the source gives."""
        named = [f for f in self.unit.named(name) if f.head.space != "global"]
        if len(named) != 1 or named[0].returns.name != "dim3" or self.depth == _MOST_CALLS:
            return _UNKNOWN
        inner = BlockSizes(self.unit, named[0], self.depth + 1)
        values = [n.value for n in walk(named[0].body) if isinstance(n, Return)]
        return _either([_UNKNOWN if v is None else inner.extents(v) for v in values])

    def _of_items(self, whole: Expression, items: tuple[Expression, ...]) -> Extents:
        x, y, z = [self._sizes(whole, item) for item in items[:3]] + [(1,)] * (3 - len(items))
        return x, y, z

    def _sizes(self, whole: Expression, item: Expression) -> Sizes:
        if isinstance(item, Literal):
            return (int(item.value),) if isinstance(item.value, int) else ()
        return self._multiple(self._written_before(whole, item) if isinstance(item, Name) else item, frozenset()).sizes

    def _written_before(self, whole: Expression, name: Name) -> Expression:
        """Returns the last value assigned to a variable, right before the statement with `whole`; else itself."""
        block, at = self._places.get(id(whole), (Block(()), 0))
        for statement in reversed(block.statements[:at]):
            if name.name in assigned_names(self.unit, statement):
                value = _assigned(statement, name.name)
                return name if value is None else value
        return name

    def _multiple(self, node: Expression | None, seen: frozenset[str]) -> _Multiple:
        """Returns what all values of an expression have in common."""
        match node:
            case Literal(value=int() as value) if value > 0:
                return _Multiple(value, value & (value - 1) == 0)
            case Cast():
                return self._multiple(node.operand, seen)
            case Choice():
                return self._multiple(node.yes, seen).either(self._multiple(node.no, seen))
            case Call(callee=Name(name="max" | "std::max" | "min" | "std::min" as name), arguments=(left, right)):
                one, other = self._multiple(left, seen), self._multiple(right, seen)
                larger = name.endswith("max") and one.power and other.power
                return _Multiple(max(one.of, other.of), True) if larger else one.either(other)
            case Binary(operator="*") if self._is_whole(node):
                one, other = self._multiple(node.left, seen), self._multiple(node.right, seen)
                return _Multiple(one.of * other.of, one.power and other.power)
            case Binary(operator="+" | "-"):
                return replace(self._multiple(node.left, seen).either(self._multiple(node.right, seen)), power=False)
            case Binary(operator="<<", right=Literal(value=int() as places)):
                one = self._multiple(node.left, seen)
                return replace(one, of=one.of << places)
            case Binary(operator="&", right=Unary(operator="~", operand=Literal(value=int() as low))):
                return _Multiple(low + 1) if low & (low + 1) == 0 else _ANY
            case Name() if self._is_whole(node):
                return self._of_name(node.name, seen)
        return _ANY

    def _is_whole(self, node: Expression | None) -> bool:
        """Returns whether an expression is certainly of an integer type."""
        match node:
            case Literal(value=int()) | SizeOf():
                return True
            case Binary():
                return self._is_whole(node.left) and self._is_whole(node.right)
            case Cast(type=kind) if kind.name != "auto":
                return _is_integer(kind)
            case Choice():
                return self._is_whole(node.yes) and self._is_whole(node.no)
            case Call(callee=Name(name="max" | "std::max" | "min" | "std::min"), arguments=arguments):
                return all(map(self._is_whole, arguments))
            case Call(callee=Member(name=name)):
                return name in _EXTENTS
            case Call(callee=Name(name=name)):
                return bool(self.unit.named(name)) and all(_is_integer(f.returns) for f in self.unit.named(name))
            case Name(name=name):
                kinds = [p.type for p in self.function.parameters if p.name == name]
                declared = [] if kinds else self._declared(name) or self._constants(name)
                held = [_is_integer(v.type) or (v.type.name == "auto" and self._is_whole(v.value)) for v in declared]
                return all(map(_is_integer, kinds)) and all(held) and bool(kinds or held)
        return False

    def _constants(self, name: str) -> list[Variable]:
        return [v for v in self.unit.variables if v.name == name and (v.constexpr or v.type.const)]

    def _of_name(self, name: str, seen: frozenset[str]) -> _Multiple:
        """Returns what all values have in common that a variable is ever given."""
        if name in seen:
            return _Multiple(0, True)
        declared = self._declared(name) or self._constants(name)
        changes = (n for n in self._nodes if isinstance(n, Assign))
        assigned = [n for n in changes if isinstance(n.target, Name) and n.target.name == name]
        if name in self._changed_by_calls or any(n.operator not in {"", "*", "+", "-"} for n in assigned):
            return _ANY
        known = [self._multiple(v.value, seen | {name}) for v in declared if v.value is not None]
        for node in assigned:
            value = self._multiple(node.value, seen | {name})
            known.append(replace(value, power=value.power and node.operator not in {"+", "-"}))
        return reduce(_Multiple.either, known) if known and len(known) == len(declared) + len(assigned) else _ANY

    def _declared(self, name: str) -> list[Variable]:
        """Returns the declarations of a local number or `dim3`."""
        if any(p.name == name for p in self.function.parameters):
            return []
        declares = (n for n in self._nodes if isinstance(n, Declare))
        found = [v for d in declares for v in d.variables if v.name == name]
        plain = not any(v.extents or v.type.pointers or v.type.reference for v in found)
        return found if plain else []


def _is_integer(kind: TypeName) -> bool:
    type_ = BUILT_IN.get(kind.name)
    return isinstance(type_, Arithmetic) and not type_.is_float and not kind.pointers


def _either(many: list[Extents]) -> Extents:
    """Returns the sizes of one of several."""
    if not many:
        return _UNKNOWN
    x, y, z = (tuple(sorted(set().union(*axis))) if all(axis) else () for axis in zip(*many, strict=True))
    return x, y, z


def _assigned(statement: Statement, name: str) -> Expression | None:
    """Returns the value of `name = value`."""
    match statement:
        case Evaluate(expression=Assign(operator="", target=Name(name=target), value=value)) if target == name:
            return value
    return None
