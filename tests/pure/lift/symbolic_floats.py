"""Numbers that record what is done with them, so that a test can write a kernel as plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TypeAlias

from porter.contract.model.expressions import evaluate
from porter.ir.tensor.expressions import Expression
from porter.lift.affine import Points
from porter.lift.fit import Fitter
from porter.lift.nodes import Graph, Node, exact
from porter.lift.normal import Normaliser
from porter.lift.sizes import Joining

Given: TypeAlias = "Symbol | float | int"
_TRUTHS = frozenset({"less", "equal", "and", "or", "not"})


@dataclass(frozen=True)
class Symbol:
    """A node of `graph` with the operators of a float."""

    graph: Graph
    node: Node

    def of(self, op: str, *others: Given) -> Symbol:
        """Returns `op` of this number and of others."""
        nodes = [other.node if isinstance(other, Symbol) else self._number(other) for other in others]
        typed = nodes[0] if op == "select" else self.node
        dtype = "bool" if op in _TRUTHS else self.graph.type_of(typed)
        return Symbol(self.graph, self.graph.make(op, dtype, self.node, *nodes))

    def _number(self, value: float) -> Node:
        dtype = "int64" if self.graph.type_of(self.node) == "int64" else "float32"
        return self.graph.number(exact(value) if isinstance(value, float) else value, dtype)

    def _before(self, op: str, other: float) -> Symbol:
        return Symbol(self.graph, self._number(other)).of(op, self)

    def __add__(self, other: Given) -> Symbol:
        return self.of("add", other)

    def __radd__(self, other: float) -> Symbol:
        return self._before("add", other)

    def __sub__(self, other: Given) -> Symbol:
        return self.of("subtract", other)

    def __rsub__(self, other: float) -> Symbol:
        return self._before("subtract", other)

    def __mul__(self, other: Given) -> Symbol:
        return self.of("multiply", other)

    def __rmul__(self, other: float) -> Symbol:
        return self._before("multiply", other)

    def __truediv__(self, other: Given) -> Symbol:
        return self.of("divide", other)

    def __rtruediv__(self, other: float) -> Symbol:
        return self._before("divide", other)

    def __neg__(self) -> Symbol:
        return self.of("negate")

    def __lt__(self, other: Given) -> Symbol:
        return self.of("less", other)

    def __gt__(self, other: Given) -> Symbol:
        return other.of("less", self) if isinstance(other, Symbol) else self._before("less", other)

    def __ge__(self, other: Given) -> Symbol:
        return (self < other).of("not")

    def __le__(self, other: Given) -> Symbol:
        return (self > other).of("not")

    def same(self, other: Given) -> Symbol:
        """Returns whether both are equal; `==` compares what was recorded."""
        return self.of("equal", other)

    def __and__(self, other: Symbol) -> Symbol:
        return self.of("and", other)

    def __or__(self, other: Symbol) -> Symbol:
        return self.of("or", other)


class Tensor:
    """The elements of one input; one called `labels` holds whole numbers."""

    def __init__(self, graph: Graph, name: str, shape: tuple[int, ...]) -> None:
        self.name, self.shape, self._graph = name, shape, graph
        self.dtype = type_of_input(name)

    def __getitem__(self, at: int | tuple[int, ...]) -> Symbol:
        place = 0
        for index, extent in zip(at if isinstance(at, tuple) else (at,), self.shape, strict=True):
            assert 0 <= index < extent
            place = place * extent + index
        return Symbol(self._graph, self._graph.read(self.name, place, self.dtype))

    def gathered(self, place: Symbol) -> Symbol:
        """Returns the element at `place`, counted row by row."""
        return Symbol(self._graph, self._graph.gather(self.name, place.node, self.dtype))


def type_of_input(name: str) -> str:
    """Returns the type of an input's elements."""
    return "int64" if name == "labels" else "float32"


def exp(value: Symbol) -> Symbol:
    """Returns e to the power of a number."""
    return value.of("exp")


def sqrt(value: Symbol) -> Symbol:
    """Returns the square root."""
    return value.of("sqrt")


def absolute(value: Symbol) -> Symbol:
    """Returns the number without its sign."""
    return value.of("absolute")


def maximum(one: Symbol, other: Given) -> Symbol:
    """Returns the larger of two."""
    return one.of("maximum", other)


def minimum(one: Symbol, other: Given) -> Symbol:
    """Returns the smaller of two."""
    return one.of("minimum", other)


def select(condition: Symbol, then: Given, otherwise: Given) -> Symbol:
    """Returns `then` where a condition holds, else `otherwise`."""
    return condition.of("select", then if isinstance(then, Symbol) else constant(condition.graph, then), otherwise)


def constant(graph: Graph, value: float) -> Symbol:
    """Returns a number that is known."""
    return Symbol(graph, graph.number(exact(float(value)), "float32"))


def lowest(graph: Graph) -> Symbol:
    """Returns where a maximum starts."""
    return constant(graph, -math.inf)


def undefined(graph: Graph) -> Symbol:
    """Returns what a lane that is masked off loads."""
    return Symbol(graph, graph.undefined)


# What a kernel under test does: inputs by name and the sizes to elements of its output by their places.
Tensors = Mapping[str, Tensor]
Whole = Mapping[str, int]
Elements = Mapping[tuple[int, ...], Symbol]
Kernel = Callable[[Tensors, Whole, Graph], Elements]
Shapes = Mapping[str, tuple[str, ...]]


def lifted(kernel: Kernel, inputs: Shapes, output: Sequence[str], probes: Sequence[Whole]) -> Expression:
    """The expression of the output's elements, over `o0`, `o1`, ..."""
    parts = [fitted(kernel, inputs, output, sizes) for sizes in probes]
    return Joining([{name: Fraction(size) for name, size in sizes.items()} for sizes in probes]).expression(parts)


def fitted(kernel: Kernel, inputs: Shapes, output: Sequence[str], sizes: Whole) -> Expression:
    """The expression of the output's elements at the sizes of one probe."""
    graph, shape, nodes = executed(kernel, inputs, output, sizes)
    normaliser = Normaliser(graph)
    shapes = {name: extents_at(extents, sizes) for name, extents in inputs.items()}
    forms = [normaliser.form(node) for node in nodes]
    return Fitter(normaliser.forms, shapes).output(Points.of([f"o{axis}" for axis in range(len(shape))], shape), forms)


def executed(
    kernel: Kernel, inputs: Shapes, output: Sequence[str], sizes: Whole
) -> tuple[Graph, tuple[int, ...], list[Node]]:
    """What an execution leaves: the graph, and the extents and nodes of the output."""
    graph = Graph()
    tensors = {name: Tensor(graph, name, extents_at(extents, sizes)) for name, extents in inputs.items()}
    told = kernel(tensors, sizes, graph)
    shape = extents_at(output, sizes)
    assert len(told) == prod(shape)
    return graph, shape, [told[place].node for place in sorted(told)]


def extents_at(shape: Sequence[str], sizes: Whole) -> tuple[int, ...]:
    """Returns the extents of a tensor whose shape is expressions over sizes."""
    return tuple(evaluate(extent, sizes) for extent in shape)
