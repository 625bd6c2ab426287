"""Tries other element types for tensors, where host code refuses those that a draft assumes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import replace

from porter.comparison.compare import DEFAULT_TOLERANCE
from porter.contract.analysis.elements import torch_type
from porter.contract.model.contract import Contract, EntryKind, TensorArg, Values
from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind

_MISMATCH = re.compile(r"expected scalar type (\w+) but found (\w+)")
_NARROW = (DType.FLOAT16, DType.BFLOAT16)


def other_types(contract: Contract, trouble: str) -> Iterator[Contract]:
    """Yields `contract` with types that host code may want instead of those it refused, as `trouble` says.

    Where a check names the type it wants, one tensor of the type it found gets it; else all that are float32 get a type
    of 16 bits, as inference code dispatches on these alone, or one that is moved as whole vectors (`int4*`) does.
    """
    if contract.entry.kind is not EntryKind.TORCH or not trouble.startswith(FaultKind.HOST_CHECK):
        return
    told = _MISMATCH.search(trouble)
    if told is None:
        floats = {t.name for t in contract.tensors if t.dtype is DType.FLOAT32}
        vectors = [{t.name} for t in contract.parts if t.values is Values.NORMAL and not t.dtype.is_float]
        yield from (_retyped(contract, names, dtype) for names in (floats, *vectors) for dtype in _NARROW if names)
        return
    wanted, found = (torch_type(f"k{name}") for name in told.groups())
    for tensor in contract.tensors if wanted is not None else ():
        if tensor.dtype is found and wanted is not None:
            yield _retyped(contract, {tensor.name}, wanted)


def types(contract: Contract) -> tuple[DType, ...]:
    """Returns the element types of the tensors, in call order."""
    return tuple(t.dtype for t in contract.tensors)


def _retyped(contract: Contract, names: Set[str], dtype: DType) -> Contract:
    arguments = tuple(
        replace(a, dtype=dtype) if isinstance(a, TensorArg) and a.name in names else a for a in contract.arguments
    )
    own = {dtype: DEFAULT_TOLERANCE[dtype]} if dtype.is_float else {}
    return replace(contract, arguments=arguments, tolerance={**contract.tolerance, **own})
