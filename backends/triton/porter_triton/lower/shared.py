"""Shared arrays as tensors of the program, carried in registers (docs/design/triton.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from porter_triton.lower.affine import UNBOUNDED, Affine, Digit
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.emit import Change, Kind, Line
from porter_triton.lower.intervals import affine_of
from porter_triton.lower.places import SharedArray
from porter_triton.lower.types import INT, Arithmetic
from porter_triton.lower.values import AND, ATOM, COMPARE, OR, SUM, Scalar

MOST_COMPARISONS = 1 << 16  # elements times threads: what comparing each with each may cost in registers


def _own(cx: Context, array: SharedArray, offset: Scalar) -> bool:
    """Returns whether each thread means the element that lies in its own register."""
    digit = offset.affine.digit if offset.affine is not None else None
    if digit is None or digit.divisor != 1 or not digit.top:
        return False
    return array.size_text == cx.threads_text or (array.size is not None and array.size == cx.padded)


def meant(cx: Context, array: SharedArray, offset: Scalar) -> SharedArray:
    """The variable that an element is, where the array is variables.

    An index that two passes do not know makes it a tensor: the second has written out the loops that index registers.
    """
    if not array.elements:
        return array
    if offset.fixed is not None and 0 <= offset.fixed < len(array.elements):
        return array.elements[offset.fixed]
    if cx.decisions.unknown.setdefault(array.key, cx.prologue) is not cx.prologue:
        cx.decisions.indexed.add(array.key)
    return array.elements[0]


def load(cx: Context, array: SharedArray, offset: Scalar) -> Scalar:
    """One element a thread; one for all where the index is uniform."""
    array = meant(cx, array, offset)
    if array.alone:
        return Scalar(array.name, array.element)
    if _own(cx, array, offset):
        return Scalar(array.name, array.element, True)
    index = settled(offset)
    text = _within(cx, array, index)
    if not index.varying:
        return element(array.name, text, array.element)
    return Scalar(f"tl.gather({array.name}, {text}, 0)", array.element, True)


def _within(cx: Context, array: SharedArray, index: Scalar) -> str:
    """The index, an element's in threads that do not ask, too: `best < 0 || a[best] < x`."""
    if cx.mask is None or (array.size is not None and index.known_within(0, array.size - 1)):
        return index.text
    if index.varying or not cx.mask.varying:
        return f"tl.where({cx.mask.text}, {index.text}, 0)"
    last = f"{array.size_text} - 1" if array.size is None else str(array.size - 1)
    return f"tl.minimum(tl.maximum({index.text}, 0), {last})"  # cheaper than whether any thread asks


def element(tensor: str, index: str, type_: Arithmetic) -> Scalar:
    """One element of a tensor."""
    text = f"tl.sum(tl.gather({tensor}, tl.full([1], {index}, tl.int32), 0), axis=0)"
    if type_.bits < 32:  # `tl.sum` widens small types
        text = f"{text}.to({type_.triton})"
    return Scalar(text, type_)


def store(cx: Context, array: SharedArray, offset: Scalar, value: Scalar, line: int) -> None:
    """Write one element a thread, in the lanes that run."""
    value = settled(convert(value, array.element, line))
    array = meant(cx, array, offset)
    if array.alone:
        _store_alone(cx, array, value)
        return
    if _own(cx, array, offset):
        cx.emit(_own_assignment(cx, array, value))
        return
    inverse = _inverse(cx, array, offset)
    if inverse is not None:
        _store_inverse(cx, array, inverse, value)
    elif not offset.varying and not value.varying:
        _store_one(cx, array, offset, value)
    else:
        _store_compared(cx, array, convert(settled(offset), INT, line), value)


def _own_assignment(cx: Context, array: SharedArray, value: Scalar) -> Line:
    """Each thread's element set in the lanes that run."""
    if cx.mask is None:
        return Line(_tensor(array, value), array.name, level=ATOM if not value.varying else value.level)
    again = partial(_own_assignment, cx, array)
    text = f"tl.where({cx.mask.text}, {value.text}, {array.name})"
    return Line(text, array.name, level=ATOM, change=Change(value, cx.mask, again))


def _store_alone(cx: Context, array: SharedArray, value: Scalar) -> None:
    """Write a shared variable; of several writers the last thread's value stays."""
    mask = cx.mask
    alone = (cx.threads or 1) - 1 if mask is None else cx.only_thread(mask)
    if mask is None or alone is not None:
        last = str(alone)
        text = element(value.text, last, array.element).text if value.varying else value.text
    elif not mask.varying:
        text = f"tl.where({mask.text}, {value.text}, {array.name})"
    elif value.varying:
        writer = cx.temporary(Scalar(f"tl.max(tl.where({mask.text}, {cx.thread}, -1), axis=0)", INT), "writer").text
        picked = element(value.text, f"tl.maximum({writer}, 0)", array.element).text
        text = f"tl.where({writer} >= 0, {picked}, {array.name})"
    else:
        text = f"tl.where(tl.max({mask.within(ATOM)}.to(tl.int32), axis=0) != 0, {value.text}, {array.name})"
    if value.loose and not value.varying:
        text = text if text != value.text else f"tl.cast({text}, {array.element.triton})"
    level = ATOM if text.endswith(")") and "(" in text else 0
    cx.emit(Line(text, array.name, level=level, value=Kind(array.element, varying=False)))


def _tensor(array: SharedArray, value: Scalar) -> str:
    if value.varying:
        return value.text
    return f"tl.full([{array.size_text}], {value.text}, {array.element.triton})"


@dataclass(frozen=True, slots=True)
class Inverse:
    """For each element the thread that writes it: `writer` where `valid` (empty: everywhere).

    `masked`: the mask must still be asked at the writer.
    """

    writer: str
    valid: str
    masked: bool


def _inverse(cx: Context, array: SharedArray, offset: Scalar) -> Inverse | None:
    """Turn the index around, where it is a sum of digits of the thread's number that names each element once."""
    affine = affine_of(offset)
    if affine is None:
        return None
    pins = _useful_pins(cx, affine, cx.mask.pins if cx.mask is not None else ())
    if pins is None or not _injective(affine):
        return None
    exact = cx.mask is not None and cx.mask.exact and set(pins) == set(cx.mask.pins)
    free = cx.mask is None or cx.mask.text == cx.inside  # a writer is a thread of the block
    return _solved(cx, array, affine, pins, masked=not free and not exact)


def _useful_pins(
    cx: Context, affine: Affine, pins: tuple[tuple[Digit, int], ...]
) -> tuple[tuple[Digit, int], ...] | None:
    """The pins that, with the digits of the index, fix all digits of the thread; None if some stay open."""
    ranges = sorted([(d, None) for d, _ in affine.terms] + list(pins), key=lambda r: (r[0], r[1] is not None))
    reached, used, topped = 1, [], False
    for digit, value in ranges:
        if digit.divisor < reached:
            if value is None:
                return None
            continue  # a pin on a digit that the index fixes already: left to the mask
        if digit.divisor > reached:
            return None
        reached *= digit.modulus
        topped |= digit.top
        if value is not None:
            used.append((digit, value))
    complete = topped or (cx.threads is not None and reached >= cx.threads)
    return tuple(used) if complete else None


def _injective(affine: Affine) -> bool:
    span = 0
    for digit, coefficient in sorted(affine.terms, key=lambda t: t[1]):
        if coefficient <= span:
            return False
        span += coefficient * (digit.modulus - 1)
    return True


def _solved(
    cx: Context, array: SharedArray, affine: Affine, pins: tuple[tuple[Digit, int], ...], masked: bool
) -> Inverse:
    slot = cx.temporary(Scalar(f"tl.arange(0, {array.size_text})", INT, True), "slot").text
    rest, checks, writer = slot, [], []
    start = " + ".join([*(_product(name, factor) for name, factor in affine.rest), *_nonzero(affine.offset)])
    if start:
        begun = f"{slot} - ({start})" if " " in start else f"{slot} - {start}".replace("- -", "+ ")
        rest = cx.temporary(Scalar(begun, INT, True, SUM), "slot").text
        checks.append(f"({rest} >= 0)")
    below = None if start else array.size  # what `rest` stays below, where that is known
    for digit, coefficient in sorted(affine.terms, key=lambda t: -t[1]):
        quotient = rest if coefficient == 1 else f"{rest} // {coefficient}"
        enough = below is not None and -(-below // coefficient) <= digit.modulus
        below = coefficient
        if not _is_open(digit) and not enough:
            checks.append(f"({quotient} < {digit.modulus})")
        writer.append(_product(quotient if coefficient == 1 else f"({quotient})", digit.divisor))
        rest = f"({rest} % {coefficient})" if coefficient > 1 else "0"
    if rest != "0":
        checks.append(f"({rest} == 0)")
    fixed = sum(digit.divisor * value for digit, value in pins)
    writer += _nonzero(fixed) or ([] if writer else ["0"])
    if any(_is_open(digit) for digit, _ in affine.terms):
        checks.append(f"({' + '.join(writer)} < {_threads(cx)})")
    valid = " & ".join(checks)
    return Inverse(" + ".join(writer), valid[1:-1] if len(checks) == 1 else valid, masked)


def _is_open(digit: Digit) -> bool:
    """Returns whether only the launch says how many values a digit has."""
    return digit.divisor * digit.modulus >= UNBOUNDED


def _threads(cx: Context) -> str:
    """Returns how many threads a block has."""
    return " * ".join(extent.text for extent in cx.extents if extent.text != "1")


def _nonzero(value: int) -> list[str]:
    return [str(value)] if value else []


def _product(name: str, factor: int) -> str:
    return name if factor == 1 else f"{name} * {factor}"


def _store_inverse(cx: Context, array: SharedArray, inverse: Inverse, value: Scalar) -> None:
    valid = inverse.valid
    if valid and not valid.isidentifier():
        valid = cx.temporary(Scalar(valid, INT, True, COMPARE), "written").text
    one = inverse.writer.isdigit() and value.varying  # thread writes
    index = f"tl.where({valid}, {inverse.writer}, 0)" if valid and not one else inverse.writer
    picked = one and valid and not inverse.masked
    if index.isdigit() and not picked:
        index = f"tl.full([{array.size_text}], {index}, tl.int32)"
    if not inverse.writer.isidentifier() and (inverse.masked and value.varying):
        index = cx.temporary(Scalar(index, INT, True, ATOM if valid else SUM), "writer").text
    if picked:
        written = element(value.text, inverse.writer, array.element).text
    else:
        written = value.text if not value.varying else f"tl.gather({value.text}, {index}, 0)"
    conditions = [valid] if valid else []
    if inverse.masked:
        assert cx.mask is not None
        conditions.append(f"tl.gather({cx.mask.text}, {index}, 0)" if cx.mask.varying else cx.mask.within(AND))
    if not conditions:
        text = written if value.varying else _tensor(array, value)
    else:
        text = f"tl.where({' & '.join(conditions)}, {written}, {array.name})"
    cx.emit(Line(text, array.name, level=ATOM))


def _store_one(cx: Context, array: SharedArray, offset: Scalar, value: Scalar) -> None:
    """One element, the same value whoever writes it."""
    chosen = f"tl.arange(0, {array.size_text}) == {offset.within(OR)}"
    mask = cx.mask
    if mask is not None and cx.only_thread(mask) is None:
        some = mask.within(OR) if not mask.varying else f"(tl.max({mask.within(ATOM)}.to(tl.int32), axis=0) != 0)"
        chosen = f"({chosen}) & {some}"
    cx.emit(Line(f"tl.where({chosen}, {value.text}, {array.name})", array.name, level=ATOM))


def ask_for_memory(cx: Context, array: SharedArray) -> None:
    """Ask the next pass to keep the array in memory."""
    cx.decisions.scratch.add(array.key)


def _store_compared(cx: Context, array: SharedArray, offset: Scalar, value: Scalar) -> None:
    """Any index: compare each element with each thread's; of several writers the last thread's value stays."""
    if array.size is None or cx.padded is None or array.size * cx.padded > MOST_COMPARISONS:
        ask_for_memory(cx, array)
        return
    row = f"{offset.within(ATOM)}[None, :]" if offset.varying else offset.within(OR)
    hits = f"tl.arange(0, {array.size_text})[:, None] == {row}"
    if cx.mask is not None:
        mask = f"{cx.mask.within(ATOM)}[None, :]" if cx.mask.varying else cx.mask.within(AND)
        hits = f"({hits}) & {mask}"
    last = f"tl.max(tl.where({hits}, {cx.thread}[None, :], -1), axis=1)"
    writer = cx.temporary(Scalar(last, INT, True), "writer").text
    written = f"tl.gather({value.text}, tl.maximum({writer}, 0), 0)" if value.varying else value.text
    cx.emit(Line(f"tl.where({writer} >= 0, {written}, {array.name})", array.name, level=ATOM))
