"""Prints loads, stores and atomic operations; memory of a block or thread is a slice of a buffer of the launcher's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from porter.contract.analysis.records import symbol
from porter.ir.simt.operations import OPERATIONS, Effect
from porter.ir.simt.ops import Op, Value, walk
from porter.ir.simt.types import Array, Pointer, Scalar, Space, Vector
from porter_triton.kernel_records import LoweredParameter, ParameterKind
from porter_triton.refusal import Refusal
from porter_triton.thread_level import block_array_access
from porter_triton.thread_level.expressions import (
    Expression,
    Level,
    alone,
    combined,
    dtype_name,
    element_type,
    infix,
    literal,
    part_name,
    settled,
    signed,
    to_type,
    type_text,
    variable,
)

if TYPE_CHECKING:
    from porter_triton.thread_level.printer import Printer

_ATOMICS = {"add": "atomic_add", "sub": "atomic_add", "min": "atomic_min", "max": "atomic_max", "and": "atomic_and",
            "or": "atomic_or", "xor": "atomic_xor", "exchange": "atomic_xchg"}  # fmt: skip
_BITS = {Scalar.F32: Scalar.I32, Scalar.F64: Scalar.I64}
_COUNTERS = {"inc": "count_up", "dec": "count_down"}
_OUTER = "tl.program_id(1) + tl.num_programs(1) * tl.program_id(2)"


def reserve(p: Printer) -> None:
    """Declares the memory of the block and of its threads, before anything else is written."""
    block_array_access.declare(p)
    ops = [op for op in walk(p.function.body) if op.kind in ("array", "dynamic_shared")]
    ops = [op for op in ops if op.result not in p.arrays.places]
    if ops:
        outer = p.assign(p.names.reserve("outer", "program"), Expression(_OUTER, Scalar.I32))
        program = f"tl.program_id(0).to(tl.int64) + tl.num_programs(0) * {outer.text}"  # buffers may be large
        p.assign(p.names.reserve("program", "program"), Expression(program, Scalar.I64).reading(outer))
    for op in ops:
        if op.kind == "array":
            _array(p, op)
        else:
            _dynamic_shared(p, op)


def _array(p: Printer, op: Op) -> None:
    """Declares memory of the block, or of each thread."""
    type_ = op.result.type
    assert isinstance(type_, Array)
    width = type_.element.count if isinstance(type_.element, Vector) else 1
    per_thread = type_.count * width
    pointer = Pointer(type_.element, type_.space)
    if type_.space is Space.SHARED:
        p.values[op.result] = _scratch(p, op, pointer, per_thread, str(per_thread))
        return
    step = infix("*", Level.PRODUCT, variable("tid", Scalar.I32, varying=True), literal(per_thread, Scalar.I32),
                 Scalar.I32)  # fmt: skip
    block = _scratch(p, op, pointer, per_thread, f"({per_thread} * {p.threads})")
    moved = infix("+", Level.SUM, block, step, pointer)
    p.values[op.result] = p.assign(p.names.reserve(symbol(op.result.name) or "own", "own"), moved)


def _dynamic_shared(p: Printer, op: Op) -> None:
    """Prints the shared memory that the launch gives a block."""
    type_ = op.result.type
    assert isinstance(type_, Pointer)
    name = symbol(op.result.name) or "shared"
    size = p.names.reserve(f"{name.upper()}_SIZE", "constexpr")
    p.parameters.append(LoweredParameter(size, ParameterKind.SHARED, dtype_name(element_type(type_)), name))
    p.values[op.result] = _scratch(p, op, type_, 0, size)


def _scratch(p: Printer, op: Op, type_: Pointer, elements: int, size: str) -> Expression:
    """Returns the program's slice of a buffer of its own; `size` is how many elements a slice has.

    `elements` are those of a thread where the memory is the threads' own.
    """
    name = symbol(op.result.name) or ("shared" if type_.space is Space.SHARED else "own")
    buffer = p.names.reserve(f"{name}_scratch", "parameter")
    kind = dtype_name(element_type(type_)).replace("int1", "bool")
    p.parameters.append(LoweredParameter(buffer, ParameterKind.SCRATCH, kind, name, elements,
                                        per_thread=type_.space is Space.LOCAL))  # fmt: skip
    slice_ = Expression(f"{buffer} + program * {size}", type_, level=Level.SUM, reads=frozenset({"program"}))
    return p.assign(p.names.reserve(name, "scratch"), slice_)


def reserved(p: Printer, op: Op) -> None:
    """Prints the memory that the text begins with."""
    assert op.result in p.values


def offset(p: Printer, op: Op) -> None:
    """Prints a pointer that many elements further on."""
    p.hold(op, _moved(p, op))


def _moved(p: Printer, op: Op) -> Expression:
    """Returns the address that the first two operands name."""
    base, index = op.operands[:2]
    pointer = p.value(base)
    p.touched |= op.kind != "offset"
    assert isinstance(base.type, Pointer | Array)
    width = base.type.element.count if isinstance(base.type.element, Vector) else 1
    type_ = Pointer(base.type.element, base.type.space)
    steps = _index(p, index)
    if steps.number == 0:
        return replace(pointer, type=type_)
    if width > 1:
        steps = infix("*", Level.PRODUCT, steps, literal(width, Scalar.I32), steps.type)
    if steps.number is not None and steps.number < 0:
        return infix("-", Level.SUM, pointer, literal(-steps.number, Scalar.I32), type_)
    return infix("+", Level.SUM, pointer, steps, type_)


def _index(p: Printer, index: Value) -> Expression:
    """Returns an index as Triton adds it to a pointer: with its sign, in 32 bits at least."""
    assert isinstance(index.type, Scalar)
    held = p.value(index)
    if held.number is not None:
        return held
    if index.type.bits < 32:
        return to_type(settled(held), Scalar.I32)
    if not index.type.is_signed and held.type is signed(index.type) and index.type is Scalar.U32:
        return held if p.is_below_sign(index) else to_type(held, Scalar.U32)
    return held


def _mask(p: Printer, pointer: Expression) -> Expression | None:
    """Returns the mask of an access: none where all threads run, for a scalar whether any does."""
    return p.mask.lanes if pointer.varying else p.some()


def _of_one_shape(
    p: Printer, pointer: Expression, mask: Expression | None, value: Expression | None = None
) -> tuple[Expression, Expression | None, Expression]:
    """Returns an address, its mask, and what is stored there, with rows where any of them has some."""
    value = literal(0, Scalar.I32) if value is None else value
    given = [pointer, value] if mask is None else [pointer, value, mask]
    if not any(one.turns for one in given):
        return pointer, mask, value
    if any(one.varying for one in given):
        pointer = p.spread(_with_rows(pointer))
    if not (pointer.turns and pointer.varying) or pointer.text.endswith("[None, :]"):
        pointer = combined(f"tl.broadcast_to({pointer.text}, [{p.rows}, {p.threads}])", pointer.type, pointer)
    return pointer, None if mask is None else _with_rows(mask), _with_rows(value)


def _aligned(op: Op, element: Scalar, pointer: Expression) -> Expression:
    """Returns the addresses of rows that lie at multiples of their size, which a pointer that a run moves hides."""
    count = dict(op.attributes).get("aligned")
    if not isinstance(count, int) or not pointer.turns:
        return pointer
    text = f"tl.multiple_of({pointer.text}, ({count * element.bytes}, 1))"
    return replace(pointer, text=text, level=Level.ATOM)


def _with_rows(value: Expression) -> Expression:
    """Returns what each thread has once with a row for it."""
    if value.turns or not value.varying:
        return value
    return replace(value, text=f"{value.within(Level.ATOM)}[None, :]", level=Level.ATOM, turns=True)


def _keywords(mask: Expression | None) -> str:
    return "" if mask is None else f", mask={mask.text}"


def _given(mask: Expression | None) -> tuple[Expression, ...]:
    return () if mask is None else (mask,)


def load(p: Printer, op: Op) -> None:
    """Loads the element at an index; a vector is moved in one access."""
    if (held := p.arrays.place(op)) is not None:
        block_array_access.load(p, op, held)
        return
    element = _element(op)
    pointer = _moved(p, op)
    if not pointer.varying and p.some_is_unknown() and _is_for_threads(p, op):
        pointer = p.spread(pointer)
    mask = _mask(p, pointer)
    if not isinstance(element, Vector):
        pointer, mask, *_ = _of_one_shape(p, pointer, mask)
        pointer = _aligned(op, element, pointer)
        keywords = _keywords(mask)
        if (other := p.others.get(op.result)) is not None and pointer.varying and mask is not None:
            keywords += f", other={other.text}"
            p.filled.add(op.result)
        p.hold(op, combined(f"tl.load({pointer.text}{keywords})", element, pointer).reading(*_given(mask)))
        return
    wanted = op.result.name or "value"
    names = [
        p.declare(f"{wanted}_{part_name(n, element.count)}", element.element, varying=pointer.varying)
        for n in range(element.count)
    ]
    if pointer.varying:
        helper = p.helper(f"load{element.count}")
        text = f"{helper}({pointer.text}{'' if mask is None else f', {mask.text}'})"
        p.assign_all(names, text, pointer, *_given(mask))
    else:
        pointer = p.atom(pointer, "pointer")
        for number, name in enumerate(names):
            place = pointer.text if number == 0 else f"{pointer.text} + {number}"
            p.assign_all((name,), f"tl.load({place}{_keywords(mask)})", pointer, *_given(mask))
    p.values[op.result] = tuple(variable(name, element.element, varying=pointer.varying) for name in names)


def _is_for_threads(p: Printer, op: Op) -> bool:
    """Returns whether a number is only used for values that each thread has for itself.

    Then each running thread loads it: asking whether any thread runs would make the block wait.
    """
    users = p.uses.get(op.result, ())
    return bool(users) and all(
        not user.regions and OPERATIONS[user.kind].effect is Effect.NONE and set(user.results) <= p.uniformity.varying
        for user in users
    )


def store(p: Printer, op: Op) -> None:
    """Puts an element at an index."""
    if (held := p.arrays.place(op)) is not None:
        block_array_access.store(p, op, held)
        return
    element = _element(op)
    pointer = _moved(p, op)
    parts = p.parts(op.operands[2])
    if not pointer.varying and any(part.varying for part in parts):
        pointer = p.spread(pointer)
    mask = _mask(p, pointer)
    if not isinstance(element, Vector):
        pointer, mask, part = _of_one_shape(p, pointer, mask, parts[0])
        pointer = _aligned(op, element, pointer)
        p.line(f"tl.store({pointer.text}, {alone(part).text}{_keywords(mask)})", pointer, part, *_given(mask))
        return
    if pointer.varying:
        inner = ", ".join(p.spread(p.typed(part, element.element)).text for part in parts)
        rest = "" if mask is None else f", {mask.text}"
        p.line(f"{p.helper(f'store{element.count}')}({pointer.text}, {inner}{rest})", pointer, *parts, *_given(mask))
        return
    pointer = p.atom(pointer, "pointer")
    for number, part in enumerate(parts):
        place = pointer.text if number == 0 else f"{pointer.text} + {number}"
        p.line(f"tl.store({place}, {alone(part).text}{_keywords(mask)})", pointer, part, *_given(mask))


def _element(op: Op) -> Scalar | Vector:
    base = op.operands[0].type
    assert isinstance(base, Pointer | Array)
    return base.element


def atomic(p: Printer, op: Op) -> None:
    """Changes an element at once: each thread that runs does so once."""
    if (held := p.arrays.place(op)) is not None:
        block_array_access.atomic(p, op, held)
        return
    element = _element(op)
    if not isinstance(element, Scalar):
        raise Refusal(op.location.line, "an atomic operation on a vector", op.location.file)
    kind = str(op.attribute("op"))
    pointer = _moved(p, op)
    given = [to_type(p.value(operand), element) for operand in op.operands[2:]]
    if kind == "sub":
        given = [combined(f"-{given[0].within(Level.SIGN)}", element, given[0], level=Level.SIGN)]
    is_alone = p.mask.is_single and not pointer.varying and not any(value.varying for value in given)
    if not is_alone:
        pointer, given = p.spread(pointer), [p.spread(value) for value in given]
    if kind == "exchange" and element in _BITS:
        made = _exchanged_bits(p, op, pointer, given[0], is_alone=is_alone)
    elif kind in _ATOMICS:
        made = _unconditional(p, op, _ATOMICS[kind], pointer, given[0], is_alone=is_alone)
    else:
        made = _conditional(p, op, kind, pointer, given, is_alone=is_alone)
    if p.uses.get(op.result):
        p.hold(op, made)
    else:
        p.line(made.text, made)
        p.values[op.result] = literal(0, element)


def _unconditional(
    p: Printer, op: Op, name: str, pointer: Expression, value: Expression, *, is_alone: bool
) -> Expression:
    lanes = None if is_alone else p.mask.lanes
    order = "" if p.uses.get(op.result) or p.has_fences else ', sem="relaxed"'
    text = f"tl.{name}({pointer.text}, {settled(value).text}{_keywords(lanes)}{order})"
    p.lanes_meet()
    return combined(text, value.type, pointer, value).reading(*_given(lanes))


def _exchanged_bits(p: Printer, op: Op, pointer: Expression, value: Expression, *, is_alone: bool) -> Expression:
    """Returns an exchange of floats as one of their bits, which is all that Triton's interpreter exchanges."""
    assert isinstance(value.type, Scalar)
    bits = _BITS[value.type]
    told = combined(f"{settled(value).within(Level.ATOM)}.to({type_text(bits)}, bitcast=True)", bits, value)
    address = p.pointer_cast(pointer, Pointer(bits, Space.GLOBAL))
    made = _unconditional(p, op, _ATOMICS["exchange"], address, told, is_alone=is_alone)
    if not p.uses.get(op.result):
        return made
    return combined(f"{made.text}.to({type_text(value.type)}, bitcast=True)", value.type, made)


def _conditional(
    p: Printer, op: Op, kind: str, pointer: Expression, given: list[Expression], *, is_alone: bool
) -> Expression:
    """Returns an exchange that depends on the old value; Triton's has no mask."""
    element = given[0].type
    assert isinstance(element, Scalar)
    lanes = None if is_alone else p.mask.lanes
    if lanes is not None:
        harmless = _harmless(p, op)
        text = f"tl.where({lanes.text}, {pointer.text}, {harmless.text})"
        pointer = combined(text, pointer.type, pointer).reading(lanes, harmless)
    if kind in _COUNTERS:
        pointer = p.spread(pointer)
        active = "" if p.mask.lanes is None else f", {p.mask.lanes.text}"
        made = combined(f"{p.helper(_COUNTERS[kind])}({pointer.text}, {given[0].text}{active})", element, pointer)
        return made.reading(given[0], *_given(p.mask.lanes))
    values = [settled(value) for value in given]
    if lanes is not None:  # threads that do not run exchange 0 for 0
        texts = [f"tl.where({lanes.text}, {value.text}, 0).to({type_text(element)})" for value in values]
    else:
        texts = [value.text for value in values]
    p.lanes_meet()
    made = combined(f"tl.atomic_cas({pointer.text}, {', '.join(texts)})", element, pointer, *values)
    return made.reading(*_given(lanes))


def _harmless(p: Printer, op: Op) -> Expression:
    """Returns an address in the same memory, for threads that do not run."""
    base = op.operands[0]
    found = p.roots.get(base, frozenset())
    (root,) = found if len(found) == 1 else (None,)
    if root is None or root not in p.values:
        raise Refusal(op.location.line, "an exchange in memory that may be one of several", op.location.file)
    assert isinstance(base.type, Pointer | Array)
    return p.pointer_cast(p.value(root), Pointer(base.type.element, base.type.space))


def distance(p: Printer, op: Op) -> None:
    """Prints by how many elements one pointer lies behind another."""
    pointer = op.operands[0].type
    assert isinstance(pointer, Pointer)
    left, right = (p.value(operand).within(Level.ATOM) for operand in op.operands)
    text = f"({left}.to(tl.int64) - {right}.to(tl.int64)) // {pointer.element.bytes}"
    made = combined(text, Scalar.I64, *(p.value(operand) for operand in op.operands), level=Level.PRODUCT)
    result = op.result.type
    assert isinstance(result, Scalar)
    p.hold(op, to_type(made, signed(result)))
