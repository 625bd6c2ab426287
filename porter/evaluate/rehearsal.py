"""Calls at sizes for a device, of which host code alone is run: what it does there may be something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from porter.contract.bench import bench_workload, footprint
from porter.contract.contract import Argument, Contract, EntryKind, TensorArg, Workload
from porter.contract.dtype import encode
from porter.contract.expressions import evaluate, number
from porter.contract.materialise import is_null, retyped, shape_of
from porter.contract.validate import satisfies
from porter.simt.job import Construction, Job, ScalarValue, TensorValue, Value

_MOST_BYTES = 256 << 20  # of all tensors: host code may copy them
_NOTHING = np.zeros(1, np.int64)
_SYMBOLS, _LARGE = 4, (1 << 18, 1 << 16, 1 << 14, 1 << 12)  # beyond the most blocks that grids were once given
# What host code has no memory or time for is asked again at sizes divided by these: results may outgrow the arguments.
_SMALLER = (1, 4, 16)
_CALLED = (EntryKind.TORCH, EntryKind.POINTER)


Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One call at smaller and smaller sizes, of which the first that comes to its end will do.

    `call` makes a call at any sizes that the contract allows; None elsewhere.
    """

    sizes: tuple[Sizes, ...]
    call: Callable[[Sizes], Job | None]

    @property
    def jobs(self) -> Iterator[tuple[Sizes, Job]]:
        """The calls at these sizes."""
        found = ((sizes, self.call(sizes)) for sizes in self.sizes)
        return ((sizes, job) for sizes, job in found if job is not None)


def rehearsals(
    contract: Contract,
    chosen: Sizes,
    written: Sizes,
    built: Callable[[Sizes], Construction | None],
) -> Sequence[Rehearsal]:
    """A call at the largest sizes a device would be timed at, and one at those that the original is `written` for.

    `chosen` sizes are kept. `built` says how a class is built at some sizes.
    """
    if contract.entry.kind not in _CALLED:
        return ()

    def call(sizes: Sizes) -> Job | None:
        if not satisfies(contract, sizes):
            return None
        return Job(tuple(_values(contract, Workload("", sizes, 0))), construction=built(sizes))

    def smaller(workload: Workload, part: int) -> Sizes:
        return {s: n if s in chosen else max(n // part, min(n, 1)) for s, n in workload.sizes.items()}

    return [
        Rehearsal(tuple(smaller(workload, part) for part in _SMALLER), call)
        for workload in _workloads(contract, chosen, written)
    ]


def _workloads(contract: Contract, chosen: Mapping[str, int], written: Mapping[str, int]) -> Iterator[Workload]:
    """Each symbol is as large as can be in one of them."""
    found = [bench_workload(contract, chosen)]
    for symbol in contract.symbols[:_SYMBOLS]:
        large = _with_large(contract, chosen, symbol)
        # With half of it, too: what is launched for both alike cannot be right for one of them.
        found += [large, large and replace(large, sizes={**large.sizes, symbol: large.sizes[symbol] // 2})]
    if written and footprint(contract, as_written := Workload("as written", written, 0)) <= _MOST_BYTES:
        found.append(as_written)
    return iter({tuple(sorted(w.sizes.items())): w for w in found if w is not None}.values())


def _with_large(contract: Contract, chosen: Mapping[str, int], symbol: str) -> Workload | None:
    if symbol in chosen:
        return None
    tried = (bench_workload(contract, {**chosen, symbol: size}) for size in _LARGE)
    return next(filter(None, tried), None)


def _values(contract: Contract, workload: Workload) -> Iterator[Value]:
    return (_value(argument, workload) for argument in retyped(contract, workload).arguments)


def _value(argument: Argument, workload: Workload) -> Value:
    if not isinstance(argument, TensorArg):
        given = workload.scalars.get(argument.name)
        return ScalarValue(number(argument.value, workload.sizes) if given is None else given)
    if is_null(argument, workload):
        return TensorValue.none(argument.dtype)
    listed = [evaluate(element, workload.sizes) for element in argument.elements]
    numbers = np.array(listed) if listed else _NOTHING
    return TensorValue(argument.dtype, shape_of(argument, workload), encode(numbers, argument.dtype))
