"""Neighbouring elements of memory, which a device moves in one access of up to 16 bytes a lane."""

from __future__ import annotations

from porter_triton.device.helper_calls import GIVEN
from porter_triton.lower import memory
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.emit import Line
from porter_triton.lower.types import BOOL, Arithmetic, Pointer
from porter_triton.lower.values import ATOM, Scalar

_WIDTHS = (8, 4, 2)  # that have a helper
_MOST_BITS = 128  # what a device moves at once; wider tiles would pass through shared memory


def load(cx: Context, pointers: list[Scalar], alignment: int | None) -> list[Scalar]:
    """Returns what `pointers`, one behind the other, point to; `alignment` in bytes is that of the first, where it
    is known.
    """
    width = _width(pointers)
    if not _at_once(cx, pointers[0], width) or all(cx.loaded(p.text) is not None for p in pointers):
        return [memory.load_one(cx, p, width) for p in pointers]
    loose = _loose(pointers, alignment)
    return [v for k in range(0, len(pointers), width) for v in _load_row(cx, pointers[k : k + width], loose)]


def _load_row(cx: Context, pointers: list[Scalar], loose: str) -> list[Scalar]:
    width = len(pointers)
    memory.before_load(cx, pointers[0], width)
    cx.loaded_bits += width * _element(pointers[0]).bits
    text = f"{_helper(cx, f'load{width}', loose)}({pointers[0].text}{_mask(cx)}{loose})"
    name = cx.names.temporary("values")
    cx.emit(Line(text, name, loads=True, count=width, bases=pointers[0].bases))
    values = [Scalar(f"{name}[{k}]", _element(pointers[0]), True, ATOM) for k in range(width)]
    for pointer, value in zip(pointers, values, strict=True):
        cx.loads[pointer.text] = (value, cx.mask.text if cx.mask is not None else "")
    return values


def store(cx: Context, pointers: list[Scalar], held: Arithmetic, values: list[Scalar], alignment: int | None) -> None:
    """Write `values`, storable as `held`, to `pointers`, which are as those of `load`."""
    width = _width(pointers)
    if not _at_once(cx, pointers[0], width):
        for pointer, value in zip(pointers, values, strict=True):
            memory.store_one(cx, pointer, value, width)
        return
    for k in range(0, len(pointers), width):
        memory.before_store(cx, pointers[k], width)
        texts = ", ".join(_spread(cx, value, held) for value in values[k : k + width])
        loose = _loose(pointers, alignment)
        text = f"{pointers[k].text}, {texts}{_mask(cx)}{loose}"
        cx.emit(Line(f"{_helper(cx, f'store{width}', loose)}({text})", effect=True))


def _width(pointers: list[Scalar]) -> int:
    """Returns how many a lane takes at once, told alike before it is known that lanes differ."""
    element = _element(pointers[0])
    fitting = (w for w in _WIDTHS if len(pointers) % w == 0 and w * element.bits <= _MOST_BITS)
    return 1 if element is BOOL else next(fitting, 1)


def _loose(pointers: list[Scalar], alignment: int | None) -> str:
    """Returns what a helper is told where nothing says that all its elements can be moved in one access."""
    bytes_ = _width(pointers) * _element(pointers[0]).bits // 8
    return "" if alignment is not None and alignment % bytes_ == 0 else ", loose=True"


def _at_once(cx: Context, first: Scalar, width: int) -> bool:
    """Returns whether each lane has an address of its own for `width` elements."""
    uniform_mask = cx.mask is not None and not cx.mask.varying
    return width > 1 and first.varying and not uniform_mask


def _element(pointer: Scalar) -> Arithmetic:
    assert isinstance(pointer.type, Pointer)
    assert isinstance(pointer.type.element, Arithmetic)
    return pointer.type.element


def _helper(cx: Context, name: str, loose: str) -> str:
    """The helper that takes a mask, or none, and what `_loose` says."""
    return cx.helper(name, mask="None" if cx.mask is None else GIVEN, loose=str(bool(loose)))


def _mask(cx: Context) -> str:
    return "" if cx.mask is None else f", {cx.mask.text}"


def _spread(cx: Context, value: Scalar, held: Arithmetic) -> str:
    """The text of `value` with an element a thread, of exactly the type that is stored."""
    if not value.varying:
        return f"tl.full([{cx.block}], {value.text}, {held.triton})"
    if value.carried == held:
        return value.text
    return convert(value, held).text if value.type != held else f"{value.within(ATOM)}.to({held.triton})"
