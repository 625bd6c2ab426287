"""Finds smaller sizes for an entry that takes too long at those that were drafted.

At them the original does what it did: it launches the same kernels, over more than one block along every axis along
which it launched several, and takes every side of a branch that it took. The size of an innermost axis stays above the
threads of a block where it was, so that a loop over tiles still walks over several; all sizes stay as uneven as they
were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from porter.contract.model.contract import Contract, Workload
from porter.contract.model.validate import satisfies
from porter.contract.probe.trials import troubled
from porter.contract.workload.workloads import choose_sizes, is_innermost
from porter.execution.job import Execute, LaunchRecord, Run
from porter.oracle.jobs import job

# Of sizes, the smallest first: those of which nothing is left become the least that may do as much.
_DIVISORS = (1 << 62, 64, 16, 4)
_WARP = 32
_SAID = "not at the drafted sizes, which take too long here: {}"

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Smaller:
    """`contract` with workloads at smaller sizes, and what is `said` of those left out."""

    contract: Contract
    said: str


def smaller(contract: Contract, execute: Execute, fixed: Sizes) -> Smaller | None:
    """Returns `contract` with every workload at the smallest sizes that do what its own do, except `fixed` ones.

    None where there are no smaller ones.
    """
    asked = _Asked(contract, execute, fixed)
    found = [(workload, asked.smallest(workload)) for workload in contract.workloads]
    left_out = [(large.sizes, small.sizes) for large, small in found if large is not small]
    if not left_out:
        return None
    said = dict.fromkeys(f"{_named(large)} (but at {_named(small)})" for large, small in left_out)
    return Smaller(replace(contract, workloads=tuple(small for _, small in found)), _SAID.format(", ".join(said)))


@dataclass(frozen=True)
class _Asked:
    """An original that is tried at smaller sizes."""

    contract: Contract
    execute: Execute
    fixed: Sizes
    known: dict[tuple[object, ...], Sizes] = field(default_factory=dict)

    def smallest(self, workload: Workload) -> Workload:
        """Returns `workload` at the smallest sizes that do what its own do; itself where none do."""
        key = tuple(workload.sizes.items()), tuple(workload.scalars.items()), workload.takes
        if key not in self.known:
            self.known[key] = self._smallest(workload)
        sizes = self.known[key]
        return workload if sizes == workload.sizes else replace(workload, sizes=sizes)

    def _smallest(self, workload: Workload) -> Sizes:
        at_own: Run | None = None
        for divisor in _DIVISORS:
            at_own = at_own or self._run(workload)
            sizes = self._divided(workload.sizes, divisor, _extents(at_own.launches or self._first.launches))
            if sizes is None:
                continue
            if _does_as_much(self._run(replace(workload, sizes=sizes)), at_own):
                return sizes
        return workload.sizes

    @cached_property
    def _first(self) -> Run:
        """The run of the smallest workload: where another does not finish, this one says what blocks there are."""
        return self._run(self.contract.workloads[0])

    def _run(self, workload: Workload) -> Run:
        return self.execute(job(self.contract, workload))

    def _divided(self, sizes: Sizes, divisor: int, extents: frozenset[int]) -> Sizes | None:
        """Returns smaller sizes that the contract allows; None where there are none."""
        wanted = dict[str, int]()
        for symbol, size in sizes.items():
            likely = _less(size, size // divisor, extents, is_walked=is_innermost(self.contract, symbol))
            taken = (s for s in likely if s not in wanted.values() or size in (sizes[other] for other in wanted))
            wanted[symbol] = size if symbol in self.fixed else next(taken, size)
        if not satisfies(self.contract, wanted):
            given = {symbol: size for symbol, size in self.fixed.items() if symbol in sizes}
            wanted = choose_sizes(self.contract, given, wanted) or dict(sizes)
        is_less = all(wanted[s] <= size and _is_as_uneven(wanted[s], size, extents) for s, size in sizes.items())
        walked = all(
            _is_walked_alike(wanted[s], n, extents) for s, n in sizes.items() if is_innermost(self.contract, s)
        )
        return wanted if is_less and walked and wanted != dict(sizes) else None


def _less(size: int, least: int, extents: Iterable[int], *, is_walked: bool) -> Iterator[int]:
    """Returns sizes from `least` on, below `size`, as uneven, and as large beside a block where that walks over it."""
    step = _WARP if size > _WARP else 2
    first = max(least, 2)
    first += (size - first) % step
    uneven = (n for n in range(first, size, step) if _is_as_uneven(n, size, extents))
    return (n for n in uneven if not is_walked or _is_walked_alike(n, size, extents))


def _is_as_uneven(small: int, size: int, extents: Iterable[int]) -> bool:
    """Returns whether `small` is a multiple of those extents alone that `size` is."""
    return all((small % e == 0) == (size % e == 0) for e in extents)


def _is_walked_alike(small: int, size: int, extents: Iterable[int]) -> bool:
    """Returns whether `small` lies on the same side of each extent as `size`."""
    return all((small > e) == (size > e) for e in extents)


def _extents(launches: Iterable[LaunchRecord]) -> frozenset[int]:
    """Returns how many threads blocks have, on each axis and in all; and a warp."""
    blocks = [launch.block for launch in launches]
    return frozenset({_WARP, *(n for block in blocks for n in (*block, prod(block)))} - {1})


def _does_as_much(small: Run, large: Run) -> bool:
    """Returns whether the original does at smaller sizes what it did, or did before it was stopped."""
    taken = {side for side in large.coverage.taken if not side.is_of_blocks}  # blocks are counted by launches
    if troubled(small) or not small.launches or not taken <= small.coverage.taken:
        return False
    several, known = _several(small.launches), _several(large.launches)
    if not large.finished:
        return any(axes for axes in several.values()) or (bool(known) and _has_all(known, several))
    return several.keys() == known.keys() and _has_all(known, several)


def _has_all(known: Mapping[str, frozenset[int]], several: Mapping[str, frozenset[int]]) -> bool:
    """Returns whether each kernel that is `known` was launched over several blocks along as many axes."""
    return (
        all(axes <= several.get(name, frozenset()) for name, axes in known.items()) and known.keys() <= several.keys()
    )


def _several(launches: Iterable[LaunchRecord]) -> Mapping[str, frozenset[int]]:
    """Returns the axes along which each kernel was launched over several blocks."""
    found = dict[str, frozenset[int]]()
    for launch in launches:
        axes = frozenset(axis for axis, extent in enumerate(launch.grid) if extent > 1)
        found[launch.kernel] = found.get(launch.kernel, frozenset()) | axes
    return found


def _named(sizes: Sizes) -> str:
    return ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
