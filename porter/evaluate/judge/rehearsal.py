"""Makes calls at sizes for a device, of which only host code is run: it may do something else there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from porter.contract.model.contract import Argument, Contract, EntryKind, TensorArg, Workload
from porter.contract.model.dtype import encode
from porter.contract.model.expressions import evaluate, number
from porter.contract.model.validate import satisfies
from porter.contract.workload.bench import bench_workload, footprint
from porter.contract.workload.materialise import is_null, retyped, shape_of
from porter.execution.job import Construction, Job, ScalarValue, TensorValue, Value

_MOST_BYTES = 256 << 20  # of all tensors: host code may copy them
_NOTHING = np.zeros(1, np.int64)
_SYMBOLS, _LARGE = 4, (1 << 18, 1 << 16, 1 << 14, 1 << 12)  # beyond the most blocks that grids were once given
# What host code has no memory or time for is asked again at sizes divided by these: results may outgrow the arguments.
_SMALLER = (1, 4, 16)
# Parts of the sizes at which a call comes to its end that it is asked at, too: a grid that a cap ends in the last
# sixteenth of them goes on growing in what is executed nowhere, one that is as large with fewer than 16 blocks may be
# as large because these are large.
_SHRUNK = (Fraction(15, 16), Fraction(1, 4))
_ALIKE = tuple(1 << power for power in range(14, 5, -1))
_CALLED = (EntryKind.TORCH, EntryKind.POINTER)


Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One call at smaller and smaller sizes; the first that finishes will do.

    `call` makes a call at any sizes that the contract allows; elsewhere it returns None. Sizes of `fixed` symbols stay.
    """

    sizes: tuple[Sizes, ...]
    call: Callable[[Sizes], Job | None]
    fixed: Collection[str] = ()

    @property
    def jobs(self) -> Iterator[tuple[Sizes, Job]]:
        """The calls at these sizes."""
        return self._at(self.sizes)

    def shrunk(self, sizes: Sizes) -> Iterator[tuple[Sizes, Job]]:
        """Returns the call at slightly and at much smaller `sizes`, where allowed: a fixed grid does not grow."""
        return self._at(smaller(sizes, part, self.fixed) for part in _SHRUNK)

    def _at(self, several: Iterable[Sizes]) -> Iterator[tuple[Sizes, Job]]:
        found = ((sizes, self.call(sizes)) for sizes in several)
        return ((sizes, job) for sizes, job in found if job is not None)


def rehearsals(
    contract: Contract,
    chosen: Sizes,
    written: Sizes,
    built: Callable[[Sizes], Construction | None],
) -> Sequence[Rehearsal]:
    """Returns calls at the largest sizes a device would be timed at, and at those that the original is `written` for.

    `chosen` sizes are kept. `built` says how a class is built at some sizes.
    """
    if contract.entry.kind not in _CALLED:
        return ()

    def call(sizes: Sizes) -> Job | None:
        if not satisfies(contract, sizes):
            return None
        return Job(tuple(_values(contract, Workload("", sizes, 0))), construction=built(sizes))

    return [
        Rehearsal(tuple(smaller(workload.sizes, Fraction(1, n), chosen) for n in _SMALLER), call, chosen)
        for workload in _workloads(contract, chosen, written)
    ]


def smaller(sizes: Sizes, part: Fraction, fixed: Collection[str]) -> Sizes:
    """Returns a part of `sizes`, except those that are `fixed`; nothing becomes none."""
    return {s: n if s in fixed else max(int(n * part), min(n, 1)) for s, n in sizes.items()}


def _workloads(contract: Contract, chosen: Mapping[str, int], written: Mapping[str, int]) -> Iterator[Workload]:
    """Returns workloads in which each symbol is as large as can be in one of them."""
    found = [bench_workload(contract, chosen)]
    for symbol in contract.symbols[:_SYMBOLS]:
        large = _with_large(contract, chosen, symbol)
        # With half of it, too: what is launched for both alike cannot be right for one of them.
        found += [large, large and replace(large, sizes={**large.sizes, symbol: large.sizes[symbol] // 2})]
    found.append(_with_all_alike(contract, chosen))
    if written and footprint(contract, as_written := Workload("as written", written, 0)) <= _MOST_BYTES:
        found.append(as_written)
    return iter({tuple(sorted(w.sizes.items())): w for w in found if w is not None}.values())


def _with_large(contract: Contract, chosen: Mapping[str, int], symbol: str) -> Workload | None:
    if symbol in chosen:
        return None
    tried = (bench_workload(contract, {**chosen, symbol: size}) for size in _LARGE)
    return next(filter(None, tried), None)


def _with_all_alike(contract: Contract, chosen: Mapping[str, int]) -> Workload | None:
    """Returns a workload at the largest size that all can have; one is small where their product is limited."""
    free = [symbol for symbol in contract.symbols if symbol not in chosen]
    alike = (Workload("alike", {**chosen, **dict.fromkeys(free, size)}, 0) for size in _ALIKE) if free[1:] else ()
    fit = (w for w in alike if satisfies(contract, w.sizes) and footprint(contract, w) <= _MOST_BYTES)
    return next(fit, None)


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
