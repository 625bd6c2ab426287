"""Reads an exported graph at the sizes of its export: each output becomes an expression over elements of the inputs."""

from __future__ import annotations

from collections.abc import Sequence

from porter.contract.model.contract import TensorArg
from porter.ir.tensor.expressions import Expression, Read
from porter.lift.exported.arrays import Array, Indices, plain_axes
from porter.lift.exported.calls import Call, Results, dtype_of
from porter.lift.exported.graph import Argument, ExportedGraph, Given, Node, Reference
from porter.lift.exported.indices import Coordinates, Index, whole
from porter.lift.exported.operators import OPERATORS
from porter.lift.fitted import RESULT, FittedOutput
from porter.lift.nodes import NotLiftedError

_ITEM = "getitem"
_NAMESPACES = ("aten.", "prims.")


def lifted(graph: ExportedGraph, arguments: Sequence[TensorArg | None]) -> tuple[FittedOutput, ...]:
    """Returns the outputs at the sizes of `graph`; `arguments` are those of a call, None for a number.

    Raises `NotLiftedError`, which names the operator and the line of the module where it stands.
    """
    reading = _Reading(graph, arguments)
    for node in graph.nodes:
        reading.add(node)
    try:
        return tuple(reading.outputs())
    except RecursionError:
        raise NotLiftedError("its chain of operators is too deep for one formula") from None


class _Reading:
    """The values of the nodes so far."""

    def __init__(self, graph: ExportedGraph, arguments: Sequence[TensorArg | None]) -> None:
        self._graph = graph
        self._coordinates = Coordinates()
        self._values: dict[str, Results] = {one.name: (_input(one, arguments),) for one in graph.given}
        self._taken = {argument.name for argument in arguments if argument is not None}

    def add(self, node: Node) -> None:
        """Adds the values of a node. Raises `NotLiftedError` for an operator without a rule."""
        if node.operator == _ITEM:
            self._values[node.name] = (self._item(node.arguments),)
            return
        call = Call(node, self._values, self._coordinates)
        rule = OPERATORS.get(call.word) if node.operator.startswith(_NAMESPACES) else None
        if rule is None:
            raise NotLiftedError(f"{_where(node)} has no word in the tensor IR")
        try:
            results = rule(call)
        except NotLiftedError as error:
            raise NotLiftedError(f"{_where(node)} is not lifted: {error}") from error
        self._values[node.name] = tuple(_naming(result, node) for result in results)

    def _item(self, arguments: Sequence[Argument]) -> Array:
        of, place = arguments
        assert isinstance(of, Reference)
        assert isinstance(place, int)
        results = self._values[of.name]
        if place >= len(results):
            raise NotLiftedError(f"result {place} of '{of.name}' is not lifted")
        return results[place]

    def outputs(self) -> list[FittedOutput]:
        """Returns the outputs, each over coordinates named by its axes."""
        found: list[FittedOutput] = []
        several = len(self._graph.outputs) > 1
        for number, output in enumerate(self._graph.outputs):
            (array,) = self._values[output.name]
            name = f"{RESULT}{number}" if several else RESULT
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            found.append(FittedOutput(name, array.dtype, array.shape, self._body(array, number)))
        return found

    def _body(self, array: Array, output: int) -> Expression:
        indices: list[tuple[Index, ...]] = []
        for place, (axis, extent) in enumerate(zip(array.axes, array.shape, strict=True)):
            if not axis:
                indices.append(())
                continue
            index = self._coordinates.named(coordinate_name(output, place), extent)
            indices.append(self._coordinates.taken_apart(index, axis))
        return array.at(tuple(indices))


def coordinate_name(output: int, axis: int) -> str:
    """Returns what the coordinate of an output's axis is called."""
    return f"o{output}_{axis}"


def _where(node: Node) -> str:
    """Returns the operator, and the line of the source from which it comes."""
    if not node.place.line:
        return f"{node.operator} (in code of PyTorch)"
    return f"line {node.place.line}: {node.operator} (`{node.place.text}`)"


def _naming(array: Array, node: Node) -> Array:
    """Returns an array whose elements name their node where they cannot be lifted."""

    def element(indices: Indices) -> Expression:
        try:
            return array.element(indices)
        except NotLiftedError as error:
            if "aten." in str(error):
                raise
            raise NotLiftedError(f"{_where(node)} is not lifted: {error}") from error

    return Array(array.axes, array.dtype, element)


def _input(given: Given, arguments: Sequence[TensorArg | None]) -> Array:
    """Returns a tensor that the graph is given as one of the arguments of a call."""
    argument = arguments[given.position] if 0 <= given.position < len(arguments) else None
    dtype = dtype_of(given.tensor)
    axes = plain_axes(given.tensor.shape)

    def element(indices: Indices) -> Expression:
        if argument is None:
            raise NotLiftedError(f"'{given.origin}' is no argument: the module made it when it was built")
        return Read(argument.name, tuple(index[0] if index else whole(0) for index in indices))

    return Array(axes, dtype, element)
