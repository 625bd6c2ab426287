"""A whole operator in the tensor IR."""

from __future__ import annotations

from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that the operator is given; its extents are expressions over the contract's symbols."""

    name: str
    dtype: DType
    shape: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that the operator returns, or an argument that it writes.

    `coordinates` are the names of its axes within `body`, `shape` their extents, expressions over the symbols as those
    of inputs; an extent is empty where none is known that gives it, and the caller has to say it.
    """

    name: str
    dtype: DType
    coordinates: tuple[str, ...]
    shape: tuple[str, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class TensorProgram:
    """The outputs of an operator over its inputs. `symbols` are sizes and whole parameters, `parameters` fractional.

    `assumptions` are what the program rests on where it is not the source's own order of operations: reassociated
    sums, inputs without infinities or NaN. It was found at one value alone of the scalars that are `fixed`.
    """

    name: str
    symbols: tuple[str, ...]
    parameters: tuple[str, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    assumptions: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
