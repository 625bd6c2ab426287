"""Pairs and tuples of the standard library, of Thrust and of libcu++, as structs."""

from __future__ import annotations

from collections.abc import Sequence

from porter.ir.simt.builder import expressions, resolve
from porter.ir.simt.builder.c_types import CType, Record, spelled
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import Fields, Number, RValue
from porter.syntax.nodes import Call, Name, TypeName

_SPACES = ("std", "thrust", "cuda::std")
_PAIR = ("first", "second")


def record(b: Builder, name: TypeName, line: int) -> Record | None:
    """Returns the struct that `std::tuple<A, B>` or `std::pair<A, B>` is; None for other types."""
    plain = _plain(name.name)
    types = [given for given in name.arguments if isinstance(given, TypeName)]
    if plain not in ("tuple", "pair") or len(types) != len(name.arguments):
        return None
    return _of(name.name, [resolve.type_of(b, given, line) for given in types])


def _of(name: str, types: Sequence[CType]) -> Record:
    names = _PAIR if name.endswith("pair") else tuple(f"at{number}" for number in range(len(types)))
    arguments = tuple(given for type_ in types if (given := spelled(type_)) is not None)
    return Record(name, tuple(zip(names, types, strict=True)), arguments=arguments)


def call(b: Builder, callee: Name, node: Call) -> RValue | None:
    """Returns the value of `make_tuple(a, b)`, `make_pair(a, b)` or `get<0>(t)`; None for other functions."""
    plain = _plain(callee.name)
    if plain in ("make_tuple", "make_pair"):
        space = callee.name.removeprefix("::").rpartition("::")[0]
        return _made(b, f"{space}::{plain.removeprefix('make_')}", node)
    if plain == "get" and len(callee.template) == 1 and len(node.arguments) == 1:
        return _part(b, callee, node)
    return None


def _made(b: Builder, name: str, node: Call) -> RValue:
    values = [expressions.value(b, argument) for argument in node.arguments]
    held = [value for value in values if isinstance(value, Number | Fields)]
    if len(held) != len(values):
        raise b.problem("a tuple of what is neither a number, a pointer nor a struct", node.line)
    type_ = _of(name, [value.type for value in held])
    return Fields(type_, tuple((part, value) for (part, _), value in zip(type_.fields, held, strict=True)))


def _part(b: Builder, callee: Name, node: Call) -> RValue:
    index = expressions.constant(b, callee.template[0])
    whole = expressions.value(b, node.arguments[0])
    if not isinstance(whole, Fields) or not isinstance(index, int) or not 0 <= index < len(whole.parts):
        raise b.problem("'get' of what is not a tuple", node.line)
    return whole.parts[index][1]


def _plain(name: str) -> str:
    space, _, plain = name.removeprefix("::").rpartition("::")
    return plain if space in _SPACES else ""
