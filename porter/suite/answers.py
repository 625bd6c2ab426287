"""What an operator's `reference.py` gives for a workload, in double precision."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import numpy as np
import torch

from porter.contract.contract import Contract, Role, TensorArg, Workload
from porter.contract.dtype import DType, decode, encode
from porter.contract.materialise import materialise
from porter.oracle.outputs import Outputs
from porter.simt.job import ScalarValue, TensorValue, Value

Reference = Callable[..., torch.Tensor | tuple[torch.Tensor, ...] | None]


def load_reference(path: Path) -> Reference:
    """The function `reference` of the Python file at `path`, which is executed: only for files that are trusted."""
    spec = importlib.util.spec_from_file_location(f"reference_of_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Reference, module.reference)


def answers(reference: Reference, contract: Contract, workload: Workload) -> Outputs:
    """The arguments as `reference` leaves them, then its results.

    Floats are float64 for it. A changed argument is rounded to the type it has; results stay as they are.
    """
    given = materialise(contract, workload)
    called = [_argument(value) for value in given]
    returned = reference(*called)
    results = () if returned is None else (returned,) if isinstance(returned, torch.Tensor) else returned
    named = zip(contract.arguments, given, called, strict=True)
    arguments = tuple(
        (argument.name, _left(argument, value, tensor))
        for argument, value, tensor in named
        if isinstance(argument, TensorArg) and isinstance(value, TensorValue) and isinstance(tensor, torch.Tensor)
    )
    return Outputs((*arguments, *((f"result {i}" if i else "result", _value(r)) for i, r in enumerate(results))))


def rounded(answer: Outputs, like: Outputs) -> Outputs:
    """`answer` with floats in the types that those of the same name have in `like`."""
    return Outputs(tuple(_rounded(answer, like)))


def _rounded(answer: Outputs, like: Outputs) -> Iterator[tuple[str, TensorValue]]:
    wanted = dict(like.tensors)
    for name, value in answer.tensors:
        dtype = wanted[name].dtype if name in wanted else value.dtype
        narrow = value.dtype.is_float and dtype.is_float and dtype is not value.dtype
        numbers = decode(value.storage, value.dtype)
        yield name, TensorValue(dtype, value.shape, encode(numbers, dtype)) if narrow else value


def _argument(value: Value) -> torch.Tensor | int | float:
    if isinstance(value, ScalarValue):
        return value.value
    numbers = decode(value.storage, value.dtype).reshape(value.shape)
    tensor = torch.from_numpy(np.array(numbers))
    return tensor if value.dtype.is_float else tensor.to(getattr(torch, value.dtype.value))


def _left(argument: TensorArg, before: TensorValue, after: torch.Tensor) -> TensorValue:
    """The argument after the call; bit for bit as before where it is only read."""
    if argument.role is Role.IN:
        return before
    return TensorValue(before.dtype, before.shape, encode(after.numpy(), before.dtype))


def _value(result: torch.Tensor) -> TensorValue:
    if result.is_floating_point():
        return TensorValue(DType.FLOAT64, tuple(result.shape), result.double().numpy())
    dtype = DType(str(result.dtype).removeprefix("torch."))
    return TensorValue(dtype, tuple(result.shape), result.contiguous().numpy().astype(dtype.storage))
