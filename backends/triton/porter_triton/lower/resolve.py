"""What type a name of the source means where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import Expression, TypeName
from porter_triton.lower import accessors, expressions, structs, tuples
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Suite
from porter_triton.lower.types import (
    BUILT_IN,
    FLOAT,
    UINT,
    UINT8,
    UINT16,
    ULONG,
    Arithmetic,
    Array,
    Pointer,
    Record,
    Type,
)
from porter_triton.lower.values import Bits, Fields, Scalar, number
from porter_triton.refusal import Refusal

_SAME = frozenset({"remove_const", "remove_cv", "remove_reference", "decay", "add_const", "remove_cvref"})
_ACCUMULATORS = frozenset({"acc_type", "opmath_type", "acc_type_device", "OpMathType"})
_MOST_DEPTH = 32


def type_of(cx: Context, name: TypeName, line: int, depth: int = 0) -> Type:
    """The type `name` means, template parameters and aliases followed."""
    if depth > _MOST_DEPTH:
        raise Refusal(line, f"`{name.name}` is defined by itself")
    found = _named(cx, name, line, depth)
    for _ in range(name.pointers):
        found = Pointer(found)
    return found


def _named(cx: Context, name: TypeName, line: int, depth: int) -> Type:
    bound = cx.find(name.name)
    if isinstance(bound, TypeName):
        meant = replace(bound, arguments=name.arguments) if name.arguments and not bound.arguments else bound
        return type_of(cx, meant, line, depth + 1)
    if isinstance(bound, Arithmetic | Pointer | Record | Array) and not name.arguments:
        return bound
    if name.name in BUILT_IN:
        return BUILT_IN[name.name]
    if name.name == "decltype":
        return _type_of_value(cx, name.arguments[0], line)
    if (library := accessors.record(cx, name, line) or tuples.record(cx, name, line)) is not None:
        return library
    found = _transformed(cx, name, line, depth) or _aliased(cx, name, line, depth)
    found = found or structs.nested(cx, name, line) or structs.record(cx, name, line)
    if found is None and "::" in name.name:
        owner, member = name.name.rsplit("::", 1)
        found = structs.member_type(cx, owner, name.arguments, member, line)
    if found is None:
        raise Refusal(line, f"the type `{name.name}` is not known")
    return found


def _type_of_value(cx: Context, node: TypeName | Expression, line: int) -> Type:
    """The type of an expression, of which nothing is computed."""
    if isinstance(node, TypeName):
        return type_of(cx, node, line)
    with cx.into(Suite(), python=False):
        found = expressions.value(cx, node)
    if not isinstance(found, Scalar | Fields | Bits):
        raise Refusal(line, "the type of an expression is not known")
    return found.type


def told(cx: Context, nodes: Iterable[Expression], line: int) -> Type | None:
    """The type that all of `nodes` have, from the first that can be told before anything runs; None where none can."""
    for node in nodes:
        with suppress(Refusal):
            return _type_of_value(cx, node, line)
    return None


def _transformed(cx: Context, name: TypeName, line: int, depth: int) -> Type | None:
    """The standard's and torch's functions of types."""
    stem = unqualified(name.name.removesuffix("::type")).removesuffix("_t")
    if stem == "aligned_storage" and name.arguments:
        return _storage(cx, name, line)
    if not name.arguments or not isinstance(name.arguments[0], TypeName):
        return _conditional(cx, name, line, depth) if stem == "conditional" else None
    if stem in _SAME:
        return type_of(cx, name.arguments[0], line, depth + 1)
    if stem in _ACCUMULATORS:
        inner = type_of(cx, name.arguments[0], line, depth + 1)
        return FLOAT if isinstance(inner, Arithmetic) and inner.is_narrow else inner
    return None


def _storage(cx: Context, name: TypeName, line: int) -> Type | None:
    """So many bytes, as the largest numbers that fill them: whatever is copied there stays what it is."""
    bytes_ = expressions.constant(cx, name.arguments[0], line).constant
    if not isinstance(bytes_, int) or bytes_ < 1:
        return None
    part = next(t for t in (ULONG, UINT, UINT16, UINT8) if bytes_ % (t.bits // 8) == 0)
    wanted = expressions.constant(cx, name.arguments[1], line).constant if len(name.arguments) > 1 else None
    aligned = wanted if isinstance(wanted, int) else 0
    return Record(name.name, (("storage", Array(part, (bytes_ // (part.bits // 8),))),), alignment=aligned)


def _conditional(cx: Context, name: TypeName, line: int, depth: int) -> Type | None:
    test, yes, no = name.arguments
    chosen = yes if expressions.constant(cx, test, line).constant else no
    return type_of(cx, chosen, line, depth + 1) if isinstance(chosen, TypeName) else None


def _aliased(cx: Context, name: TypeName, line: int, depth: int) -> Type | None:
    for alias in reversed(cx.unit.aliases):
        if unqualified(alias.name) != unqualified(name.name):
            continue
        if not alias.template:
            return type_of(cx, alias.type, line, depth + 1)
        given = structs.arguments(cx, name.arguments, line)
        with cx.scope(wall=True):
            for parameter, argument in zip(alias.template, given, strict=False):
                cx.bind(parameter, argument)
            return type_of(cx, alias.type, line, depth + 1)
    return None


def extents(cx: Context, given: tuple[object, ...], line: int) -> tuple[int, ...]:
    """The extents of an array, which must be known."""
    sizes = []
    for extent in given:
        value = expressions.constant(cx, extent, line) if extent is not None else None  # type: ignore[arg-type]
        if value is None or not isinstance(value.constant, int):
            raise Refusal(line, "the size of an array is not known")
        sizes.append(value.constant)
    return tuple(sizes)


def default_argument(cx: Context, text: str, known: dict[str, structs.Argument], line: int) -> structs.Argument | None:
    """A template parameter's default, which is text; None where it is more than a name or a number."""
    text = text.strip()
    if re.fullmatch(r"-?\d+", text):
        return number(int(text))
    if text in {"true", "false"}:
        return number(text == "true", BUILT_IN["bool"])  # type: ignore[arg-type]
    if text in known:
        return known[text]
    if re.fullmatch(r"[\w:]+(?: \w+)*", text):
        return structs.arguments(cx, (TypeName(text),), line)[0]
    return None
