"""Tuples and pairs of the standard library, Thrust and libcu++, as records."""

from __future__ import annotations

from porter.syntax.nodes import Call, Name, TypeName
from porter_triton.lower import expressions, resolve
from porter_triton.lower.context import Context
from porter_triton.lower.types import Record, Type
from porter_triton.lower.values import Bits, Fields, Scalar, Value
from porter_triton.refusal import Refusal

_SPACES = ("std", "thrust", "cuda::std")
_PAIR = ("first", "second")


def record(cx: Context, name: TypeName, line: int) -> Record | None:
    """The record that `std::tuple<A, B>` or `std::pair<A, B>` means; None for any other type."""
    plain = _plain(name.name)
    if plain not in ("tuple", "pair") or not all(isinstance(a, TypeName) for a in name.arguments):
        return None
    return _of(plain, [resolve.type_of(cx, a, line) for a in name.arguments if isinstance(a, TypeName)])


def _of(plain: str, types: list[Type]) -> Record:
    names = _PAIR if plain == "pair" and len(types) == 2 else tuple(map(str, range(len(types))))
    return Record(plain, tuple(zip(names, types, strict=True)))


def call(cx: Context, callee: Name, node: Call) -> Value | None:
    """`make_tuple(a, b)`, `make_pair(a, b)` and `get<0>(t)`; None for any other function."""
    plain = _plain(callee.name)
    if plain in ("make_tuple", "make_pair"):
        values = [expressions.value(cx, argument) for argument in node.arguments]
        if not all(isinstance(v, Scalar | Fields | Bits) for v in values):
            raise Refusal(node.line, "a tuple holds what is neither a number, a pointer nor a struct")
        made = _of(plain.removeprefix("make_"), [v.type for v in values if isinstance(v, Scalar | Fields | Bits)])
        return Fields(made, tuple((n, v) for (n, _), v in zip(made.fields, values, strict=True)))
    if plain != "get" or len(callee.template) != 1 or len(node.arguments) != 1:
        return None
    whole, index = expressions.value(cx, node.arguments[0]), callee.template[0]
    number = None if isinstance(index, TypeName) else expressions.constant(cx, index, node.line).constant
    if not isinstance(whole, Fields) or type(number) is not int or number >= len(whole.values):
        raise Refusal(node.line, "`get` of what is not a tuple")
    return whole.values[number][1]


def _plain(name: str) -> str:
    space, _, plain = name.rpartition("::")
    return plain if space in _SPACES else ""
