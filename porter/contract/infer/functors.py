"""Reads the function objects that a source itself passes to an entry: `apply(Square<float>(), n, x)`."""

from __future__ import annotations

from collections.abc import Mapping

from porter.contract.analysis.elements import element_type
from porter.contract.analysis.usage import Usage
from porter.contract.model.syntax import Call, Name, Node
from porter.source.program import Function


def function_objects(usage: Usage, function: Function) -> Mapping[str, str]:
    """Returns the type parameters of `function` that a call in the file fills by an object made without arguments.

    An object that is made from arguments holds state that only its maker knows.
    """
    types = {t.name for t in function.template if t.kind.startswith("typename")}
    for caller in usage.program.host_functions if types else ():
        own = {t.name for t in caller.template}
        for name, arguments in usage.body(caller).calls:
            if name != function.name or len(arguments) != len(function.params):
                continue
            given = zip(function.params, arguments, strict=True)
            made = {p.type.base: _made(usage, a) for p, a in given if p.type.base in types and not p.type.pointers}
            objects = {type_: text for type_, text in made.items() if text and not own & set(_argument(text).split())}
            if objects:
                return objects
    return {}


def element_of(objects: Mapping[str, str]) -> str:
    """Returns the element type of the function objects, if their template argument is one; else empty."""
    return next((inner for inner in map(_argument, objects.values()) if element_type(inner) is not None), "")


def _made(usage: Usage, node: Node | None) -> str:
    """Returns `Square<float>` for `Square<float>()`; empty for anything else."""
    match node:
        case Call(Name(name, template), ()) if usage.is_class(name):
            return f"{name}<{template}>" if template else name
        case _:
            return ""


def _argument(type_: str) -> str:
    return type_.partition("<")[2].rpartition(">")[0].strip()
