"""Variables of one value come into being, with what is known of them as long as nothing changes them."""

from __future__ import annotations

from dataclasses import replace

from porter_triton.lower import access, sums
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.emit import Kind, Line
from porter_triton.lower.intervals import affine_of
from porter_triton.lower.places import Held, Variable
from porter_triton.lower.types import INT, Arithmetic, Pointer
from porter_triton.lower.values import Scalar, number


def declare(cx: Context, name: str, type_: Arithmetic | Pointer, node: object, value: Scalar | None, *, stable: bool,
            line: int, part: str = "") -> Variable | Held:  # fmt: skip
    """A scalar variable, or where it is but another name for a value that does not change, that value."""
    if value is not None:
        value = convert(value, type_, line)
    if stable and value is not None and (value.constant is not None or _another_name(cx, value)):
        return Held(value)
    key = cx.key(node, part)
    varying = key in cx.decisions.varying
    if stable and value is not None:
        varying = value.varying
        if value.held is None or not value.known_within(0, INT.high):
            value = settled(value)
    held = value.held if stable and value is not None else None
    kind = (held or type_, varying)
    variable = Variable(cx.names.declare(name, kind), type_, key, cx.depth, varying, stable)
    if value is None:
        _clear(cx, variable)
        cx.fresh.append(variable)
    elif stable:
        variable.known = known(cx, value)
        variable.fresh = False
        cx.unchanged.add(variable.name)
        cx.emit(Line(value.text, variable.name, level=value.level, value=Kind(type_, varying)))
    else:
        access.assign(cx, variable, value, line)
        sums.begin(cx, variable, value)
    if not stable:
        variable.home = cx.suite
    return variable


def _another_name(cx: Context, value: Scalar) -> bool:
    """A name that stays, or what Triton knows of such: in a variable of its own it would no longer know it."""
    if value.static:
        return value.names - {"is", "not", "None"} <= cx.unchanged
    return value.is_name and value.text in cx.unchanged


def _clear(cx: Context, variable: Variable) -> None:
    """Give an uninitialised variable the type it will keep; dropped where every path assigns it."""
    if isinstance(variable.type, Arithmetic):
        text, level = access.typed(cx, number(0, variable.type), variable)
        cx.emit(Line(text, variable.name, level=level, value=Kind(variable.type, variable.varying)))


def known(cx: Context, value: Scalar) -> Scalar:
    """Returns what of `value` stays true of a variable that holds it."""
    affine = affine_of(value) if value.affine is not None or not value.varying else None
    if affine is not None and not all(_unchanging(cx, text) for text, _ in affine.rest):
        rest = tuple((text if _unchanging(cx, text) else _now(cx, text), factor) for text, factor in affine.rest)
        affine = replace(affine, rest=tuple(sorted(rest)))
    return replace(value, affine=affine)


def _now(cx: Context, text: str) -> str:
    """A name for what a uniform number is here; dropped again if nobody asks."""
    return cx.temporary(Scalar(text, INT, level=0), "start").text


def _unchanging(cx: Context, text: str) -> bool:
    return all(cx.unchanging(name) for name in Scalar(text, INT).names)
