"""Expressions while a function is built: values, and places that values can be put in."""

from __future__ import annotations

from dataclasses import dataclass

from porter.ir.simt.builder.c_types import ArrayOf, CType, PointerTo, Record
from porter.ir.simt.ops import Value
from porter.ir.simt.types import Scalar
from porter.syntax.nodes import Alias, Expression, Lambda, TypeName


@dataclass(frozen=True, slots=True)
class Number:
    """A number or a pointer. A pointer's IR type says where it points to, `type` to what."""

    value: Value
    type: Scalar | PointerTo


@dataclass(frozen=True, slots=True)
class Fields:
    """A struct, taken apart; of a union the field that takes most bytes."""

    type: Record
    parts: tuple[tuple[str, RValue], ...]

    def part(self, name: str) -> RValue:
        """The value of a field."""
        return dict(self.parts)[name]


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of an array that is a part of a struct; those of several dimensions one row behind the other."""

    type: ArrayOf
    parts: tuple[RValue, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """The result of a function that returns none."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal."""

    text: str


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function, by its name, and the template arguments written behind it."""

    name: str
    template: tuple[TypeName | Expression, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Closure:
    """A lambda and the scopes that it was written in."""

    node: Lambda
    scopes: tuple[object, ...]


Callable = FunctionName | Closure


@dataclass(frozen=True, slots=True)
class OneOf:
    """The function at an index, which only a run knows."""

    index: Number
    functions: tuple[Callable, ...]


@dataclass(frozen=True, slots=True)
class FunctionTable:
    """An array of functions."""

    functions: tuple[RValue, ...]


RValue = OneOf | FunctionTable | Number | Fields | Elements | Nothing | Text | FunctionName | Closure


@dataclass(frozen=True, eq=False, slots=True)
class Slot:
    """A variable that is assigned to: what it holds is known at each place of the function."""

    name: str
    type: Scalar | PointerTo


@dataclass(frozen=True, slots=True)
class EitherSlot:
    """One of two variables of numbers, as `decision` says."""

    decision: Number
    yes: Slot
    no: Slot

    @property
    def type(self) -> Scalar | PointerTo:
        """Returns the type of both."""
        return self.yes.type


@dataclass(frozen=True, slots=True)
class Parts:
    """A struct's variable, taken apart."""

    type: Record
    places: tuple[tuple[str, Place], ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory at an index from `base`, in elements of that, which holds a value of `type`."""

    base: Value
    index: Value
    type: CType
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """A value that has no place to be changed in: a constant variable, or what a call returned."""

    value: RValue


Place = Slot | EitherSlot | Parts | Memory | Held
Binding = Place | TypeName | Alias | Expression | FunctionName
