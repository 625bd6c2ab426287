"""Where values live: variables, fields, arrays in registers, and memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter_triton.lower.types import Arithmetic, Pointer, Record, Type
from porter_triton.lower.values import Address, Scalar, Value

Key = tuple[object, ...]


@dataclass(eq=False, slots=True)
class Variable:
    """A scalar variable of the source: a Python name that keeps its type and whether it is a tensor.

    `depth` counts the scopes around its declaration. `stable`: nothing assigns it after its declaration, so `known` may
    say more about its value. `fresh`: nothing has been assigned yet, so the first assignment needs no `tl.where`.
    `home` is the Python suite it is declared in, where it may get another name. `adding`: it began as a number, and
    nothing but additions have changed it; `loops` is how many loops carry values from turn to turn around it.
    """

    name: str
    type: Arithmetic | Pointer
    key: Key
    depth: int
    varying: bool
    stable: bool = False
    known: Scalar | None = None
    fresh: bool = True
    bases: frozenset[str] = frozenset()
    home: object = None
    adding: bool = False
    loops: int = 0


@dataclass(eq=False, slots=True)
class Members:
    """A struct variable: a place for each field."""

    type: Record
    fields: dict[str, Place]


@dataclass(eq=False, slots=True)
class LocalArray:
    """An array of one thread's own. Its elements are variables, or one tensor `[threads, size]` called `tensor`.

    `settled`: its elements are what they are, and no tensor can take their place.
    """

    name: str
    element: Type
    count: int
    key: Key
    depth: int
    elements: list[Place] = field(default_factory=list)
    tensor: str = ""
    settled: bool = False


@dataclass(eq=False, slots=True)
class SharedArray:
    """An array of the block: a tensor `[size]` called `name`. `size` is a power of two, as text where not known.

    `arena`: it is the dynamic shared memory of this name, seen as an array of one type. `alone`: it is no array but one
    variable, and `name` no tensor but a scalar. `elements`: it is such a variable for each element, for all indices are
    known. `memory`: it does not lie in registers but where this points.
    """

    name: str
    element: Arithmetic
    count: int | None
    size: int | None
    size_text: str
    key: Key
    arena: str = ""
    alone: bool = False
    elements: tuple[SharedArray, ...] = ()
    memory: Scalar | None = None


@dataclass(eq=False, slots=True)
class Columns:
    """An array of structs: an array for each field."""

    element: Record
    fields: dict[str, SharedArray | LocalArray | Columns]


@dataclass(eq=False, slots=True)
class Cursor:
    """A pointer variable into an array of registers; `offset` counts elements."""

    array: Place
    offset: Variable


@dataclass(eq=False, slots=True)
class Pointed:
    """A pointer variable that is set later, to registers or shared memory; `level` counts Python's suites around it."""

    name: str
    depth: int
    level: int
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """An element of an array, or while `extents` remain a part of one; `offset` counts elements."""

    array: LocalArray | SharedArray | Columns
    offset: Scalar
    extents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """Scalar places of type `unit` that lie side by side, seen as one `type`."""

    type: Type
    unit: Arithmetic
    parts: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """What a pointer to global memory points to."""

    pointer: Scalar
    type: Type


@dataclass(frozen=True, slots=True)
class Held:
    """A value that has no place; it can be read."""

    value: Value


Place = Variable | Members | LocalArray | SharedArray | Columns | Cursor | Pointed | Slot | View | Memory | Held
