"""Calls at sizes for a device, of which host code alone is run: what it does there may be something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from porter.contract.bench import bench_workload, footprint
from porter.contract.contract import Argument, Contract, EntryKind, TensorArg, Workload
from porter.contract.dtype import encode
from porter.contract.expressions import evaluate, number
from porter.contract.materialise import shape_of
from porter.simt.job import Construction, Job, ScalarValue, TensorValue, Value

_MOST_BYTES = 256 << 20  # of all tensors: host code may copy them
_NOTHING = np.zeros(1, np.int64)
_SYMBOLS, _LARGE = 4, (1 << 16, 1 << 14, 1 << 12)
_CALLED = (EntryKind.TORCH, EntryKind.POINTER)


def rehearsals(
    contract: Contract,
    chosen: Mapping[str, int],
    written: Mapping[str, int],
    built: Callable[[Mapping[str, int]], Construction | None],
) -> Sequence[Job]:
    """A call at the largest sizes a device would be timed at, and one at those that the original is `written` for.

    `chosen` sizes are kept. `built` says how a class is built at some sizes.
    """
    if contract.entry.kind not in _CALLED:
        return ()
    return [
        Job(tuple(_values(contract, w)), construction=built(w.sizes)) for w in _workloads(contract, chosen, written)
    ]


def _workloads(contract: Contract, chosen: Mapping[str, int], written: Mapping[str, int]) -> Iterator[Workload]:
    """Each symbol is as large as can be in one of them."""
    found = [bench_workload(contract, chosen), *(_with_large(contract, chosen, s) for s in contract.symbols[:_SYMBOLS])]
    if written and footprint(contract, as_written := Workload("as written", written, 0)) <= _MOST_BYTES:
        found.append(as_written)
    return iter({tuple(sorted(w.sizes.items())): w for w in found if w is not None}.values())


def _with_large(contract: Contract, chosen: Mapping[str, int], symbol: str) -> Workload | None:
    if symbol in chosen:
        return None
    tried = (bench_workload(contract, {**chosen, symbol: size}) for size in _LARGE)
    return next(filter(None, tried), None)


def _values(contract: Contract, workload: Workload) -> Iterator[Value]:
    return (_value(argument, workload) for argument in contract.arguments)


def _value(argument: Argument, workload: Workload) -> Value:
    if not isinstance(argument, TensorArg):
        given = workload.scalars.get(argument.name)
        return ScalarValue(number(argument.value, workload.sizes) if given is None else given)
    listed = [evaluate(element, workload.sizes) for element in argument.elements]
    numbers = np.array(listed) if listed else _NOTHING
    return TensorValue(argument.dtype, shape_of(argument, workload), encode(numbers, argument.dtype))
