"""Defines an exported module as it leaves the process that ran its code: plain records, trusted only in shape."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tensor:
    """The type of a value: its elements as torch names them, and its extents."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """The result of the node of that name, or the input."""

    name: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list among the arguments of an operator."""

    items: tuple[Argument, ...]


Argument = bool | int | float | str | None | Reference | Items


@dataclass(frozen=True, slots=True)
class Named:
    """An argument that is given by its name."""

    name: str
    value: Argument


@dataclass(frozen=True, slots=True)
class Place:
    """The line of the module's source that a node comes from, 0 where none is known, and its text."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """One call of an operator, such as `aten.add.Tensor`; `results` are the types of its results."""

    name: str
    operator: str
    arguments: tuple[Argument, ...]
    named: tuple[Named, ...]
    results: tuple[Tensor, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Given:
    """An input tensor of the graph, by the position among the arguments of a call.

    The position is -1 for a tensor that is no argument: a table of whole numbers that the module made when it was
    built.
    """

    name: str
    position: int
    tensor: Tensor
    origin: str


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """The computation of a module at the sizes of one export; `held` are inputs that are numbers, with their values."""

    given: tuple[Given, ...]
    held: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Reference, ...]
