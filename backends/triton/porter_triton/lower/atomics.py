"""Atomic operations on global memory, on shared arrays and on variables."""

from __future__ import annotations

from porter.syntax.nodes import Call
from porter_triton.lower import access, choices, expressions, lvalues, memory, shared, views
from porter_triton.lower.affine import Affine
from porter_triton.lower.arithmetic import binary, negative
from porter_triton.lower.comparisons import compare
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.emit import Line
from porter_triton.lower.intervals import affine_of
from porter_triton.lower.places import SharedArray
from porter_triton.lower.types import BOOL, INT, UINT, Arithmetic, Pointer
from porter_triton.lower.values import AND, ATOM, OR, SUM, Address, Bits, Fields, Nothing, Scalar, Value, number
from porter_triton.refusal import Refusal

_OPERATIONS = {
    "Add": "add",
    "Sub": "add",
    "Max": "max",
    "Min": "min",
    "And": "and",
    "Or": "or",
    "Xor": "xor",
    "Exch": "xchg",
}
_COUNTING = {"Inc": "count_up", "Dec": "count_down"}
_COMBINED = {"add": "+", "and": "&", "or": "|", "xor": "^"}


def call(cx: Context, name: str, node: Call) -> Value | None:
    """The value of an atomic operation, which is what memory held before; None for any other name."""
    stem = name.removesuffix("_system").removesuffix("_block")
    if name in {"unsafeAtomicAdd", "gpuAtomicAdd", "gpuAtomicAddNoReturn", "fastAtomicAdd", "atomicAddNoRet"}:
        stem = "atomicAdd"
    if not stem.startswith("atomic"):
        return None
    kind = stem.removeprefix("atomic")
    if kind == "CAS":
        return _compare_and_swap(cx, node)
    if kind in _COUNTING:
        return _counted(cx, _COUNTING[kind], node)
    if kind not in _OPERATIONS:
        return None
    target = expressions.value(cx, node.arguments[0])
    given = expressions.value(cx, node.arguments[1])
    if isinstance(given, Fields | Bits):
        return _on_parts(cx, _OPERATIONS[kind], target, given, node)
    value = access.scalar(given, node.line)
    if kind == "Sub":
        value = negative(value, node.line)
    operation = _OPERATIONS[kind]
    if isinstance(target, Scalar) and isinstance(target.type, Pointer):
        return _on_memory(cx, operation, target, value, node)
    if isinstance(target, Address) and isinstance(target.place, SharedArray) and target.place.memory is not None:
        slot = access.in_memory(target.place, target.offset, node.line)
        return _on_memory(cx, operation, slot.pointer, value, node)
    if isinstance(target, Address) and isinstance(target.place, SharedArray):
        return _on_shared(cx, operation, target.place, target.offset, value, node=node)
    if isinstance(target, Address):
        return _on_variable(cx, operation, target, value, node)
    raise Refusal(node.line, f"`{name}` on what is not an address")


def _on_memory(cx: Context, operation: str, pointer: Scalar, value: Scalar, node: Call) -> Value:
    """On a buffer.

    CUDA's atomics order nothing but themselves, Triton's by default whatever stands around them, which has its price;
    where the source has fences, or uses what it gets, the stronger order stands for the fence that Triton lacks.
    """
    assert isinstance(pointer.type, Pointer)
    element = pointer.type.element
    if not isinstance(element, Arithmetic):
        raise Refusal(node.line, "an atomic operation on a struct")
    held = settled(convert(value, element, node.line))
    cx.touch(pointer.bases)
    target, written, mask = _for_each_thread(cx, pointer, held)
    unordered = cx.discarded is node and not cx.decisions.fences
    order = ', sem="relaxed"' if unordered else ""
    text = f"tl.atomic_{operation}({target}, {written}{mask}{order})"
    varying = target != pointer.text or pointer.varying
    if cx.discarded is node:
        cx.emit(Line(text, effect=True))
        return Nothing()
    return cx.temporary(Scalar(text, element, varying), "before", effect=True)


def _on_parts(cx: Context, operation: str, target: Value, value: Fields | Bits, node: Call) -> Value:
    """On a vector in memory: CUDA's are atomic for each of its numbers, not for all of them together."""
    if not isinstance(target, Scalar) or not isinstance(target.type, Pointer):
        raise Refusal(node.line, "an atomic operation on a struct that is not memory")
    element = memory.unit(target, node.line)
    found = [
        _on_memory(cx, operation, memory.part(target, element, i, node.line), part, node)
        for i, part in enumerate(views.leaf_values(value, node.line))
    ]
    parts = tuple(part for part in found if isinstance(part, Scalar))
    return views.gathered(target.type.element, element, parts) if parts else Nothing()


def _counted(cx: Context, helper: str, node: Call) -> Value:
    """`atomicInc` and `atomicDec`, which begin again at their bound: Triton has none, so what it can exchange."""
    target = expressions.value(cx, node.arguments[0])
    bound = settled(convert(expressions.scalar(cx, node.arguments[1]), UINT, node.line))
    if isinstance(target, Address) and isinstance(target.place, SharedArray):
        if target.place.memory is None:
            shared.ask_for_memory(cx, target.place)
            return number(0, UINT)
        target = access.in_memory(target.place, target.offset, node.line).pointer
    if not isinstance(target, Scalar) or not isinstance(target.type, Pointer):
        raise Refusal(node.line, "a thread counts in a variable of its own")
    cx.touch(target.bases)
    pointer = _spread_pointer(cx, target, UINT, node.line)
    active = "" if cx.mask is None else f", {cx.mask.text}"
    if cx.mask is not None and not cx.mask.varying:
        active = f", tl.broadcast_to({cx.mask.text}, [{cx.block}])"
    text = f"{cx.helper(helper)}({pointer}, {bound.text}{active})"
    return cx.temporary(Scalar(text, UINT, True), "before", effect=True)


def _spread_pointer(cx: Context, pointer: Scalar, element: Arithmetic, line: int) -> str:
    """A pointer for each thread, for an exchange that takes no mask: lanes that do not run mean the buffer's begin."""
    target = pointer.text if pointer.varying else f"tl.broadcast_to({pointer.text}, [{cx.block}])"
    if cx.mask is None:
        return target
    if len(pointer.bases) != 1:
        raise Refusal(line, "an atomic exchange on what may be one of several buffers")
    (base,) = pointer.bases
    safe = f"{base}.to(tl.pointer_type({element.triton}), bitcast=True)"
    return f"tl.where({cx.mask.text}, {target}, {safe})"


def _for_each_thread(cx: Context, pointer: Scalar, value: Scalar) -> tuple[str, str, str]:
    """Pointer, value and mask so that each thread that runs acts once."""
    mask = cx.mask
    if not pointer.varying and not value.varying and mask is not None and cx.only_thread(mask) is not None:
        return pointer.text, value.text, ""
    target = pointer.text if pointer.varying else f"tl.broadcast_to({pointer.text}, [{cx.block}])"
    assert isinstance(value.type, Arithmetic)
    written = value.text if value.varying else f"tl.full([{cx.block}], {value.text}, {value.type.triton})"
    return target, written, "" if mask is None else f", mask={mask.text}"


def _compare_and_swap(cx: Context, node: Call) -> Value:
    pointer = expressions.scalar(cx, node.arguments[0])
    if not isinstance(pointer.type, Pointer) or not isinstance(pointer.type.element, Arithmetic):
        raise Refusal(node.line, "`atomicCAS` on what is not global memory")
    element = pointer.type.element
    operands = [settled(convert(expressions.scalar(cx, a), element, node.line)) for a in node.arguments[1:3]]
    cx.touch(pointer.bases)
    alone = cx.mask is not None and cx.only_thread(cx.mask) is not None
    if alone and not any(v.varying for v in (pointer, *operands)):
        texts = [pointer.text, *(f"tl.cast({v.text}, {element.triton})" for v in operands)]
        return cx.temporary(Scalar(f"tl.atomic_cas({', '.join(texts)})", element), "before", effect=True)
    target = _spread_pointer(cx, pointer, element, node.line)
    spread = [v.text if v.varying else f"tl.full([{cx.block}], {v.text}, {element.triton})" for v in operands]
    if cx.mask is not None:  # lanes that do not run exchange 0 for 0
        spread = [f"tl.where({cx.mask.text}, {text}, 0)" for text in spread]
    text = f"tl.atomic_cas({target}, {', '.join(spread)})"
    return cx.temporary(Scalar(text, element, True), "before", effect=True)


def _on_shared(cx: Context, operation: str, array: SharedArray, offset: Scalar, value: Scalar, *, node: Call) -> Value:
    """On a shared array in registers: all threads' values are combined at once."""
    array = shared.meant(cx, array, offset)
    held = settled(convert(value, array.element, node.line))
    index = convert(settled(offset), INT, node.line)
    used = cx.discarded is not node
    alone = array.alone or not index.varying
    affine = affine_of(index)
    if affine is not None and index.varying and not used and operation != "xchg":
        total = _by_digit(cx, operation, array, affine, held)
        if total is not None:
            _add_to(cx, operation, array, affine, total)
            return Nothing()
    compared = array.size is not None and cx.padded is not None and array.size * cx.padded <= shared.MOST_COMPARISONS
    if operation == "xchg" or (used and not (alone and operation == "add")) or not (alone or compared):
        shared.ask_for_memory(cx, array)
        return number(0, array.element)
    return (
        _at_one(cx, operation, array, index, held, used=used) if alone else _at_many(cx, operation, array, index, held)
    )


def _by_digit(
    cx: Context, operation: str, array: SharedArray, affine: Affine, held: Scalar
) -> tuple[Scalar, int] | None:
    """The values of all threads that have the same digit combined: a tensor with an element for each value of it."""
    if len(affine.terms) != 1 or affine.terms[0][1] != 1 or cx.padded is None:
        return None
    digit = affine.terms[0][0]
    inner, count = digit.divisor, cx.padded // digit.divisor if digit.top else digit.modulus
    outer = cx.padded // (inner * count)
    if inner & (inner - 1) or count & (count - 1) or outer * count * inner != cx.padded:
        return None
    spread = held.text if held.varying else f"tl.full([{cx.block}], {held.text}, {array.element.triton})"
    if cx.mask is not None:
        spread = f"tl.where({cx.mask.text}, {spread}, {_neutral(operation, array.element)})"
    if inner > 1:
        spread = _reduced(cx, operation, f"tl.reshape({spread}, [{outer * count}, {inner}])", 1)
    if outer > 1:
        spread = _reduced(cx, operation, f"tl.reshape({spread}, [{outer}, {count}])", 0)
    return cx.temporary(Scalar(spread, array.element, True), "total"), count


def _add_to(cx: Context, operation: str, array: SharedArray, affine: Affine, total: tuple[Scalar, int]) -> None:
    """Combine a range of elements, which begins at the uniform part of the index, with a tensor."""
    value, count = total
    start = [f"{text} * {c}" if c != 1 else text for text, c in affine.rest] + [str(affine.offset)] * (
        affine.offset != 0
    )
    slot = f"tl.arange(0, {array.size_text})"
    if start:
        begun = " + ".join(start)
        slot = f"{slot} - ({begun})" if " " in begun else f"{slot} - {begun}"
    slot = cx.temporary(Scalar(slot, INT, True, SUM), "slot").text
    checks = [f"({slot} >= 0)"] * bool(start) + [f"({slot} < {count})"] * (bool(start) or array.size != count)
    if not checks:
        cx.emit(Line(_combined(operation, array.name, value.text), array.name, level=SUM))
        return
    valid = cx.temporary(Scalar(" & ".join(checks), BOOL, True, AND), "written").text
    found = f"tl.gather({value.text}, tl.where({valid}, {slot}, 0), 0)"
    cx.emit(Line(f"tl.where({valid}, {_combined(operation, array.name, found)}, {array.name})", array.name, level=ATOM))


def _at_one(cx: Context, operation: str, array: SharedArray, index: Scalar, held: Scalar, *, used: bool) -> Value:
    """All threads mean one element; what each finds there is what the threads before it have added."""
    spread = held.text if held.varying else f"tl.full([{cx.block}], {held.text}, {array.element.triton})"
    if cx.mask is not None:
        spread = f"tl.where({cx.mask.text}, {spread}, {_neutral(operation, array.element)})"
    before: Value = Nothing()
    if used:
        added = cx.temporary(Scalar(spread, array.element, True), "added").text
        first = access.scalar(shared.load(cx, array, index), 0)
        text = f"{first.within(SUM)} + tl.cumsum({added}, axis=0) - {added}"
        before = cx.temporary(Scalar(text, array.element, True, SUM), "before")
        spread = added
    combined = _combined(operation, array.name, _reduced(cx, operation, spread, 0))
    if not array.alone:
        combined = f"tl.where(tl.arange(0, {array.size_text}) == {index.within(OR)}, {combined}, {array.name})"
    cx.emit(Line(combined, array.name, level=ATOM))
    return before


def _at_many(cx: Context, operation: str, array: SharedArray, index: Scalar, held: Scalar) -> Value:
    """Each element compared with each thread's index."""
    hits = f"(tl.arange(0, {array.size_text})[:, None] == {index.within(ATOM)}[None, :])"
    if cx.mask is not None:
        hits += f" & {cx.mask.within(ATOM)}[None, :]" if cx.mask.varying else f" & {cx.mask.within(AND)}"
    each = f"{held.within(ATOM)}[None, :]" if held.varying else held.text
    total = _reduced(cx, operation, f"tl.where({hits}, {each}, {_neutral(operation, array.element)})", 1)
    if array.element.bits < 32:
        total = f"{total}.to({array.element.triton})"
    cx.emit(Line(_combined(operation, array.name, total), array.name, level=ATOM))
    return Nothing()


def _neutral(operation: str, type_: Arithmetic) -> str:
    if operation in {"add", "or", "xor"}:
        return "0.0" if type_.is_float else "0"
    if operation == "and":
        return "-1" if type_.kind == "int" else str(type_.high)
    if type_.is_float:
        return 'float("-inf")' if operation == "max" else 'float("inf")'
    return str(type_.low if operation == "max" else type_.high)


def _reduced(cx: Context, operation: str, tensor: str, axis: int) -> str:
    if operation in {"add", "max", "min"}:
        return f"tl.{ {'add': 'sum'}.get(operation, operation) }({tensor}, axis={axis})"
    if operation == "xor":
        return f"tl.xor_sum({tensor}, axis={axis})"
    return f"tl.reduce({tensor}, {axis}, {cx.helper(f'bits_{operation}')})"


def _combined(operation: str, left: str, right: str) -> str:
    if operation in _COMBINED:
        return f"{left} {_COMBINED[operation]} {right}"
    return f"tl.{operation}imum({left}, {right})"


def _on_variable(cx: Context, operation: str, target: Address, value: Scalar, node: Call) -> Value:
    """On a thread's own variable nothing is shared."""
    place = lvalues.pointee(target, node.line)
    before = cx.temporary(access.scalar(access.load(cx, place, node.line), node.line), "before")
    if operation in _COMBINED:
        after = binary(_COMBINED[operation], before, value, node.line)
    elif operation == "xchg":
        after = value
    else:
        chosen = compare("<" if operation == "min" else ">", value, before, node.line)
        picked = choices.choose(chosen, value, before, node.line)
        after = access.scalar(picked, node.line)
    access.store(cx, place, after, node.line)
    return before
