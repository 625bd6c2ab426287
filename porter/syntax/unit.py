"""What a CUDA source and its local headers define, with bodies as trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from porter.source.program import Function, TemplateParam
from porter.syntax.nodes import Alias, Block, Parameter, TypeName, Variable


@dataclass(frozen=True, slots=True)
class FunctionTree:
    """A function definition; `head` is what the source room says about it (space, scope, template, spans)."""

    head: Function
    returns: TypeName
    parameters: tuple[Parameter, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class StructTree:
    """A struct or class: its fields in order and its methods (`operator()` among them), by name with scopes."""

    name: str
    template: tuple[TemplateParam, ...]
    fields: tuple[Variable, ...]
    methods: tuple[FunctionTree, ...]
    aliases: tuple[Alias, ...]
    bases: tuple[TypeName, ...]
    line: int


@dataclass(frozen=True)
class Unit:
    """Everything a body may refer to. Later definitions of one name are overloads, or for structs specialisations."""

    functions: tuple[FunctionTree, ...]
    structs: tuple[StructTree, ...]
    aliases: tuple[Alias, ...]
    variables: tuple[Variable, ...]

    @cached_property
    def kernels(self) -> tuple[FunctionTree, ...]:
        """The `__global__` functions."""
        return tuple(f for f in self.functions if f.head.space == "global")

    def named(self, name: str) -> tuple[FunctionTree, ...]:
        """Every function called `name`, plain or qualified, in the order of definition."""
        plain = name.rsplit("::", maxsplit=1)[-1]
        return tuple(f for f in self.functions if f.head.name == plain and f.head.qualified.endswith(name))

    def struct(self, name: str) -> tuple[StructTree, ...]:
        """The struct called `name` and its specialisations."""
        plain = name.rsplit("::", maxsplit=1)[-1]
        return tuple(s for s in self.structs if s.name.split("::")[-1] == plain)
