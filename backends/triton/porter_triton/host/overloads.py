"""Tells which of several host functions of one name a call means."""

from __future__ import annotations

from porter.syntax.nodes import TypeName
from porter.syntax.unit import FunctionTree
from porter_triton.host.c_types import Arithmetic, Record, Type
from porter_triton.host.codes import Code, Kind
from porter_triton.host.scope import Context, Template


def fits(cx: Context, function: FunctionTree, arguments: tuple[Code, ...]) -> bool:
    """Returns whether a function takes that many arguments, and pointers to that where it wants pointers, nowhere
    else.
    """
    required = sum(p.default is None for p in function.parameters)
    if not required <= len(arguments) <= len(function.parameters):
        return False
    names = {p.name for p in function.head.template}
    for parameter, argument in zip(function.parameters, arguments, strict=False):
        if parameter.type.name in names:  # which may be the name of another type here
            if parameter.type.pointers and not _may_be(parameter.type.pointers, argument):
                return False
            continue
        wanted = cx.type(parameter.type)
        kind = cx.built_in(wanted)
        if isinstance(kind, Arithmetic) and not _may_be(wanted.pointers, argument):
            return False
        if argument.kind is Kind.RECORD and not wanted.pointers and _is_other(cx, kind, argument):
            return False
        if wanted.name == "dim3" and argument.is_number:
            continue
        if isinstance(kind, Record) and not wanted.pointers and argument.is_number:  # no number becomes a vector
            return False
        if argument.kind is Kind.POINTER and argument.ctype is not None:
            given = cx.type(argument.ctype)
            if wanted.pointers and "void" not in (wanted.name, given.name) and not _alike(cx, wanted, given):
                return False
    return True


def _may_be(pointers: int, argument: Code) -> bool:
    """Returns whether an argument may be a number, or a pointer to one where `pointers`: 0 is a null pointer, too."""
    if pointers:
        return not argument.is_number or argument.constant == 0
    return argument.kind not in (Kind.POINTER, Kind.NOTHING)


def _is_other(cx: Context, wanted: Type | None, argument: Code) -> bool:
    """Returns whether a struct or vector is not of the type `wanted`, which is CUDA's or C's."""
    given = cx.built_in(argument.ctype) if argument.ctype is not None else None
    return given != wanted and (wanted is not None or given is not None)


def _alike(cx: Context, wanted: TypeName, given: TypeName) -> bool:
    """Returns whether two pointers point to the same type, however it is spelled."""
    types = [cx.built_in(TypeName(t.name, t.arguments)) for t in (wanted, given)]
    return wanted.name == given.name or (types[0] is not None and types[0] == types[1])


def specialised(cx: Context, function: FunctionTree, explicit: Template) -> bool:
    """Returns whether a specialisation is the one for these template arguments."""
    own = tuple(cx.type(a) if isinstance(a, TypeName) else a for a in function.arguments)
    return [str(a) for a in own[: len(explicit)]] == [str(a) for a in explicit]
