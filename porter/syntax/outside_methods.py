"""Methods that are defined outside of their class, `float Foo::twice(float x) { ... }`, as methods of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from porter.syntax.unit import FunctionTree, StructTree


def with_outside_methods(structs: Iterable[StructTree], functions: Iterable[FunctionTree]) -> tuple[StructTree, ...]:
    """Returns the classes with the methods that `functions` define for them, behind those of their own bodies.

    The template parameters of a class go behind those of the method itself, with the class's as their defaults: the
    method may call them by other names.
    """
    outside: dict[str, list[FunctionTree]] = {}
    for function in functions:
        if function.head.scope:
            outside.setdefault("::".join(function.head.scope), []).append(function)
    return tuple(_with(struct, outside.get(struct.name, ())) for struct in structs)


def _with(struct: StructTree, outside: Iterable[FunctionTree]) -> StructTree:
    if struct.arguments:  # of a specialisation, whose methods say `Foo<int>::`
        return struct
    found = [method for one in outside if (method := _method(struct, one)) is not None]
    return replace(struct, methods=(*struct.methods, *found)) if found else struct


def _method(struct: StructTree, function: FunctionTree) -> FunctionTree | None:
    """Returns a function as a method of `struct`; None for one of other arguments than its parameters."""
    count = len(struct.template)
    theirs, own = function.head.template[:count], function.head.template[count:]
    given = tuple(getattr(argument, "name", "") for argument in function.arguments)
    if given != tuple(parameter.name for parameter in theirs) or len(theirs) != count:
        return None
    pairs = zip(theirs, struct.template, strict=True)
    bound = tuple(replace(parameter, default=known.name) for parameter, known in pairs)
    return replace(function, head=replace(function.head, template=(*own, *bound)), arguments=())
