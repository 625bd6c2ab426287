"""What names are bound to, and the scopes that hold them."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.syntax.nodes import Lambda, TypeName
from porter_triton.lower.places import Place
from porter_triton.lower.types import Type
from porter_triton.lower.values import Address, Bits, Collective, Fields, Group, Scalar


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function by name, as an argument; `template` are the template arguments that it is named with."""

    name: str
    template: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda with the scopes it was written in."""

    node: Lambda
    scopes: tuple[Scope, ...]


Binding = Place | Fields | Address | Scalar | Bits | Group | Collective | Closure | FunctionName | TypeName | Type


@dataclass(slots=True)
class Scope:
    """Names declared in one block. `wall`: a function's outermost scope; what is outside is the caller's."""

    depth: int
    names: dict[str, Binding] = field(default_factory=dict)
    wall: bool = False
