"""A program for other element types than those it was found for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import ArgReduce, Expression, Gathered, Number, Pointwise, Position, Read, Reduce
from porter.ir.tensor.program import TensorProgram


def retyped(program: TensorProgram, dtypes: Mapping[str, DType]) -> TensorProgram:
    """Returns `program` for inputs of the `dtypes` that are named.

    Outputs of the type that an input had before have that input's new one. What was accumulated in it is accumulated in
    double precision where the new type is that; types of 16 bits are accumulated as before.
    """
    types = {one.dtype: dtypes[one.name] for one in program.inputs if one.name in dtypes}
    doubled = frozenset(before for before, now in types.items() if now is DType.FLOAT64)
    return replace(
        program,
        inputs=tuple(replace(one, dtype=dtypes.get(one.name, one.dtype)) for one in program.inputs),
        outputs=tuple(
            replace(one, dtype=types.get(one.dtype, one.dtype), body=_accumulated(one.body, doubled))
            for one in program.outputs
        ),
    )


def _accumulated(expression: Expression, doubled: frozenset[DType]) -> Expression:
    """Returns `expression` with what is accumulated in one of the types `doubled` accumulated in double precision."""
    match expression:
        case Number() | Position():
            return expression
        case Read(tensor, indices):
            told = (
                replace(index, value=_accumulated(index.value, doubled)) if isinstance(index, Gathered) else index
                for index in indices
            )
            return Read(tensor, tuple(told))
        case Pointwise(op, operands):
            return Pointwise(op, tuple(_accumulated(operand, doubled) for operand in operands))
        case Reduce(_, _, body, precision):
            own = DType.FLOAT64 if precision in doubled else precision
            return replace(expression, body=_accumulated(body, doubled), precision=own)
        case ArgReduce(_, _, key, payload):
            return replace(expression, key=_accumulated(key, doubled), payload=_accumulated(payload, doubled))
