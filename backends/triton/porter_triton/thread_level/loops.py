"""Prints loops: Triton's own where all threads of a block have the same iterations, else as long as one goes on.

Loop-carried values are variables of Python. In a loop that threads leave one by one, a thread that has left keeps its
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from porter.ir.simt.analyses.ranges import limits
from porter.ir.simt.ops import Block, Op, Value
from porter.ir.simt.types import Scalar
from porter_triton.thread_level import tiles
from porter_triton.thread_level.arithmetic import where
from porter_triton.thread_level.branches import declared, flat, handed
from porter_triton.thread_level.expressions import (
    Expression,
    Level,
    call,
    combined,
    infix,
    literal,
    settled,
    signed,
    to_type,
    variable,
)
from porter_triton.thread_level.printer import Mask, any_lane

if TYPE_CHECKING:
    from porter_triton.thread_level.printer import Held, Printer

_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def counted(p: Printer, op: Op) -> None:
    """Prints a `for`."""
    direction = _direction(p, op)
    if direction > 0 and not p.uniformity.diverges(op) and (found := tiles.tile_of(p, op)) is not None:
        tiles.together(p, op, *found, _limits(p, op))
        return
    _place(p, op)
    carried = _Carried.begun(p, op.regions[0].arguments[1:], op.operands[3:], op.results)
    if direction == 0:
        _compared(p, op, carried)
    elif p.uniformity.diverges(op):
        _ahead(p, op, carried, direction)
    else:
        _together(p, op, carried, direction)
    carried.end(p, op.results)


def _place(p: Printer, op: Op) -> None:
    """Says which loop of the source it is."""
    if op.location.line:
        p.line(f"# line {op.location}")


def _direction(p: Printer, op: Op) -> int:
    """Returns 1 where a loop counts up to its limit, -1 for down, 0 where that is not certain."""
    low, high = p.ranges.get(op.operands[2]) or limits(op.operands[2].type) or (0, 0)
    match op.attribute("compare"):
        case "lt" | "le" if low >= 0 or (op.operands[2] not in p.uniformity.varying and high > 0):
            return 1
        case "gt" | "ge" if high < 0:
            return -1
    return 0


def _together(p: Printer, op: Op, carried: _Carried, direction: int) -> None:
    """Prints a loop in which all threads count alike: `for i in range(...)`."""
    counter = op.regions[0].arguments[0]
    held, (start, stop, step) = _limits(p, op)
    if op.attribute("compare") in ("le", "ge"):
        stop = infix("+" if direction > 0 else "-", Level.SUM, stop, literal(1, held), held)
    if any(operand in p.uniformity.doubtful for operand in op.operands[:3]) and (some := p.some()) is not None:
        start = p.atom(start, "start")
        stop = combined(f"tl.where({some.text}, {stop.text}, {start.text})", held, some, start, stop)
    texts = [start.text, stop.text, step.text]
    if texts[2] == "1":
        texts = texts[1:2] if texts[0] == "0" else texts[:2]
    name = p.declare(counter.name or "i", held, varying=False)
    p.line(f"for {name} in range({', '.join(texts)}):", start, stop, step, opens=True)
    with p.indented():
        p.values[counter] = _as_counter(p, variable(name, held, loose=True), counter)
        carried.iterate(p, op.regions[0])


def _limits(p: Printer, op: Op) -> tuple[Scalar, list[Expression]]:
    """Returns the type in which a loop counts, and its three numbers in it: with a sign, wide enough for all."""
    type_ = op.operands[0].type
    assert isinstance(type_, Scalar)
    values = [p.value(operand) for operand in op.operands[:3]]
    wide = type_ is Scalar.U32 and not all(map(p.is_below_sign, op.operands[:3]))
    held = Scalar.I64 if wide else signed(type_) if type_.bits >= 32 else Scalar.I32
    if wide:
        values = [to_type(value, Scalar.U32) if value.number is None else value for value in values]
    return held, [value if value.loose and value.type is held else to_type(value, held) for value in values]


def _as_counter(p: Printer, value: Expression, counter: Value) -> Expression:
    """Returns the counter as the body uses it: one that counts in more bits has the type of those."""
    assert isinstance(counter.type, Scalar)
    if value.type is signed(counter.type):
        return value
    return p.named(to_type(value, counter.type), counter.name or "i")


def _ahead(p: Printer, op: Op, carried: _Carried, direction: int) -> None:
    """Prints a loop in which each thread counts for itself: as often as the one with most to do, found before."""
    counter = op.regions[0].arguments[0]
    held, (start, stop, step) = _limits(p, op)
    start = p.atom(start, "start")
    step = p.atom(step, "step")
    if p.ranges.get(op.operands[0], (-1, 0))[0] < 0 and held is Scalar.I32:
        wide = [to_type(value, Scalar.I64) for value in (start, stop, step)]
    else:
        wide = [start, stop, step]
    if direction < 0:
        wide[2] = combined(f"-{wide[2].within(Level.SIGN)}", wide[2].type, wide[2], level=Level.SIGN)
    ends = (wide[1], wide[0]) if direction > 0 else (wide[0], wide[1])
    way = infix("-", Level.SUM, *ends, wide[0].type)
    if op.attribute("compare") in ("le", "ge"):
        way = infix("+", Level.SUM, way, literal(1, Scalar.I32), way.type)
    count = p.named(p.spread(call("tl.cdiv", way.type, way, wide[2])), "count")
    if p.mask.lanes is not None:
        count = p.assign(count.text, where(p.mask.lanes, count, literal(0, Scalar.I32), count.type))
    p.lanes_meet()
    most = p.named(replace(combined(f"tl.max({count.text}, axis=0)", count.type, count), varying=False), "most")
    name = p.declare("turn", most.type, varying=False)
    p.line(f"for {name} in range({most.text}):", most, opens=True)
    with p.indented():
        turn = variable(name, most.type, loose=True)
        going = p.narrowed(infix("<", Level.COMPARISON, turn, count, Scalar.BOOL))
        step_on = infix("*", Level.PRODUCT, turn, step, held)
        moved = infix("+", Level.SUM, start, step_on, held)
        current = p.named(to_type(moved, held) if most.type is not held else moved, counter.name or "i")
        p.values[counter] = _as_counter(p, current, counter)
        with p.under(going):
            carried.iterate(p, op.regions[0], going)


def _compared(p: Printer, op: Op, carried: _Carried) -> None:
    """Prints a loop whose counter may go anywhere: as long as the comparison holds."""
    counter = op.regions[0].arguments[0]
    assert isinstance(counter.type, Scalar)
    upper, step = (p.atom(p.typed(p.value(operand), counter.type), "limit") for operand in op.operands[1:3])
    own = _Carried.begun(p, (counter,), op.operands[:1], ())
    p.values[counter] = own.variables[0]
    (current,) = flat(own.variables[0])

    def goes_on() -> Expression:
        return infix(_COMPARED[str(op.attribute("compare"))], Level.COMPARISON, current, upper, Scalar.BOOL)

    def iterate(mask: Mask | None) -> None:
        carried.iterate(p, op.regions[0], mask)
        assert isinstance(counter.type, Scalar)
        own.hand(p, [infix("+", Level.SUM, current, step, counter.type)], mask)

    going = _Going(p, diverges=p.uniformity.diverges(op))
    going.begin(goes_on())
    with going.suite():
        iterate(going.mask)
        going.again(goes_on())


def repeated(p: Printer, op: Op) -> None:
    """Prints a `while`: its condition is computed before it and at the end of each iteration."""
    head, body = op.regions
    diverges = p.uniformity.diverges(op)
    _place(p, op)
    carried = _Carried.begun(p, head.arguments, op.operands, op.results)
    before = len(p.lines)
    condition, seen = _headed(p, head, carried)
    handed_on = [value is variable for value, variable in zip(seen, carried.variables, strict=True)]
    if len(p.lines) == before and all(handed_on) and not diverges:
        going = p.some() if p.mask.lanes is not None else None
        text = condition.text if going is None else f"{going.text} & {condition.within(Level.SHIFT)}"
        p.line(f"while {text}:", condition, *([] if going is None else [going]), opens=True)
        with p.indented():
            carried.enter(p, body.arguments)
            carried.hand(p, p.block(body), None)
        carried.end(p, op.results)
        return
    _tested(p, op, carried, condition, seen)


def _headed(p: Printer, head: Block, carried: _Carried) -> tuple[Expression, list[Held]]:
    carried.enter(p, head.arguments)
    condition, *seen = p.block(head)
    assert isinstance(condition, Expression)
    return condition, seen


def _tested(p: Printer, op: Op, carried: _Carried, condition: Expression, seen: Sequence[Held]) -> None:
    head, body = op.regions
    diverges = p.uniformity.diverges(op)
    _place(p, op)
    shown = _Carried.of(p, body.arguments, op.results, seen, carried)
    going = _Going(p, diverges=diverges)
    going.begin(condition)
    with going.suite():
        shown.enter(p, body.arguments)
        carried.hand(p, p.block(body), going.mask)
        condition, seen = _headed(p, head, carried)
        shown.show(p, seen, carried, going.mask)
        going.again(condition)
    shown.end(p, op.results)


@dataclass
class _Going:
    """The variable that says whether a loop goes on; where threads leave one by one, which of them do."""

    p: Printer
    diverges: bool
    name: str = ""
    mask: Mask | None = None

    def begin(self, condition: Expression) -> None:
        """Writes the variable before the loop, and the head of the loop."""
        p = self.p
        self.name = p.declare("going", Scalar.BOOL, varying=self.diverges)
        lanes = variable(self.name, Scalar.BOOL, varying=self.diverges)
        if self.diverges:
            condition = p.spread(settled(condition))
            if p.mask.lanes is not None:
                condition = infix("&", Level.AND, p.mask.lanes, condition, Scalar.BOOL)
            self.mask = Mask(lanes, is_certain=True, has_first=False)
        elif (some := p.some()) is not None:
            condition = infix("&", Level.AND, some, settled(condition), Scalar.BOOL)
        p.assign(self.name, condition if self.diverges else settled(condition))
        goes = any_lane(p, lanes) if self.diverges else lanes
        p.line(f"while {goes.text}:", goes, opens=True)

    def again(self, condition: Expression) -> None:
        """Writes the variable at the end of an iteration."""
        lanes = variable(self.name, Scalar.BOOL, varying=self.diverges)
        if self.diverges:
            condition = infix("&", Level.AND, lanes, self.p.spread(settled(condition)), Scalar.BOOL)
        self.p.assign(self.name, condition if self.diverges else settled(condition))

    def suite(self) -> _Suite:
        """Returns the body of the loop, for the threads that go on."""
        return _Suite(self.p, self.mask or self.p.mask)


@dataclass
class _Suite:
    p: Printer
    mask: Mask

    def __enter__(self) -> None:
        self._contexts = (self.p.indented(), self.p.under(self.mask))
        for context in self._contexts:
            context.__enter__()

    def __exit__(self, *error: object) -> None:
        for context in reversed(self._contexts):
            context.__exit__(None, None, None)


@dataclass
class _Carried:
    """The variables for what a loop carries."""

    variables: list[Held]

    @classmethod
    def begun(
        cls, p: Printer, arguments: Sequence[Value], begin: Sequence[Value], results: Sequence[Value]
    ) -> _Carried:
        """Returns the variables of a loop, with their initial values."""
        found: list[Held] = []
        for number, (argument, first) in enumerate(zip(arguments, begin, strict=True)):
            result = results[number] if results else argument
            shape = result if result in p.uniformity.varying else argument
            held = declared(p, shape, argument.name or result.name or "value")
            for target, part in zip(flat(held), flat(p.values[first]), strict=True):
                p.assign(target.text, handed(p, target, part))
            found.append(held)
        return cls(found)

    @classmethod
    def of(
        cls, p: Printer, arguments: Sequence[Value], results: Sequence[Value], seen: Sequence[Held], carried: _Carried
    ) -> _Carried:
        """Returns the variables that a body takes from the head before it: those that are carried, or others."""
        found: list[Held] = []
        for argument, result, value, held in zip(arguments, results, seen, carried.variables, strict=True):
            if value is held:
                found.append(held)
                continue
            shape = result if result in p.uniformity.varying else argument
            shown = declared(p, shape, argument.name or result.name or "value")
            for target, part in zip(flat(shown), flat(value), strict=True):
                p.assign(target.text, handed(p, target, part))
            found.append(shown)
        return cls(found)

    def enter(self, p: Printer, arguments: Sequence[Value]) -> None:
        """Makes the variables the arguments of a region."""
        p.values.update(zip(arguments, self.variables, strict=True))

    def iterate(self, p: Printer, region: Block, mask: Mask | None = None) -> None:
        """Prints an iteration of a counted loop."""
        self.enter(p, region.arguments[1:])
        self.hand(p, p.block(region), mask)

    def hand(self, p: Printer, values: Sequence[Held], mask: Mask | None) -> None:
        """Writes the values for the next iteration: all at once, where one is made from another one's old value."""
        pairs = [
            (target, value)
            for own, held in zip(self.variables, values, strict=True)
            for target, value in zip(flat(own), flat(held), strict=True)
            if target is not value
        ]
        texts = [(target.text, _kept(p, target, value, mask)) for target, value in pairs]
        changed: set[str] = set()
        is_apart = True
        for name, value in texts:
            is_apart = is_apart and not value.reads & changed
            changed.add(name)
        if is_apart:
            for name, value in texts:
                p.assign(name, value)
        elif texts:
            given = [value for _, value in texts]
            p.assign_all([name for name, _ in texts], ", ".join(value.text for value in given), *given)

    def show(self, p: Printer, values: Sequence[Held], carried: _Carried, mask: Mask | None) -> None:
        """Writes the results of a loop's head at the end of an iteration, in variables of their own."""
        own = [n for n, v in enumerate(self.variables) if v is not carried.variables[n]]
        _Carried([self.variables[n] for n in own]).hand(p, [values[n] for n in own], mask)

    def end(self, p: Printer, results: Sequence[Value]) -> None:
        """Makes the variables the results of the loop."""
        p.values.update(zip(results, self.variables, strict=True))


def _kept(p: Printer, target: Expression, value: Expression, mask: Mask | None) -> Expression:
    """Returns a variable after an iteration: the old value in threads that have left the loop."""
    value = handed(p, target, value)
    if mask is None or mask.lanes is None or not target.varying:
        return value
    return where(mask.lanes, value, target, target.type)
