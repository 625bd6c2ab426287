"""Assignments, and values that depend on which way control went."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porter.ir.simt.builder import access, arithmetic, calls, expressions, functions
from porter.ir.simt.builder.c_types import INT, Record, lives_in_memory
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import Elements, Fields, Memory, Nothing, Number, OneOf, RValue, Slot
from porter.ir.simt.ops import Block, Op, Value
from porter.ir.simt.types import Pointer
from porter.syntax.nodes import Assign, Braces, Update


def assign(b: Builder, node: Assign) -> RValue:
    """`x = y` and `x += y`; the value is that of the target afterwards."""
    if node.operator:
        target = expressions.place(b, node.target)
        before = access.load(b, target)
        if isinstance(before, Fields):
            found = calls.compound(b, target, before, node)
            if found is not None:
                return found
        access.store(b, target, expressions.operate(b, node.operator, before, expressions.value(b, node.value)))
        return access.load(b, target) if isinstance(target, Slot) else Nothing()
    target = expressions.place(b, node.target)
    type_ = access.place_type(target)
    if isinstance(target, Memory) and isinstance(type_, Record) and (type_.union or lives_in_memory(type_)):
        source = expressions.place(b, node.value)
        if not isinstance(source, Memory):
            access.store(b, target, calls.converted(b, access.load(b, source), type_, node.line))
            return Nothing()
        access.copy(b, target, source)
        return Nothing()
    if isinstance(node.value, Braces) and node.value.type is None and type_ is not None:
        new = calls.construct(b, type_, node.value.items, node.line)
    else:
        new = expressions.value(b, node.value)
    if isinstance(type_, Record) and not (isinstance(new, Fields) and new.type.name == type_.name):
        new = calls.converted(b, new, type_, node.line)
    access.store(b, target, new)
    if isinstance(target, Slot):
        return access.load(b, target)
    return arithmetic.convert(b, new, type_) if isinstance(new, Number) and type_ is not None else new


def update(b: Builder, node: Update) -> RValue:
    """`++x`, `x++` and their like."""
    target = expressions.place(b, node.operand)
    before = access.load(b, target)
    if isinstance(before, Fields) and (moved := calls.moved_on(b, target, before, node)) is not None:
        return moved
    if not isinstance(before, Number):
        raise b.problem(f"'{node.operator}' of what is not a number", node.line)
    one = Number(b.emitter.constant(1, INT), INT)
    after = arithmetic.binary(b, node.operator[0], before, one)
    access.store(b, target, after)
    return access.load(b, target) if node.prefix and isinstance(target, Slot) else after if node.prefix else before


Branch = Callable[[], RValue]


def chosen(b: Builder, decision: Number, yes: Branch, no: Branch) -> RValue:
    """Returns the value of one of two branches, of which each thread takes one; with what they leave in variables."""
    sides: list[tuple[list[Op], RValue, dict[Slot, Value | None]]] = []
    before = dict(b.held)
    for branch in (yes, no):
        b.held = dict(before)
        with b.emitter.block() as ops:
            found = _settled(b, branch())
        sides.append((ops, found, b.held))
    b.held = before
    return _joined(b, decision, sides)


def _settled(b: Builder, found: RValue) -> RValue:
    """Returns a value as it may be yielded: an array's as its address."""
    if isinstance(found, Number):
        return Number(arithmetic.as_pointer(b, found.value), found.type)
    return found


def _joined(b: Builder, decision: Number, sides: Sequence[tuple[list[Op], RValue, dict[Slot, Value | None]]]) -> RValue:
    """An `if` of two sides with what they are worth, and what they leave in variables."""
    (ops, yes, held), (other_ops, no, other_held) = sides
    outer = b.held
    changed = [s for s in outer if held.get(s) is not outer[s] or other_held.get(s) is not outer[s]]
    changed = [s for s in changed if held.get(s) is not other_held.get(s)]
    for slot in outer:
        if slot not in changed:
            outer[slot] = held.get(slot)
    leaves, rebuild = _flattened(b, yes, no)
    yields: list[tuple[Value, Value]] = []
    for one, two in leaves:
        yields.append(_unified(b, ops, other_ops, one, two))
    for slot in changed:
        yields.append(_values(b, slot, (ops, held.get(slot)), (other_ops, other_held.get(slot))))
    slots = [""] * len(leaves) + [slot.name for slot in changed]
    results = [Value(one.type, name) for (one, _), name in zip(yields, slots, strict=True)]
    for side, number in ((ops, 0), (other_ops, 1)):
        side.append(Op("yield", tuple(pair[number] for pair in yields), location=b.emitter.location))
    b.emitter.control("if", (decision.value,), results, (Block((), tuple(ops)), Block((), tuple(other_ops))))
    for slot, result in zip(changed, results[len(leaves) :], strict=True):
        outer[slot] = result
    return rebuild(results[: len(leaves)])


def _flattened(
    b: Builder, yes: RValue, no: RValue
) -> tuple[list[tuple[Number, Number]], Callable[[Sequence[Value]], RValue]]:
    """Returns the numbers of two values in pairs, and how a value is made of results again."""
    if isinstance(yes, Number) and isinstance(no, Number):
        type_ = expressions.common_type(yes.type, no.type)
        return [(yes, no)], lambda results: Number(results[0], type_)
    if isinstance(yes, Fields) and isinstance(no, Fields) and yes.type.name == no.type.name:
        inner = [_flattened(b, a, c) for (_, a), (_, c) in zip(yes.parts, no.parts, strict=True)]
        names, type_of_struct = [name for name, _ in yes.parts], yes.type
        return _together(inner, lambda parts: Fields(type_of_struct, tuple(zip(names, parts, strict=True))))
    if isinstance(yes, Elements) and isinstance(no, Elements) and yes.type == no.type:
        of, type_of_array = [_flattened(b, a, c) for a, c in zip(yes.parts, no.parts, strict=True)], yes.type
        return _together(of, lambda parts: Elements(type_of_array, tuple(parts)))
    one, other = functions.several(b, yes), functions.several(b, no)
    if one is not None and other is not None:
        first, behind = (Number(b.emitter.constant(n, INT), INT) for n in (0, len(one.functions)))
        named = one.functions + other.functions
        return [(first, behind), (one.index, other.index)], lambda found: OneOf(_sum(b, found), named)
    return [], lambda _: Nothing()


def _sum(b: Builder, found: Sequence[Value]) -> Number:
    return arithmetic.binary(b, "+", Number(found[0], INT), Number(found[1], INT))


def _together(
    inner: Sequence[tuple[list[tuple[Number, Number]], Callable[[Sequence[Value]], RValue]]],
    whole: Callable[[list[RValue]], RValue],
) -> tuple[list[tuple[Number, Number]], Callable[[Sequence[Value]], RValue]]:
    """Returns the pairs of all parts, and how the whole is made of their results again."""

    def rebuild(results: Sequence[Value]) -> RValue:
        at, parts = 0, []
        for pairs, made in inner:
            parts.append(made(results[at : at + len(pairs)]))
            at += len(pairs)
        return whole(parts)

    return [pair for pairs, _ in inner for pair in pairs], rebuild


def _unified(b: Builder, ops: list[Op], other_ops: list[Op], yes: Number, no: Number) -> tuple[Value, Value]:
    """Converts both sides of a choice, each within its own block, to their common type."""
    type_ = expressions.common_type(yes.type, no.type)
    made = []
    for side, number in ((ops, yes), (other_ops, no)):
        with b.emitter.block() as more:
            made.append(arithmetic.convert(b, number, type_).value)
        side.extend(more)
    if made[0].type != made[1].type:
        raise b.problem("a choice between pointers into different memory")
    return made[0], made[1]


def _values(
    b: Builder, slot: Slot, yes: tuple[list[Op], Value | None], no: tuple[list[Op], Value | None]
) -> tuple[Value, Value]:
    """Returns what a variable holds behind each of two sides; one that has no value there holds anything."""
    found = []
    wanted = next(v.type for _, v in (yes, no) if v is not None)
    for ops, value in (yes, no):
        held = value
        with b.emitter.block() as more:
            if held is None:
                held = b.emitter.emit("undefined", (), wanted)
            elif b.emitter.known(held) == 0 and isinstance(wanted, Pointer):
                held = b.emitter.constant(0, wanted)
            else:
                held = arithmetic.as_pointer(b, held)
        ops.extend(more)
        found.append(held)
    if found[0].type != found[1].type:
        raise b.problem(f"'{slot.name}' points into one memory or another")
    return found[0], found[1]
