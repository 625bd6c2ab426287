"""Chooses the sizes at which an operator is timed: as large as its conditions and a device's memory allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from porter.contract.model.contract import Contract, Distribution, EntryKind, Role, TensorArg, Workload
from porter.contract.model.expressions import evaluate, holds
from porter.contract.model.syntax import ExpressionError
from porter.contract.workload.materialise import shape_of
from porter.errors import ContractError

MOST_BYTES = 1 << 26  # enough to fill a large device; copying it back and forth takes half a second
_SEED = 77_003
# The product of all symbols' choices is tried from large to small.
_CHOICES = (1 << 24, 1 << 20, 16384, 8192, 4096, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 3, 2, 1)
_BY_COUNT = {1: _CHOICES, 2: _CHOICES[2:], 3: (1024, 512, 256, 64, 32, 8), 4: (256, 64, 32, 16, 8)}
_FOR_MANY = (32, 16, 8, 4)


def timed_workloads(contract: Contract, fixed: Mapping[str, int], *, stated: bool) -> tuple[Workload, ...]:
    """Returns the workloads of `contract` for devices alone; else, where the user `stated` them, its sizes, each once.

    Otherwise returns one at the largest sizes that fit, `fixed` ones kept. Empty where there are none, and for a
    PROGRAM.
    """
    if contract.entry.kind is EntryKind.PROGRAM:
        return ()
    large = tuple(workload for workload in contract.workloads if workload.device_only)
    if large:
        return large
    if stated:
        declared = [w for w in contract.workloads if w.distribution is Distribution.DECLARED and w.scale == 1.0]
        plain = [w for w in declared if not (w.dtypes or w.takes)]
        by_size: dict[tuple[tuple[str, float], ...], Workload] = {}
        for workload in plain:
            by_size.setdefault(tuple(sorted({**workload.sizes, **workload.scalars}.items())), workload)
        return tuple(by_size.values())
    found = bench_workload(contract, fixed)
    return () if found is None else (found,)


def bench_workload(contract: Contract, fixed: Mapping[str, int], most_bytes: int = MOST_BYTES) -> Workload | None:
    """Returns a workload at the largest sizes, by their product, that meet the conditions in `most_bytes`; else None.

    Where all are `fixed` they may take any memory.
    """
    whole = set(contract.symbols) <= fixed.keys()
    for sizes in _sizes(contract, fixed):
        workload = Workload("bench", sizes, _SEED, device_only=True)
        if _allowed(contract, workload) and (whole or footprint(contract, workload) <= most_bytes):
            return workload
    return None


def footprint(contract: Contract, workload: Workload) -> int:
    """Returns the bytes of all tensors."""
    return sum(prod(shape_of(t, workload)) * t.dtype.bytes for t in contract.tensors)


def outputs_bytes(contract: Contract, workload: Workload) -> int:
    """Returns the bytes of the tensors that are only written."""
    return sum(prod(shape_of(t, workload)) * t.dtype.bytes for t in contract.tensors if t.role is Role.OUT)


def used_bytes(contract: Contract, workload: Workload) -> int:
    """Returns the bytes of tensors that are read, and of those that are written in place."""
    return sum(_used(t, workload) * t.dtype.bytes for t in contract.tensors if t.role is not Role.OUT)


def _used(tensor: TensorArg, workload: Workload) -> int:
    if tensor.used:
        return evaluate(tensor.used, workload.sizes)
    return prod(shape_of(tensor, workload)) * (2 if tensor.role is Role.INOUT else 1)


def _allowed(contract: Contract, workload: Workload) -> bool:
    try:
        footprint(contract, workload)
        return all(holds(c, workload.sizes) for c in contract.conditions)
    except (ExpressionError, ContractError, ZeroDivisionError):  # sizes that make no shape
        return False


def _sizes(contract: Contract, fixed: Mapping[str, int]) -> Iterator[dict[str, int]]:
    free = [s for s in contract.symbols if s not in fixed]
    choices = _BY_COUNT.get(len(free), _FOR_MANY)
    given = {s: fixed[s] for s in contract.symbols if s in fixed}
    for values in sorted(product(choices, repeat=len(free)), key=lambda v: (-prod(v), v)):
        yield {**dict(zip(free, values, strict=True)), **given}
