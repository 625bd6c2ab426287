"""Values, operations, blocks and functions of the SIMT IR.

All of it is immutable: a pass makes a new function. Values are the same only if they are one object.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.ir.simt.types import Type

Attribute = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the source; 0 where none is known. `file` is empty for the source itself."""

    line: int = 0
    file: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else str(self.line)


NOWHERE = Location()


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """The result of an operation, or a parameter; `name` is only for reading."""

    type: Type
    name: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Operations in order, the last of which hands on the results; `arguments` are defined on entry."""

    arguments: tuple[Value, ...]
    ops: tuple[Op, ...]


Region = Block  # structured control has one block a region


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """One operation: `kind` is a row of the table in `operations.py`, `attributes` are constants by name, sorted."""

    kind: str
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    attributes: tuple[tuple[str, Attribute], ...] = ()
    regions: tuple[Region, ...] = ()
    location: Location = NOWHERE

    @property
    def result(self) -> Value:
        """The only result."""
        (result,) = self.results
        return result

    def attribute(self, name: str) -> Attribute:
        """Returns the attribute called `name`. Raises `KeyError` where it has none."""
        return dict(self.attributes)[name]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: bytes from `offset` on of argument `argument` of the kernel.

    A struct that a kernel takes has a parameter for each of its numbers. With a `variable` it is the address of the
    `__constant__` or `__device__` variable of that name, and of no argument.
    """

    value: Value
    argument: int
    offset: int = 0
    variable: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """A kernel instance; `name` is how the source names it, template arguments included."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Block


def walk(block: Block) -> Iterator[Op]:
    """Yields every operation in `block`, each before those within its regions."""
    for op in block.ops:
        yield op
        for region in op.regions:
            yield from walk(region)
