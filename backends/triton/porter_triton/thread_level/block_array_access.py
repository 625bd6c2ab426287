"""Prints loads and stores of arrays of a block that are values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from porter.contract.analysis.records import symbol
from porter.ir.simt.ops import Op
from porter.ir.simt.types import Scalar
from porter_triton.kernel_records import LoweredParameter, ParameterKind
from porter_triton.thread_level.affine import UNBOUNDED, Digit
from porter_triton.thread_level.arithmetic import where
from porter_triton.thread_level.block_arrays import BlockArray, Place, Writers
from porter_triton.thread_level.exchange import neutral_number
from porter_triton.thread_level.expressions import (
    Expression,
    Level,
    combined,
    dtype_name,
    infix,
    literal,
    settled,
    to_type,
    type_text,
    variable,
)
from porter_triton.thread_level.printer import Mask

if TYPE_CHECKING:
    from porter_triton.thread_level.printer import Printer

_I32 = Scalar.I32
_FIRST = literal(0, _I32)


@dataclass
class Tensor:
    """The variables of an array: one for all elements, or one for each index; `size` is what its tensor's extent is."""

    size: str = ""
    name: str = ""
    variables: dict[int, str] = field(default_factory=dict)


def declare(p: Printer) -> None:
    """Writes the initial contents of arrays, on which no kernel may rely."""
    for root in dict.fromkeys(place.array.root for place in p.arrays.places.values()):
        array = p.arrays.places[root].array
        wanted = symbol(root.name) or "shared"
        p.tensors[root] = _variables(p, array, wanted) if array.variables else _tensor(p, array, wanted)


def _variables(p: Printer, array: BlockArray, wanted: str) -> Tensor:
    made = Tensor()
    for op in array.accesses:
        place = p.arrays.place(op)
        assert place is not None
        index = p.arrays.known_index(place) or 0
        if index not in made.variables:
            begin = settled(replace(literal(0, array.element), number=None))
            made.variables[index] = p.assign(p.names.reserve(wanted, "block"), begin).text
    return made


def _tensor(p: Printer, array: BlockArray, wanted: str) -> Tensor:
    if array.padded is None:
        size = p.names.reserve(f"{wanted.upper()}_SIZE", "constexpr")
        p.parameters.append(LoweredParameter(size, ParameterKind.SHARED, dtype_name(array.element), wanted))
    else:
        size = p.threads if array.padded == p.arrays.threads else str(array.padded)
    zeros = Expression(f"tl.zeros([{size}], {type_text(array.element)})", array.element, varying=True)
    return Tensor(size, p.assign(p.names.reserve(wanted, "block"), zeros).text)


def load(p: Printer, op: Op, place: Place) -> None:
    """Prints the element at an index: one a thread, or one for all."""
    made = _loaded(p, place)
    if made.is_atom and p.arrays.is_stored_later(op, place.array):
        p.values[op.result] = p.named(made, op.result.name or "value")
    elif made.is_atom:
        p.values[op.result] = made
    else:
        p.values[op.result] = p.named(made, op.result.name or "value")


def _loaded(p: Printer, place: Place) -> Expression:
    array, tensor = place.array, p.tensors[place.array.root]
    if array.variables:
        return variable(tensor.variables[p.arrays.known_index(place) or 0], array.element)
    held = variable(tensor.name, array.element, varying=True)
    if p.arrays.is_own(place):
        return held
    index = _within(p, place, tensor, _index(p, place))
    if not index.varying:
        return _element(p, held, index)
    p.lanes_meet()
    return combined(f"tl.gather({tensor.name}, {index.text}, 0)", array.element, index).reading(held)


def _index(p: Printer, place: Place) -> Expression:
    """Returns the index of an element."""
    parts = [_whole(p.value(step)) for step in place.steps if p.arrays.digits.number(step) != 0]
    total = parts[0] if parts else _FIRST
    for part in parts[1:]:
        total = infix("+", Level.SUM, total, part, _I32)
    return total


def _whole(value: Expression) -> Expression:
    return value if value.loose and value.type is _I32 else to_type(settled(value), _I32)


def _within(p: Printer, place: Place, tensor: Tensor, index: Expression) -> Expression:
    """Returns an index that is an element's in threads that do not ask, too."""
    lanes, count = p.mask.lanes, place.array.padded
    held = p.ranges.get(place.steps[-1])
    is_alone = all(p.arrays.digits.number(step) == 0 for step in place.steps[:-1])
    if lanes is None or (is_alone and held is not None and count is not None and held[0] >= 0 and held[1] < count):
        return index
    if index.varying:
        return where(lanes, index, _FIRST, _I32)
    last = str(count - 1) if count is not None else f"{tensor.size} - 1"
    return combined(f"tl.minimum(tl.maximum({index.text}, 0), {last})", _I32, index)


def _element(p: Printer, tensor: Expression, index: Expression) -> Expression:
    """Returns one element of a tensor as a scalar."""
    p.lanes_meet()
    type_ = tensor.type
    assert isinstance(type_, Scalar)
    text = f"tl.sum(tl.gather({tensor.text}, tl.full([1], {index.text}, tl.int32), 0), axis=0)"
    if type_ is Scalar.BOOL:
        found = Expression(f"{text} != 0", type_, level=Level.COMPARISON)
    else:
        found = Expression(text if type_.bits >= _I32.bits else f"{text}.to({type_text(type_)})", type_)
    return found.reading(tensor, index)


def store(p: Printer, op: Op, place: Place) -> None:
    """Stores an element a thread, in the threads that run, into an array."""
    array, tensor = place.array, p.tensors[place.array.root]
    held = p.value(op.operands[2])
    value = held if held.number is not None else p.typed(held, array.element)
    if array.variables:
        name = tensor.variables[p.arrays.known_index(place) or 0]
        p.assign(name, _last_stored(p, value, variable(name, array.element)))
        return
    old = variable(tensor.name, array.element, varying=True)
    if p.arrays.is_own(place):
        made = value if p.mask.lanes is None else where(p.mask.lanes, value, old, array.element)
        made = made if made.varying else _everywhere(tensor, made)
    elif (writers := p.arrays.writers(op, place)) is not None:
        made = _turned_around(p, tensor, writers, value, old)
    elif p.arrays.is_uniform(place):
        current = _element(p, old, _within(p, place, tensor, _index(p, place)))
        chosen = _last_stored(p, value, current)
        slot = Expression(f"tl.arange(0, {tensor.size})", _I32, varying=True)
        made = where(infix("==", Level.COMPARISON, slot, _index(p, place), Scalar.BOOL), chosen, old, array.element)
    else:
        made = _compared(p, place, tensor, value, old)
    p.assign(tensor.name, made)


def _everywhere(tensor: Tensor, value: Expression) -> Expression:
    assert isinstance(value.type, Scalar)
    text = f"tl.full([{tensor.size}], {value.text}, {type_text(value.type)})"
    return Expression(text, value.type, varying=True, reads=value.reads)


def _last_stored(p: Printer, value: Expression, old: Expression) -> Expression:
    """Returns the contents of one element after a store by any threads: the value of the last one."""
    mask = p.mask
    value = settled(value)
    assert isinstance(value.type, Scalar)
    if not value.varying:
        some = _some(p, mask)
        return value if some is None else where(some, value, old, old.type)
    if mask.is_single:
        return _element(p, _named(p, value), _FIRST)
    tid = variable("tid", _I32, varying=True)
    running = tid if mask.lanes is None else where(mask.lanes, tid, literal(-1, _I32), _I32)
    last = p.named(Expression(f"tl.max({running.text}, axis=0)", _I32).reading(running), "writer")
    if mask.lanes is None or mask.is_certain:
        return _element(p, _named(p, value), last)
    picked = _element(p, _named(p, value), combined(f"tl.maximum({last.text}, 0)", _I32, last))
    return where(infix(">=", Level.COMPARISON, last, _FIRST, Scalar.BOOL), picked, old, old.type)


def _some(p: Printer, mask: Mask) -> Expression | None:
    """Returns whether any thread stores; None where one certainly does."""
    return None if mask.lanes is None or mask.is_certain else p.some()


def _named(p: Printer, value: Expression) -> Expression:
    return p.atom(value, "value")


def _turned_around(p: Printer, tensor: Tensor, writers: Writers, value: Expression, old: Expression) -> Expression:
    """Returns the array with the elements that threads store, each taken from the thread that does."""
    writer, written = _solved(p, tensor, writers)
    asked = p.mask.lanes if writers.is_asked else None
    if written is not None and (value.varying or (asked is not None and asked.varying)):
        written = p.atom(written, "written")
        writer = where(written, writer, _FIRST, _I32)
    if not writer.varying:
        text = f"tl.full([{tensor.size}], {writer.text}, tl.int32)"
        writer = Expression(text, _I32, varying=True, reads=writer.reads)
    if value.varying and asked is not None:
        writer = p.atom(writer, "writer")
    assert isinstance(old.type, Scalar)
    new = value
    if value.varying:
        p.lanes_meet()
        held = _named(p, value)
        new = combined(f"tl.gather({held.text}, {writer.text}, 0)", old.type, held).reading(writer)
    if asked is not None:
        p.lanes_meet()
        runs = combined(f"tl.gather({asked.text}, {writer.text}, 0)", Scalar.BOOL, asked).reading(writer)
        written = runs if written is None else infix("&", Level.AND, written, runs, Scalar.BOOL)
    if written is None:
        return new if new.varying else _everywhere(tensor, new)
    return where(written, new, old, old.type)


def _solved(p: Printer, tensor: Tensor, writers: Writers) -> tuple[Expression, Expression | None]:
    """Returns for each element the thread that stores it, and whether one does; None where one always does."""
    slot = Expression(f"tl.arange(0, {tensor.size})", _I32, varying=True)
    slot = variable("tid", _I32, varying=True) if tensor.size == p.threads else slot
    index, checks = writers.index, list[Expression]()
    rest = slot if slot.is_atom else p.named(slot, "slot")
    size = None if not tensor.size.isdecimal() and tensor.size != p.threads else _extent(p, tensor)
    for name, factor in index.rest:
        part = p.atom(to_type(settled(p.value(p.arrays.digits.uniforms[name])), _I32), "start")
        rest = infix("-", Level.SUM, rest, _times(part, factor), _I32)
    rest = _plus(rest, -index.offset)
    if index.rest or index.offset:
        rest, size = p.named(rest, "slot"), None
        checks.append(infix(">=", Level.COMPARISON, rest, _FIRST, Scalar.BOOL))
    writer: Expression | None = None
    for digit, coefficient in sorted(index.terms, key=lambda term: -term[1]):
        quotient = rest if coefficient == 1 else infix("//", Level.PRODUCT, rest, literal(coefficient, _I32), _I32)
        is_enough = size is not None and -(-size // coefficient) <= digit.modulus
        if not _is_open(digit) and not is_enough:
            checks.append(infix("<", Level.COMPARISON, quotient, literal(digit.modulus, _I32), Scalar.BOOL))
        part = _times(quotient, digit.divisor)
        writer = part if writer is None else infix("+", Level.SUM, writer, part, _I32)
        rest = infix("%", Level.PRODUCT, rest, literal(coefficient, _I32), _I32) if coefficient > 1 else _FIRST
        size = coefficient
    if rest.number != 0:
        checks.append(infix("==", Level.COMPARISON, rest, _FIRST, Scalar.BOOL))
    fixed = sum(digit.divisor * value for digit, value in writers.pins)
    writer = literal(fixed, _I32) if writer is None else _plus(writer, fixed)
    if any(_is_open(digit) for digit, _ in index.terms):
        checks.append(infix("<", Level.COMPARISON, writer, _threads(p), Scalar.BOOL))
    return writer, _all(checks)


def _extent(p: Printer, tensor: Tensor) -> int | None:
    return int(tensor.size) if tensor.size.isdecimal() else p.arrays.threads


def _all(checks: list[Expression]) -> Expression | None:
    found: Expression | None = None
    for check in checks:
        found = check if found is None else infix("&", Level.AND, found, check, Scalar.BOOL)
    return found


def _plus(value: Expression, number: int) -> Expression:
    if number == 0:
        return value
    return infix("+" if number > 0 else "-", Level.SUM, value, literal(abs(number), _I32), _I32)


def _times(value: Expression, factor: int) -> Expression:
    return value if factor == 1 else infix("*", Level.PRODUCT, value, literal(factor, _I32), _I32)


def _is_open(digit: Digit) -> bool:
    """Returns whether only the launch says how many values a digit has."""
    return digit.divisor * digit.modulus >= UNBOUNDED


def _threads(p: Printer) -> Expression:
    """Returns how many threads a block has."""
    factors = [extent for axis in range(3) if (extent := p.coordinate("block_extent", axis)).number != 1]
    total = factors[0] if factors else literal(1, _I32)
    for factor in factors[1:]:
        total = infix("*", Level.PRODUCT, total, factor, _I32)
    return total


def _compared(p: Printer, place: Place, tensor: Tensor, value: Expression, old: Expression) -> Expression:
    """Stores at any index: compares each element with each thread's; of several writers the last one's value stays."""
    p.lanes_meet()
    hits, tid = _hits(p, place, tensor), variable("tid", _I32, varying=True)
    last = Expression(f"tl.max(tl.where({hits.text}, {tid.text}[None, :], -1), axis=1)", _I32, varying=True)
    writer = p.named(last.reading(hits, tid), "writer")
    assert isinstance(old.type, Scalar)
    new = value
    if value.varying:
        held = _named(p, value)
        new = combined(f"tl.gather({held.text}, tl.maximum({writer.text}, 0), 0)", old.type, held).reading(writer)
    return where(infix(">=", Level.COMPARISON, writer, _FIRST, Scalar.BOOL), new, old, old.type)


def _hits(p: Printer, place: Place, tensor: Tensor) -> Expression:
    """Returns for each element which of the threads that run name it."""
    index = p.spread(_index(p, place))
    text = f"tl.arange(0, {tensor.size})[:, None] == {index.within(Level.ATOM)}[None, :]"
    if p.mask.lanes is None:
        return Expression(text, Scalar.BOOL, reads=index.reads)
    lanes = p.spread(p.mask.lanes)
    return Expression(f"({text}) & {lanes.within(Level.ATOM)}[None, :]", Scalar.BOOL).reading(index, lanes)


def atomic(p: Printer, op: Op, place: Place) -> None:
    """Adds a number a thread, of the threads that run, to elements, or takes the extreme of both."""
    p.lanes_meet()
    array, tensor = place.array, p.tensors[place.array.root]
    kind, type_ = str(op.attribute("op")), array.element
    value = p.spread(p.typed(p.value(op.operands[2]), type_))
    neutral = literal(neutral_number(kind, type_), type_)
    p.values[op.result] = literal(0, type_)
    if array.variables:
        name = tensor.variables[p.arrays.known_index(place) or 0]
        given = value if p.mask.lanes is None else where(p.mask.lanes, value, neutral, type_)
        total = replace(_reduced(kind, given, 0, type_), varying=False)
        p.assign(name, _combined(kind, variable(name, type_), total))
        return
    hits = _hits(p, place, tensor)
    tile = Expression(f"tl.where({hits.text}, {value.within(Level.ATOM)}[None, :], {neutral.text})", type_)
    total = p.named(_reduced(kind, tile.reading(hits, value), 1, type_), "total")
    p.assign(tensor.name, _combined(kind, variable(tensor.name, type_, varying=True), total))


def _reduced(kind: str, given: Expression, axis: int, type_: Scalar) -> Expression:
    name = {"add": "tl.sum", "min": "tl.min", "max": "tl.max"}[kind]
    narrow = f".to({type_text(type_)})" if type_.bits < _I32.bits else ""
    return Expression(f"{name}({given.text}, axis={axis}){narrow}", type_, varying=True, reads=given.reads)


def _combined(kind: str, one: Expression, other: Expression) -> Expression:
    if kind == "add":
        return infix("+", Level.SUM, one, other, one.type)
    return combined(f"tl.{kind}imum({one.text}, {other.text})", one.type, one, other)
