"""What the names of a function that is run hold: values, and the places that pointers and references lead to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from porter.syntax.nodes import Expression, Name, TypeName
from porter.syntax.unit import FunctionTree, StructTree
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.parts import UnclearError, Value
from porter_triton.lower.types import BUILT_IN, Arithmetic

_BYTE = 8
ANY = TypeName("auto")


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of an element of an array, a shared one or a thread's own; `rows` are its extents if it is an array.

    `type` is that of a number in it, if it is known.
    """

    array: str
    offset: int = 0
    rows: tuple[int, ...] = ()
    type: TypeName = ANY

    def moved(self, steps: int) -> Pointer:
        """The address so many elements further."""
        return Pointer(self.array, self.offset + steps * math.prod(self.rows), self.rows, self.type) if steps else self

    def inside(self) -> Pointer:
        """The address of the first element of the array that lies there."""
        return replace(self, rows=self.rows[1:])


@dataclass(frozen=True, slots=True)
class Reference:
    """The address of a local variable."""

    frame: Frame = field(repr=False)
    name: str

    def moved(self, steps: int) -> Reference:
        """Itself; raises `UnclearError` for anything further."""
        if steps:
            raise UnclearError
        return self


Place = Pointer | Reference
Held = Value | Place | StructTree
Threads = tuple[int, ...]


@dataclass(eq=False)
class Frame:
    """One call of a function: its variables with a value a thread, and what threads have returned."""

    facts: Facts
    returns: TypeName
    outer: bool = False  # of the function in which a reduction is looked for
    variables: dict[str, dict[int, Held]] = field(default_factory=dict)
    types: dict[str, TypeName] = field(default_factory=dict)
    returned: dict[int, Held | None] = field(default_factory=dict)
    meant: dict[int, FunctionTree | None] = field(default_factory=dict)  # by the identity of calls

    def means_everywhere(self, node: Expression) -> bool:
        """Returns whether a constant has no name of a parameter of a template, which means nothing outside of the
        function.
        """
        own = {p.name for p in self.facts.parameters}
        return self.outer or not any(isinstance(n, Name | TypeName) and n.name in own for n in walk(node))


def seen_as(place: Pointer, kind: TypeName) -> Pointer:
    """The address as one of the type; raises `UnclearError` where the elements would be others."""
    wanted, own = BUILT_IN.get(kind.name), BUILT_IN.get(place.type.name)
    if kind.pointers != 1 or wanted is None or place.rows or wanted == own:
        return place  # a parameter of a template, or `void`
    raw = isinstance(own, Arithmetic) and own.bits == _BYTE and not place.offset
    if not isinstance(wanted, Arithmetic) or not (own is None or raw):
        raise UnclearError
    return replace(place, type=TypeName(kind.name))
