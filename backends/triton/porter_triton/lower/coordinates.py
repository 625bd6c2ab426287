"""The thread's coordinates: a tensor of thread numbers, taken apart by the extents of the block."""

from __future__ import annotations

from dataclasses import replace

from porter_triton.lower.affine import UNBOUNDED, Affine, Digit, thread_digit
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.context import Context, Frame
from porter_triton.lower.emit import Line
from porter_triton.lower.launch import LoweredParameter, ParameterKind
from porter_triton.lower.types import BOOL, INT, UINT
from porter_triton.lower.values import COMPARE, Scalar, number

_AXES = "xyz"


def begin(cx: Context) -> None:
    """Declare the block's extents and emit the thread's coordinates."""
    dimensions = cx.launch.block
    cx.extents = tuple(_extent(cx, i) for i in range(3))
    known = [d.value for d in dimensions if d.value is not None]
    if len(known) == 3:
        cx.threads = known[0] * known[1] * known[2]
        cx.padded = 1 << (cx.threads - 1).bit_length()
    flat = all(d.value == 1 for d in dimensions[1:])
    exact = all(d.is_power for d in dimensions)
    if flat and exact:
        cx.threads_text = cx.extents[0].text
    elif cx.padded is not None and not any(d.name for d in dimensions):
        cx.threads_text = str(cx.padded)
    else:
        cx.threads_text = cx.names.declare("THREADS", "constexpr")
        cx.parameters.append(LoweredParameter(cx.threads_text, ParameterKind.THREADS))
    cx.emit(Line(f"tl.arange(0, {cx.threads_text})", cx.thread))
    cx.unchanged.add(cx.thread)
    _take_apart(cx, flat)
    if not exact:
        total = " * ".join(e.text for e in cx.extents if e.text != "1") or "1"
        mask = cx.temporary(Scalar(f"{cx.thread} < {total}", BOOL, True, COMPARE), "inside")
        cx.frames.append(Frame(mask, 0))
        cx.inside = mask.text


def _extent(cx: Context, axis: int) -> Scalar:
    dimension = cx.launch.block[axis]
    if not dimension.name:
        return number(dimension.value or 1, UINT)
    cx.parameters.append(LoweredParameter(dimension.name, ParameterKind.BLOCK, source=_AXES[axis]))
    cx.unchanged.add(dimension.name)
    value = dimension.value
    few = dimension.sizes or (1, 1024)
    interval = (few[0], few[-1]) if value is None else (value, value)
    affine = None if value is None else Affine(offset=value)
    return Scalar(dimension.name, UINT, held=INT, interval=interval, affine=affine, loose=True)


def _take_apart(cx: Context, flat: bool) -> None:
    """The coordinates as expressions of the thread's number."""
    values: list[Scalar] = []
    whole = Scalar(cx.thread, INT, True, interval=(0, (cx.threads or 1024) - 1))
    divisor: int | None = 1
    rest = whole
    for axis, extent in enumerate(cx.launch.block):
        last = all(d.value == 1 for d in cx.launch.block[axis + 1 :])
        if extent.value == 1:
            values.append(number(0, UINT))
            continue
        digit = None
        if divisor is not None and (last or extent.value is not None):
            digit = thread_digit(divisor, extent.value or UNBOUNDED, last)
        part = rest if last else binary("%", rest, cx.extents[axis], 0)
        if not flat:
            name = f"t{_AXES[axis]}"
            cx.emit(Line(part.text, name, level=part.level))
            cx.unchanged.add(name)
            part = Scalar(name, INT, True)
        high = (extent.value or 1024) - 1
        values.append(Scalar(part.text, UINT, True, held=INT, interval=(0, high), affine=digit, level=part.level))
        if digit is not None and digit.digit is not None:
            cx.digits[digit.digit] = Scalar(part.text, INT, True, part.level, interval=(0, high), affine=digit)
        if not last:
            rest = binary("/", rest, cx.extents[axis], 0)
            divisor = divisor * extent.value if divisor is not None and extent.value is not None else None
    cx.coordinates = tuple(values)
    if cx.threads is not None:
        top = thread_digit(1, cx.threads, top=True)
        if top.digit is not None:
            cx.digits.setdefault(top.digit, Scalar(cx.thread, INT, True, interval=whole.interval, affine=top))


def rank(cx: Context) -> Scalar:
    """The thread's number in its block."""
    known = thread_digit(1, cx.threads or UNBOUNDED, top=True)
    return Scalar(cx.thread, UINT, True, held=INT, interval=(0, (cx.threads or 1024) - 1), affine=known)


def text_of(cx: Context, terms: tuple[tuple[Digit, int], ...]) -> Scalar:
    """A sum of digits as an expression."""
    total: Scalar | None = None
    for digit, coefficient in terms:
        part = cx.digits.get(digit)
        if part is None:
            part = replace(rank(cx), type=INT, held=None)
            part = binary("/", part, number(digit.divisor), 0)
            if not digit.top:
                part = binary("%", part, number(digit.modulus), 0)
        part = binary("*", part, number(coefficient), 0)
        total = part if total is None else binary("+", total, part, 0)
    return total if total is not None else number(0)
