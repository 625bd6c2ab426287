"""Functions declared apart from their definitions: default arguments may stand in either place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from porter.source.program import TemplateParam
from porter.syntax.nodes import Expression, Parameter, TypeName
from porter.syntax.unit import FunctionTree


@dataclass(frozen=True, slots=True)
class Prototype:
    """A declaration `void f(int n, int m = 4);`; `qualified` is the name with its scopes."""

    qualified: str
    template: tuple[TemplateParam, ...]
    parameters: tuple[Parameter, ...]


def with_defaults(functions: Sequence[FunctionTree], prototypes: Sequence[Prototype]) -> tuple[FunctionTree, ...]:
    """`functions`, each with the defaults that declarations of the same parameters give it."""
    by_name: dict[str, list[Prototype]] = {}
    for prototype in prototypes:
        by_name.setdefault(prototype.qualified, []).append(prototype)
    return tuple(_completed(f, by_name.get(f.head.qualified, ())) for f in functions)


def _completed(function: FunctionTree, prototypes: Sequence[Prototype]) -> FunctionTree:
    parameters = function.parameters
    own = _signature(parameters, function.head.template)
    for prototype in prototypes:
        if _signature(prototype.parameters, prototype.template) == own:
            pairs = zip(parameters, prototype.parameters, strict=True)
            parameters = tuple(replace(p, default=p.default or declared.default) for p, declared in pairs)
    return function if parameters is function.parameters else replace(function, parameters=parameters)


def _signature(parameters: tuple[Parameter, ...], template: tuple[TemplateParam, ...]) -> tuple[TypeName, ...]:
    """The types of parameters, those of a template by their position in its head."""
    positions = {p.name: f"@{i}" for i, p in enumerate(template) if p.name}
    return tuple(_renamed(p.type, positions, outermost=True) for p in parameters)


def _renamed(type_: TypeName, positions: dict[str, str], *, outermost: bool = False) -> TypeName:
    """`type_` with parameters of a template by position, without the `const` of a copy, which is no part of a type."""

    def argument(of: TypeName | Expression) -> TypeName | Expression:
        return _renamed(of, positions) if isinstance(of, TypeName) else of

    copied = outermost and not type_.pointers and not type_.reference
    name, arguments = positions.get(type_.name, type_.name), tuple(map(argument, type_.arguments))
    return replace(type_, name=name, arguments=arguments, const=type_.const and not copied)
