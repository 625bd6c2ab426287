"""Draws what a candidate is judged on, unknown to its author: fresh seeds, other distributions, sizes at the edge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from porter.contract.model.contract import Contract, Distribution, EntryKind, Role, Values, Workload
from porter.contract.model.dtype import DType
from porter.contract.model.validate import satisfies
from porter.contract.workload.distributions import ASKED_FOR
from porter.contract.workload.materialise import materialise, retyped, shape_of
from porter.contract.workload.workloads import choose_sizes, is_innermost
from porter.evaluate.reference.drawn_numbers import drawn_numbers, may_be_unmeant, telling_sizes
from porter.evaluate.reference.drawn_sizes import Fit, drawn_sizes
from porter.execution.job import TensorValue
from porter.oracle.jobs import job
from porter.oracle.reference import Expected

_JUST_OVER_A_TILE = 257  # by one over 256 and all smaller powers of two
# Sums long enough that adding them up in too few bits shows, products of more than a tile; the others need no more than
# a few elements. A hundred thousand show no more of that than a few thousand do, and take thirty times as long.
_AT_LARGE_SIZES = frozenset((Distribution.UNIFORM, Distribution.LARGE_MEAN, Distribution.NEAR_ONE))

_ONE_COLUMN = "one column"
_NOT_WANTED = "{} was not asked for (--dtype)"
_SCALED = (Values.NORMAL, Values.POSITIVE)
_LONG = 1 << 13  # elements of a tensor along one axis
_USUAL_ELEMENTS = 1 << 15  # of all tensors: enough for something to be compared, and soon done
_BEYOND_HALF = 2e5
_LARGE = 100.0  # a scale of 3, which some contracts have, overflows nowhere
_TOLD = frozenset((Distribution.MASKED, Distribution.NAN))  # whatever answers to them: no standard settles it
_TIED = frozenset(
    (Distribution.TIES, Distribution.ROUND, Distribution.CONSTANT_ROWS, Distribution.ZEROS, Distribution.NEGATIVE_ZEROS)
)


@dataclass(frozen=True, slots=True)
class Judging:
    """The rules by which workloads of a judgement are drawn; the same `seed` draws the same ones.

    `fixed` are sizes that the user chose, `edges` says whether the others may be one or none. `dtypes` are the element
    types that the candidate is for, of those that the original dispatches over; empty means all.
    """

    seed: int
    fixed: Mapping[str, int]
    edges: bool = True
    dtypes: frozenset[DType] = frozenset()

    def wanted(self, contract: Contract) -> tuple[Contract, str]:
        """Returns `contract` with the element types that the candidate is for, and what is said of the others."""
        left_out = [w for w in contract.workloads if self.dtypes and not self.dtypes.issuperset(w.dtypes.values())]
        kept = replace(contract, workloads=tuple(w for w in contract.workloads if w not in left_out))
        types = sorted({str(dtype) for w in left_out for dtype in w.dtypes.values()} - {str(d) for d in self.dtypes})
        return kept, _NOT_WANTED.format(", ".join(types)) if types else ""

    def reseeded(self, contract: Contract) -> Contract:
        """Returns `contract` with its workloads at seeds of this judgement."""
        return replace(contract, workloads=tuple(self._drawn(w) for w in contract.workloads))

    def further(self, contract: Contract, fit: Fit | None = None) -> tuple[Workload, ...]:
        """Returns workloads beyond those of `contract`.

        `fit` returns nearby sizes at which the original has an answer; without it the contract's conditions decide.
        """
        plain = [w for w in contract.workloads if is_plain(w)]
        if not plain or contract.entry.kind is EntryKind.PROGRAM:
            return ()
        by_size = sorted(plain, key=lambda w: (_elements(contract, w), w.name))
        small = replace(by_size[0], scale=1.0)
        again = () if any(w.sizes == small.sizes for w in by_size[1:]) else (replace(small, name="another seed"),)
        scales = _scales(small, [w.scale for w in plain])
        edges = self._narrow(contract, small) if self.edges else ()
        kinds = _distributions(contract, small, _usual(contract, by_size), _long(contract, by_size))
        tiles = self._tiles(contract, small, fit) if self.edges else ()
        wide = _beyond_half(contract, small)
        return tuple(self._drawn(w) for w in (*again, *scales, *wide, *kinds, *edges, *tiles))

    def numbers(self, contract: Contract) -> tuple[Workload, ...]:
        """Returns workloads with other values of numbers that are not sizes and that nobody stated."""
        plain = [w for w in contract.workloads if is_plain(w)]
        if not plain or not self.edges or contract.entry.kind is EntryKind.PROGRAM:
            return ()
        base = min(plain, key=lambda w: _elements(contract, w))
        told = replace(base, sizes=telling_sizes(contract) or base.sizes)
        return tuple(self._drawn(w) for w in drawn_numbers(contract, told, self.seed))

    def usual(self, contract: Contract) -> tuple[Workload, ...]:
        """Returns the workload at which other values of numbers are tried, and one for each choice of element types.

        None where no such value is asked for.
        """
        plain = sorted((w for w in contract.workloads if is_plain(w)), key=lambda w: _elements(contract, w))
        if not plain or not self.edges or contract.entry.kind is EntryKind.PROGRAM:
            return ()
        return _usual(contract, plain), *_by_types(contract)

    def _narrow(self, contract: Contract, small: Workload) -> Iterator[Workload]:
        """Yields workloads at the edges, and one column for each choice of element types, where kernels may differ.

        There, a read beyond the end of a row is one beyond the end of a tensor.
        """
        yield from _edges(contract, small, frozenset(self.fixed))
        for base in _by_types(contract):
            for edge in _edges(contract, replace(base, scale=1.0, takes=""), frozenset(self.fixed)):
                if edge.name == _ONE_COLUMN:
                    yield replace(edge, name=f"{base.name}, {edge.name}")

    def _tiles(self, contract: Contract, small: Workload, fit: Fit | None) -> Iterator[Workload]:
        """Yields workloads at sizes that only this judgement has."""

        def near(targets: Mapping[str, int]) -> Mapping[str, int] | None:
            return choose_sizes(contract, self.fixed, targets)

        for name, sizes in drawn_sizes(contract, self.fixed, self.seed, fit or near):
            yield replace(small, name=name, sizes=sizes)

    def _drawn(self, workload: Workload) -> Workload:
        digest = hashlib.blake2b(f"{self.seed} {workload.name}".encode(), digest_size=6).digest()
        return replace(workload, seed=int.from_bytes(digest, "little"))


def of_judgement(workloads: Iterable[Workload]) -> tuple[Workload, ...]:
    """Returns `workloads` as those of a judgement, which are not written into the contract."""
    return tuple(replace(workload, is_drawn=True) for workload in workloads)


def is_plain(workload: Workload) -> bool:
    """Returns whether a workload has nothing but sizes and contents."""
    chosen = workload.scalars or workload.dtypes or workload.takes or workload.layouts or workload.axes
    return not (chosen or workload.device_only)


def decides(contract: Contract, expected: Expected, *, takes_nothing: bool) -> bool:
    """Returns whether an answer that differs is wrong; if not, the verdict only mentions it.

    No standard settles what a minimum makes of a NaN, which of two equal elements is the largest, how many axes an
    operator is for whose reference takes any, whether a factor may be less than zero, and whether an operator may be
    called on nothing, unless an original's own code `takes_nothing` soundly.
    """
    if expected.workload.axes or may_be_unmeant(contract, expected.workload):
        return False
    kind = expected.workload.distribution
    arguments = job(contract, expected.workload, given=expected.arguments).arguments
    empty = any(0 in value.shape for value in arguments if isinstance(value, TensorValue))
    read = {tensor.name for tensor in contract.parts if tensor.role is Role.IN}
    written = {value.dtype for name, value in expected.outputs.tensors if name not in read}
    # Whether a number is larger than its equal no candidate may choose.
    chosen = any(not dtype.is_float for dtype in written - ({DType.BOOL} if kind is Distribution.ROUND else set()))
    return not (kind in _TOLD or (empty and not takes_nothing) or (chosen and kind in _TIED))


def faults_decide(expected: Expected) -> bool:
    """Returns whether a crash is wrong even where another answer would not be.

    Any of equal elements may be the largest, but none of them excuses an access outside of memory.
    """
    return expected.workload.distribution in _TIED and 0 not in expected.workload.sizes.values()


def _usual(contract: Contract, by_size: Sequence[Workload]) -> Workload:
    """Returns the largest workload of those that take little time, else the smallest."""
    return next((w for w in reversed(by_size) if _elements(contract, w) <= _USUAL_ELEMENTS), by_size[0])


def _long(contract: Contract, by_size: Sequence[Workload]) -> Workload:
    """Returns the largest workload whose tensors are long enough along each axis, but not longer; else the smallest."""

    def longest(workload: Workload) -> int:
        return max((max(shape_of(t, workload), default=1) for t in contract.tensors), default=1)

    return next((w for w in reversed(by_size) if longest(w) <= _LONG), by_size[0])


def _distributions(contract: Contract, small: Workload, usual: Workload, large: Workload) -> Iterator[Workload]:
    """Yields a workload for each distribution that changes an input."""
    for kind in (k for k in Distribution if k not in ASKED_FOR):
        base = large if kind in _AT_LARGE_SIZES else usual if kind is Distribution.ROUND else small
        base = replace(base, scale=1.0)
        workload = replace(base, name=kind.value, distribution=kind)
        if _inputs(contract, workload) != _inputs(contract, base):
            yield workload


def _scales(small: Workload, given: Sequence[float]) -> Iterator[Workload]:
    """Yields workloads with values that overflow unless care is taken, and with values that vanish beside others."""
    if max(given) < _LARGE:
        yield replace(small, name="larger values", scale=1e3)
    if min(given) > 1 / _LARGE:
        yield replace(small, name="smaller values", scale=1e-3)


def _beyond_half(contract: Contract, small: Workload) -> Iterator[Workload]:
    """Values that bfloat16 has and float16 has not, for each choice of element types with some."""
    for base in (small, *_by_types(contract)):
        read = (tensor for tensor in retyped(contract, base).tensors if tensor.role is not Role.OUT)
        if any(tensor.dtype is DType.BFLOAT16 and tensor.values in _SCALED for tensor in read):
            choice = f"{base.name}, " if base.dtypes else ""
            yield replace(base, name=f"{choice}values beyond float16", scale=_BEYOND_HALF, takes="")


def _by_types(contract: Contract) -> tuple[Workload, ...]:
    """Returns a workload for each choice of element types."""
    chosen = [w for w in contract.workloads if w.dtypes and not (w.device_only or 0 in w.sizes.values())]
    return tuple({tuple(sorted(w.dtypes.items())): w for w in chosen}.values())


def _inputs(contract: Contract, workload: Workload) -> list[bytes]:
    values = materialise(contract, workload)
    return [value.storage.tobytes() for value in values if isinstance(value, TensorValue)]


def _edges(contract: Contract, small: Workload, fixed: frozenset[str]) -> Iterator[Workload]:
    """Yields workloads of one row, one column, a row just over a tile, and none."""
    free = [s for s in contract.symbols if s not in fixed]
    inner = [s for s in free if is_innermost(contract, s)]
    outer = [s for s in free if s not in inner]
    wanted = {
        "one row": (dict.fromkeys(outer, 1),),
        _ONE_COLUMN: (dict.fromkeys(inner, 1),),
        "just over a tile": (dict.fromkeys(inner[:1], _JUST_OVER_A_TILE),),
        "empty": tuple({size: 0} for size in (outer or inner)),
    }
    for name, choices in wanted.items():
        possible = ({**small.sizes, **changed} for changed in choices)
        sizes = next((sizes for sizes in possible if sizes != small.sizes and satisfies(contract, sizes)), None)
        if sizes:
            yield replace(small, name=name, sizes=sizes)


def _elements(contract: Contract, workload: Workload) -> int:
    return sum(v.storage.size for v in materialise(contract, workload) if isinstance(v, TensorValue))
