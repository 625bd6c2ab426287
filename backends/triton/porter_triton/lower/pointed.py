"""Pointers that are declared without a value, or null, and set later."""

from __future__ import annotations

from dataclasses import replace

from porter_triton.lower import access
from porter_triton.lower.context import Context
from porter_triton.lower.places import Pointed, Variable
from porter_triton.lower.types import Pointer
from porter_triton.lower.values import UNSET, Address, Value
from porter_triton.refusal import Refusal


def declare(cx: Context, name: str, type_: Pointer, node: object, part: str = "") -> Variable | Pointed:
    """A pointer that nothing is emitted for: there is no value that Python could give it."""
    key = cx.key(node, part)
    if key in cx.decisions.pointed:
        return Pointed(name, cx.depth, cx.python_depth)
    varying = key in cx.decisions.varying
    python = cx.names.declare(name, (type_, varying))
    variable = Variable(python, type_, key, cx.depth, varying, bases=frozenset({UNSET}))
    cx.fresh.append(variable)
    return variable


def ask(cx: Context, variable: Variable, value: Address, line: int) -> None:
    """Tell the next pass that a pointer set later is given the address of registers or of a shared array."""
    if UNSET not in variable.bases:
        access.scalar(value, line)  # says why not
    cx.decisions.pointed.add(variable.key)


def load(place: Pointed, line: int) -> Address:
    """Returns where the pointer points now."""
    if place.address is None:
        raise Refusal(line, f"the pointer `{place.name}` is used before it is set")
    return place.address


def store(cx: Context, place: Pointed, value: Value, line: int) -> None:
    """Point elsewhere: anew only where all that can read it has come this way."""
    if not isinstance(value, Address):
        raise Refusal(line, f"`{place.name}` points to memory here and to registers or shared memory there")
    held = place.address
    same = held is not None and held.place is value.place and _text(held) == _text(value)
    straight = cx.python_depth == place.level and cx.mask_for(place.depth) is None
    if held is not None and not same and not straight:
        raise Refusal(line, f"the pointer `{place.name}` is set to point elsewhere in a branch or loop")
    if not access.is_stable(cx, value.offset):
        value = replace(value, offset=cx.temporary(value.offset))
    place.address = value


def _text(address: Address) -> tuple[str, object]:
    return address.offset.text, address.view
