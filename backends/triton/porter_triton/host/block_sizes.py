"""Which sizes a block may have, told from how a host function makes them: doubled from 1 on, they are powers of two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
    Name,
    Return,
    Statement,
    Unary,
    Update,
    Variable,
)
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.lower.assigned import assigned_names

Sizes = tuple[int, ...]
Extents = tuple[Sizes, Sizes, Sizes]
_MOST = 1024  # threads of a block
_ANY = 1 << 40  # a power of two that says nothing of how small the others may be
_UNKNOWN: Extents = ((), (), ())
_MOST_CALLS = 4


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
        """The possible sizes of a block, a `dim3` or a number in its place; none of an extent that is not known."""
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
        """What a host function of the source gives."""
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
        item = self._written_before(whole, item) if isinstance(item, Name) else item
        least = self.least(item, frozenset())
        powers = (1 << k for k in range(_MOST.bit_length()))
        return () if least is None else tuple(size for size in powers if size >= least)

    def _written_before(self, whole: Expression, name: Name) -> Expression:
        """What a variable was assigned last, right before the statement in which `whole` stands; else itself."""
        block, at = self._places.get(id(whole), (Block(()), 0))
        for statement in reversed(block.statements[:at]):
            if name.name in assigned_names(self.unit, statement):
                value = _assigned(statement, name.name)
                return name if value is None else value
        return name

    def least(self, node: Expression | None, seen: frozenset[str]) -> int | None:
        """The smallest value of an expression that is always a power of two; None for any other."""
        match node:
            case Literal(value=int() as value):
                return value if value > 0 and value & (value - 1) == 0 else None
            case Cast():
                return self.least(node.operand, seen)
            case Choice():
                return self._of_two(node.yes, node.no, seen, "min")
            case Call(callee=Name(name="max" | "std::max" | "min" | "std::min" as name), arguments=(left, right)):
                return self._of_two(left, right, seen, name.removeprefix("std::"))
            case Binary(operator="*"):
                return self._of_two(node.left, node.right, seen, "*")
            case Name():
                return self._of_name(node.name, seen)
        return None

    def _of_two(self, left: Expression, right: Expression, seen: frozenset[str], how: str) -> int | None:
        a, b = self.least(left, seen), self.least(right, seen)
        if a is None or b is None:
            return None
        return {"max": max(a, b), "min": min(a, b), "*": a * b}[how]

    def _of_name(self, name: str, seen: frozenset[str]) -> int | None:
        """What all values have in common that a variable is ever given."""
        if name in seen:
            return _ANY
        declared = self._declared(name) or [
            v for v in self.unit.variables if v.name == name and (v.constexpr or v.type.const)
        ]
        changes = (n for n in self._nodes if isinstance(n, Assign))
        assigned = [n for n in changes if isinstance(n.target, Name) and n.target.name == name]
        if name in self._changed_by_calls or any(n.operator not in {"", "*"} for n in assigned):
            return None
        given = [*(v.value for v in declared), *(n.value for n in assigned)]
        known = [self.least(value, seen | {name}) for value in given]
        found = [value for value in known if value is not None]
        return min(found) if found and len(found) == len(known) else None

    def _declared(self, name: str) -> list[Variable]:
        """The declarations of a local number or `dim3`."""
        if any(p.name == name for p in self.function.parameters):
            return []
        declares = (n for n in self._nodes if isinstance(n, Declare))
        found = [v for d in declares for v in d.variables if v.name == name]
        plain = not any(v.extents or v.type.pointers or v.type.reference for v in found)
        return found if plain else []


def _either(many: list[Extents]) -> Extents:
    """The sizes of one of several."""
    if not many:
        return _UNKNOWN
    x, y, z = (tuple(sorted(set().union(*axis))) if all(axis) else () for axis in zip(*many, strict=True))
    return x, y, z


def _assigned(statement: Statement, name: str) -> Expression | None:
    """The value of `name = value`."""
    match statement:
        case Evaluate(expression=Assign(operator="", target=Name(name=target), value=value)) if target == name:
            return value
    return None
