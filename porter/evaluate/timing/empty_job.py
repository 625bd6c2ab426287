"""A call of an entry on tensors without elements, at sizes at which it is planned and not executed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from porter.contract.model.contract import Argument, Contract, EntryKind, TensorArg, Workload
from porter.contract.model.dtype import encode
from porter.contract.model.expressions import evaluate, number
from porter.contract.workload.materialise import is_null, shape_of
from porter.execution.job import Job, ScalarValue, TensorValue, Value


def job_of(contract: Contract, workload: Workload) -> Job:
    """A call of the contract's entry at `workload`, without the elements of tensors but for those host code reads."""
    arguments = tuple(_argument(argument, workload) for argument in contract.arguments)
    shape = contract.entry.launch
    if shape is None or contract.entry.kind is not EntryKind.KERNEL:
        return Job(arguments)
    grid, block = ([evaluate(text, workload.sizes) for text in texts] for texts in (shape.grid, shape.block))
    return Job(
        arguments, grid=_extents(grid), block=_extents(block), shared_bytes=evaluate(shape.shared_bytes, workload.sizes)
    )


def _argument(argument: Argument, workload: Workload) -> Value:
    if isinstance(argument, TensorArg):
        if is_null(argument, workload):
            return TensorValue.none(argument.dtype)
        shape = shape_of(argument, workload)
        if argument.elements:
            listed = np.array([evaluate(element, workload.sizes) for element in argument.elements], dtype=np.int64)
            return TensorValue(argument.dtype, shape, encode(listed, argument.dtype).reshape(shape))
        return TensorValue(argument.dtype, shape, np.zeros(0, argument.dtype.storage))
    given = workload.scalars.get(argument.name)
    return ScalarValue(number(argument.value, workload.sizes) if given is None else given)


def _extents(extents: Iterable[int]) -> tuple[int, int, int]:
    x, y, z = (int(extent) for extent in extents)
    return x, y, z
