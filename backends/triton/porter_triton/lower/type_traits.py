"""What the standard library says of types, as truth values."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Name, TypeName
from porter_triton.lower import resolve
from porter_triton.lower.context import Context
from porter_triton.lower.places import Held
from porter_triton.lower.types import BOOL, Arithmetic, Pointer, Type
from porter_triton.lower.values import number


def place(cx: Context, node: Name) -> Held | None:
    """The value of `std::is_same<A, B>::value` or `std::is_same_v<A, B>` and its like; None for any other name."""
    plain = unqualified(node.name.removesuffix("::value").removesuffix("_v"))
    if plain not in _ASKED or not all(isinstance(a, TypeName) for a in node.template):
        return None
    types = [resolve.type_of(cx, a, node.line) for a in node.template if isinstance(a, TypeName)]
    if len(types) != (2 if plain == "is_same" else 1):
        return None
    return Held(number(types[0] == types[1] if plain == "is_same" else _holds(plain, types[0]), BOOL))


_ASKED = frozenset(
    {"is_same", "is_floating_point", "is_integral", "is_arithmetic", "is_signed", "is_unsigned"} | {"is_pointer"}
)


def _holds(asked: str, type_: Type) -> bool:
    if asked == "is_pointer":
        return isinstance(type_, Pointer)
    if not isinstance(type_, Arithmetic) or type_.is_narrow:  # to C++ a half is a class
        return False
    return {
        "is_floating_point": type_.is_float,
        "is_integral": not type_.is_float,
        "is_arithmetic": True,
        "is_signed": type_.is_float or type_.kind == "int",
        "is_unsigned": type_.kind in {"uint", "bool"},
    }[asked]
