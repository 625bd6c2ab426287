"""Reads a call of an operator for the table: its arguments by place or name, in the types that the table needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression
from porter.lift.exported.arrays import Array
from porter.lift.exported.graph import Argument, Items, Node, Reference, Tensor
from porter.lift.exported.indices import Coordinates
from porter.lift.exported.pointwise import number
from porter.lift.nodes import NotLiftedError

Results = tuple[Array, ...]


@dataclass(frozen=True)
class Call:
    """A node whose operands are known: `values` has the results of every node before it."""

    node: Node
    values: Mapping[str, Results]
    coordinates: Coordinates

    @property
    def word(self) -> str:
        """The operator's name without its namespace and overload: `sum` of `aten.sum.dim_IntList`."""
        parts = self.node.operator.split(".")
        return parts[1] if len(parts) > 1 else parts[0]

    def result(self, place: int = 0) -> Tensor:
        """Returns the type of a result."""
        return self.node.results[place]

    def dtype(self, place: int = 0) -> DType:
        """Returns the element type of a result. Raises `NotLiftedError` for one that porter does not know."""
        return dtype_of(self.result(place))

    def given(self, place: int, name: str = "", default: Argument = None) -> Argument:
        """Returns the argument at a place, or of a name; a missing one is the `default`."""
        if place < len(self.node.arguments):
            return self.node.arguments[place]
        return next((one.value for one in self.node.named if one.name == name), default)

    def arrays_of(self, argument: Argument) -> Results:
        """Returns the results that an argument means, or one array for a number."""
        if isinstance(argument, Reference):
            return self.values[argument.name]
        if isinstance(argument, bool | int | float):
            return (constant_array(number(float(argument)), _dtype_of_number(argument)),)
        raise NotLiftedError(f"it has an argument that is neither a tensor nor a number: {argument}")

    def array(self, place: int, name: str = "") -> Array:
        """Returns a tensor, or a number as one without axes."""
        return self.arrays_of(self.given(place, name))[0]

    def integer(self, place: int, name: str = "", default: int = 0) -> int:
        """Returns a whole number."""
        value = self.given(place, name, default)
        value = default if value is None else value
        if not isinstance(value, int):
            raise NotLiftedError(f"it has {value} where a whole number is expected")
        return int(value)

    def flag(self, place: int, name: str = "") -> bool:
        """Returns a truth value, which is false where it is not given."""
        return bool(self.integer(place, name))

    def integers(self, place: int, name: str = "") -> tuple[int, ...]:
        """Returns whole numbers; none where they are not given."""
        value = self.given(place, name)
        items = value.items if isinstance(value, Items) else (() if value is None else (value,))
        if not all(isinstance(item, int) for item in items):
            raise NotLiftedError(f"it has {items} where whole numbers are expected")
        return tuple(item for item in items if isinstance(item, int))

    def axes(self, rank: int, place: int, name: str = "dim") -> tuple[int, ...]:
        """Returns the named axes, counted from the first; all axes where none is named."""
        named = self.integers(place, name)
        return tuple(axis % rank if rank else 0 for axis in named) if named else tuple(range(rank))


def constant_array(value: Expression, dtype: DType) -> Array:
    """Returns a number as an array without axes."""
    return Array((), dtype, lambda _: value)


def dtype_of(tensor: Tensor) -> DType:
    """Returns the element type. Raises `NotLiftedError` for one that porter does not know."""
    try:
        return DType(tensor.dtype)
    except ValueError:
        raise NotLiftedError(f"its elements are of {tensor.dtype or 'no type'}") from None


def _dtype_of_number(value: bool | int | float) -> DType:
    if isinstance(value, bool):
        return DType.BOOL
    return DType.INT64 if isinstance(value, int) else DType.FLOAT32
