"""What a call returned: tensors that are nothing but tensors, or a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from porter.contract.dtype import DType, encode
from porter.simt.job import FaultKind, TensorValue
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.devices import is_marked_only, on_device

_NAMES = {torch_dtype: dtype for dtype, torch_dtype in TORCH_TYPES.items()}
# What in the original's host code may make a result that is not dense, and one of the host.
_STRIDES = "transpose permute t expand expand_as select slice narrow unbind chunk split unfold as_strided movedim"
_STRIDING = frozenset(_STRIDES.split())
_TO_HOST = frozenset(("cpu", "to", "item"))

Trouble = tuple[FaultKind, str]


def items_in(returned: object) -> Iterator[object]:
    """What was returned, one by one, in order. To be asked once: a sequence of its own may answer otherwise again."""
    if isinstance(returned, (tuple, list)):
        for item in returned:
            yield from items_in(item)
    else:
        yield returned


def unusual(results: Iterable[torch.Tensor], permitted: frozenset[str]) -> Iterator[Trouble]:
    """What is wrong with the results themselves, whatever is in them; `permitted` is what the original's host does."""
    for index, tensor in enumerate(results):
        name = f"result {index}" if index else "the result"
        if type(tensor) is not torch.Tensor:
            yield FaultKind.RESULT, f"{name} is a {type(tensor).__name__}, not a torch.Tensor"
        elif not is_marked_only(tensor) or tensor.requires_grad:
            yield FaultKind.RESULT, f"{name} is a tensor with attributes or a history of its own"
        elif tensor.layout is not torch.strided or tensor.is_conj() or tensor.is_neg():
            yield FaultKind.RESULT, f"{name} is no dense tensor"
        elif not tensor.is_contiguous() and not permitted & _STRIDING:
            dense = tuple(torch.empty(tensor.shape, device="meta").stride())
            yield FaultKind.RESULT, f"{name} has strides {tuple(tensor.stride())}, not {dense} of a dense tensor"
        elif not on_device(tensor) and not permitted & _TO_HOST:
            yield FaultKind.RESULT, f"{name} is a tensor of the host"


def values_of(items: Iterable[object], number: DType | None) -> Iterator[TensorValue]:
    """What was returned, as bytes; a number where the original returns one of the type `number`."""
    for item in items:
        if isinstance(item, torch.Tensor):
            yield _value(item)
        elif isinstance(item, (bool, int, float)) and number is not None:
            yield TensorValue(number, (), encode(np.array(item), number))


def _value(tensor: torch.Tensor) -> TensorValue:
    dense = tensor.detach().contiguous()
    dtype = _NAMES[dense.dtype]
    raw = dense.reshape(-1).view(torch.uint8).numpy() if dense.numel() else np.zeros(0, np.uint8)
    return TensorValue(dtype, tuple(dense.shape), raw.view(dtype.storage).reshape(tuple(dense.shape)))
