"""Loops: counted ones are `for`, all others `while`, with every variable that they change carried along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from porter.ir.simt.builder import access, arithmetic, expressions, statements
from porter.ir.simt.builder.mutability import assigned_names
from porter.ir.simt.builder.state import Builder, Target
from porter.ir.simt.builder.values import Held, Number, Slot
from porter.ir.simt.interpret import integers
from porter.ir.simt.ops import Attribute, Block, Op, Value
from porter.ir.simt.types import Scalar, Type
from porter.syntax.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Declare,
    Expression,
    For,
    Literal,
    Member,
    Name,
    SizeOf,
    Statement,
    Unary,
    Update,
    Variable,
    While,
)
from porter.syntax.walk import walk

_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "!=": "ne"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Counted:
    """`for (T name = begin; name compare end; name += step)`, where the body changes neither.

    `leaves` are the ways in which the body may leave it: then it is counted where it has few iterations, all known, of
    which those behind do nothing.
    """

    variable: Variable
    compare: str
    end: Expression
    step: Expression
    negative: bool
    leaves: frozenset[str]


def for_loop(b: Builder, node: For) -> None:
    """A `for`."""
    before = frozenset(b.held)
    with b.scope():
        counted = _counted(b, node)
        if counted is None or not _count(b, node, counted):
            for begin in node.start:
                statements.run(b, (begin,))
            condition = node.condition
            _general(b, condition, node.body, node.step, first=False)
    for slot in [slot for slot in b.held if slot not in before]:
        del b.held[slot]


def while_loop(b: Builder, node: While) -> None:
    """A `while`, or a `do`."""
    _general(b, node.condition, node.body, None, first=node.first)


def _counted(b: Builder, node: For) -> Counted | None:
    """Returns how a loop counts; None for one that does not, or whose limits its body may change."""
    if len(node.start) != 1 or not isinstance(node.start[0], Declare) or len(node.start[0].variables) != 1:
        return None
    variable = node.start[0].variables[0]
    told = _compared(node.condition, variable.name)
    step = _step(node.step, variable.name)
    if told is None or step is None or variable.value is None or variable.extents:
        return None
    if variable.type.pointers:
        return None
    compare, end = told
    changed = assigned_names(b.unit, node.body)
    if variable.name in changed or variable.name in _addressed(b):
        return None
    if not (_is_fixed(end, changed | {variable.name}) and _is_fixed(step[0], changed | {variable.name})):
        return None
    return Counted(variable, compare, end, *step, statements.leaves(node.body) & {"break", "return"})


def _addressed(b: Builder) -> frozenset[str]:
    return b.addressed[-1]


def _compared(condition: Expression | None, name: str) -> tuple[str, Expression] | None:
    match condition:
        case Binary(operator, Name(name=own), end) if own == name and operator in _COMPARISONS:
            return operator, end
        case Binary(operator, end, Name(name=own)) if own == name and operator in _COMPARISONS:
            return _TURNED[operator], end
        case Name(name=own) if own == name:
            return "!=", Literal(0, "int")
    return None


def _step(step: Expression | None, name: str) -> tuple[Expression, bool] | None:
    match step:
        case Update(operator, Name(name=own)) if own == name:
            return Literal(1, "int"), operator == "--"
        case Assign("+" | "-" as operator, Name(name=own), by) if own == name:
            return by, operator == "-"
        case Assign("", Name(name=own), Binary("+", Name(name=left), by)) if own == left == name:
            return by, False
    return None


def _is_fixed(node: Expression, changed: frozenset[str]) -> bool:
    """Returns whether an expression is the same in each iteration: arithmetic of names that do not change."""
    for part in walk(node):
        if isinstance(part, Name):
            if part.name in changed:
                return False
        elif isinstance(part, Call):
            name = part.callee.name if isinstance(part.callee, Name) else ""
            if name.rpartition("::")[2] not in ("min", "max"):
                return False
        elif (isinstance(part, Unary) and part.operator in ("*", "&")) or (
            not isinstance(part, Literal | Binary | Unary | Cast | Member | SizeOf) and isinstance(part, Expression)
        ):
            return False
    return True


def _count(b: Builder, node: For, counted: Counted) -> bool:
    """Builds a loop that counts; False where its numbers are not of one type, and nothing is built."""
    variable = counted.variable
    type_ = _counter_type(b, variable)
    if type_ is None:
        return False
    with b.discarded():
        end_type = expressions.number(b, counted.end).type
    if not isinstance(end_type, Scalar) or end_type.is_float:
        return False
    wide = arithmetic.common(type_, end_type)
    if wide is not type_ and not (wide.bits >= type_.bits and type_.is_signed == wide.is_signed):
        return False
    if wide is not type_:
        return False  # the comparison is in another type than the counter, which wraps around in its own
    assert variable.value is not None
    begin = arithmetic.convert(b, expressions.number(b, variable.value), type_)
    end = arithmetic.convert(b, expressions.number(b, counted.end), type_)
    step = arithmetic.convert(b, expressions.number(b, counted.step), type_)
    if counted.negative:
        step = arithmetic.unary(b, "-", step)
    compare = _COMPARISONS[counted.compare]
    if counted.leaves and not _has_few(b, compare, (begin.value, end.value, step.value)):
        return False
    counter = Value(type_, variable.name)
    known = {"compare": compare}
    unroll: dict[str, Attribute] = {} if node.unroll is None else {"unroll": node.unroll}

    left = Slot("left", Scalar.BOOL)

    def body() -> None:
        with b.scope():
            b.bind(variable.name, Held(Number(counter, type_)))
            flags = statements.flags_of(b, counted.leaves)
            if flags:
                statements.guarded(b, flags, lambda: _iteration(b, node.body.statements))
            else:
                _iteration(b, node.body.statements)

    b.held[left] = b.emitter.constant(False, Scalar.BOOL)
    b.targets.append(Target(frozenset({"break"}), left))
    _carrying(b, (begin.value, end.value, step.value), counter, body, {**known, **unroll})
    b.targets.pop()
    del b.held[left]
    return True


def _has_few(b: Builder, compare: str, limits: tuple[Value, Value, Value]) -> bool:
    """Returns whether a loop has few iterations, all of them known."""
    place, end, step = (b.emitter.known(limit) for limit in limits)
    if not isinstance(place, int) or not isinstance(end, int) or not isinstance(step, int):
        return False
    for _ in range(_MOST_LEFT):
        if not bool(integers.apply(compare, Scalar.BOOL, np.array(place), np.array(end))):
            return True
        place += step
    return False


_MOST_LEFT = 8  # iterations of a loop that is run to its end although its body may leave it


def _counter_type(b: Builder, variable: Variable) -> Scalar | None:
    if variable.type.name == "auto":
        assert variable.value is not None
        found = expressions.type_of_expression(b, variable.value)
    else:
        from porter.ir.simt.builder import resolve  # noqa: PLC0415 - which reads expressions

        found = resolve.type_of(b, variable.type, variable.line)
    return found if isinstance(found, Scalar) and found.is_integer and found.bits >= 32 else None


def _iteration(b: Builder, body: tuple[Statement, ...]) -> None:
    """One iteration, which `continue` ends."""
    flag = Slot("continued", Scalar.BOOL)
    b.held[flag] = b.emitter.constant(False, Scalar.BOOL)
    b.targets.append(Target(frozenset({"continue"}), flag))
    before = frozenset(b.held)
    with b.scope():
        statements.run(b, body)
    b.targets.pop()
    for slot in [slot for slot in b.held if slot not in before or slot is flag]:
        del b.held[slot]


def _carrying(
    b: Builder, limits: tuple[Value, ...], counter: Value, body: Callable[[], None], attributes: dict[str, Attribute]
) -> None:
    """A `for` that carries every variable; those that its body leaves alone are what they were."""
    slots = _carried(b)
    before = {slot: b.held[slot] for slot in slots}
    arguments = {slot: Value(_type(before, slot), slot.name) for slot in slots}
    b.held.update(arguments)
    with b.emitter.block() as ops:
        body()
        ended = {slot: _final(b, slot, arguments[slot]) for slot in slots}
    changed = _changed(b, arguments, before, ended)
    ops.append(Op("yield", tuple(ended[slot] for slot in changed), location=b.emitter.location))
    region = Block((counter, *(arguments[slot] for slot in changed)), tuple(ops))
    results = {slot: Value(arguments[slot].type, slot.name) for slot in changed}
    begin = tuple(_known(before, slot) for slot in changed)
    b.emitter.control("for", (*limits, *begin), tuple(results.values()), (region,), **attributes)
    b.held.update(before)
    b.held.update(results)


def _carried(b: Builder) -> list[Slot]:
    """The variables that a loop carries: all; one that holds nothing yet gets a value that nobody may rely on."""
    for slot, value in b.held.items():
        if value is None:
            b.held[slot] = access.undefined(b, slot.type)
        else:
            b.held[slot] = arithmetic.as_pointer(b, value)
    return list(b.held)


def _type(before: dict[Slot, Value | None], slot: Slot) -> Type:
    return _known(before, slot).type


def _known(before: dict[Slot, Value | None], slot: Slot) -> Value:
    value = before[slot]
    assert value is not None
    return value


def _final(b: Builder, slot: Slot, argument: Value) -> Value:
    """Returns what a variable holds at an iteration's end."""
    value = b.held.get(slot)
    assert value is not None
    value = arithmetic.as_pointer(b, b.resolved(value))
    if value.type != argument.type:
        raise b.problem(f"'{slot.name}' points into one memory or another")
    return value


def _changed(
    b: Builder, arguments: dict[Slot, Value], before: dict[Slot, Value | None], ended: dict[Slot, Value]
) -> list[Slot]:
    """The variables that a loop changes. The others are what they were before: their arguments are replaced."""
    changed = [slot for slot, argument in arguments.items() if ended[slot] is not argument]
    for slot, argument in arguments.items():
        if slot not in changed:
            b.replaced[argument] = _known(before, slot)
    return changed


def _general(b: Builder, condition: Expression | None, body: object, step: Expression | None, *, first: bool) -> None:
    """A `while`; where the body comes `first`, it is the region that decides."""
    assert hasattr(body, "statements")
    broke = Slot("broke", Scalar.BOOL)
    b.held[broke] = b.emitter.constant(False, Scalar.BOOL)
    exits = statements.leaves(body)  # type: ignore[arg-type]
    b.targets.append(Target(frozenset({"break"}), broke))
    flags = [broke] if "break" in exits else []
    flags += statements.flags_of(b, frozenset({"return"})) if "return" in exits else []
    slots = _carried(b)
    before = {slot: b.held[slot] for slot in slots}
    head = {slot: Value(_type(before, slot), slot.name) for slot in slots}
    b.held.update(head)
    with b.emitter.block() as ops:
        if first:
            _iteration(b, body.statements)
        going_on = _going_on(b, condition, flags)
        middle = {slot: _final(b, slot, head[slot]) for slot in slots}
    tail = {slot: Value(head[slot].type, slot.name) for slot in slots}
    b.held.update(tail)
    with b.emitter.block() as more:
        if not first:
            _iteration(b, body.statements)
        if step is not None:
            _stepped(b, step, flags)
        ended = {slot: _final(b, slot, tail[slot]) for slot in slots}
    b.targets.pop()
    changed = [s for s in slots if b.resolved(middle[s]) is not head[s] or b.resolved(ended[s]) is not tail[s]]
    for slot in slots:
        if slot not in changed:
            b.replaced[head[slot]] = b.replaced[tail[slot]] = _known(before, slot)
    place = b.emitter.location
    ops.append(Op("yield", (going_on, *(middle[slot] for slot in changed)), location=place))
    more.append(Op("yield", tuple(ended[slot] for slot in changed), location=place))
    results = {slot: Value(head[slot].type, slot.name) for slot in changed}
    regions = (
        Block(tuple(head[slot] for slot in changed), tuple(ops)),
        Block(tuple(tail[slot] for slot in changed), tuple(more)),
    )
    b.emitter.control("while", tuple(_known(before, s) for s in changed), tuple(results.values()), regions)
    b.held.update(before)
    b.held.update(results)
    b.held.pop(broke, None)


def _going_on(b: Builder, condition: Expression | None, flags: list[Slot]) -> Value:
    """Returns whether a loop goes on: no thread that has left evaluates the condition."""
    truth = b.emitter.constant(True, Scalar.BOOL)
    if not flags:
        return truth if condition is None else expressions.condition(b, condition).value
    stays = arithmetic.negated(b, statements.any_of(b, flags))
    if condition is None:
        return stays.value
    if expressions.is_harmless(condition):
        told = expressions.condition(b, condition)
        return b.emitter.emit("and", (stays.value, told.value), Scalar.BOOL)
    from porter.ir.simt.builder import assignments  # noqa: PLC0415 - which reads expressions

    decided = Number(b.emitter.constant(False, Scalar.BOOL), Scalar.BOOL)
    found = assignments.chosen(b, stays, lambda: expressions.condition(b, condition), lambda: decided)
    assert isinstance(found, Number)
    return found.value


def _stepped(b: Builder, step: Expression, flags: list[Slot]) -> None:
    """The step of a `for`, for threads that have not left."""

    def stepped() -> None:
        expressions.value(b, step)

    if flags:
        statements.guarded(b, flags, stepped)
    else:
        stepped()
