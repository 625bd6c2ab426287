"""Chooses default workloads: sizes that satisfy the conditions, small enough to emulate, odd enough to find errors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from porter.contract.analysis.shares import divisors_first, multiples_of, ordered, with_shares
from porter.contract.analysis.sums import bounded
from porter.contract.model.contract import Contract, TensorArg, Values, Workload
from porter.contract.model.expressions import evaluate, holds, last_factor, names_in, product_of_names
from porter.contract.model.selections import Selection, selections
from porter.contract.model.syntax import ExpressionError

MAX_ELEMENTS = 200_000
MAX_THREADS = 1 << 26  # of the launch of a bare kernel: half a minute on the CPU where each does next to nothing
SMALL_SCALE, LARGE_SCALE = 1e-3, 1e3
_SEED = 20_011
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 23, 31, 37, 53, 67, 97, 131, 197, 263, 389, 521, 769, 1031, 2053, 4099, 8191, 12289)
# Sizes by the number of symbols that multiply into a tensor: the axis threads walk, and the others. What is no size of
# one is a number of blocks or of steps, most often, which costs time and shows nothing beyond a block of threads.
_INNER = {0: 263, 1: 4099, 2: 1031, 3: 131, 4: 37, 5: 13}
_OUTER = {0: 263, 1: 4099, 2: 13, 3: 11, 4: 7, 5: 5}
# The same for the largest sizes that are emulated; so few blocks of 256 that a loop over a grid's stride takes turns.
_LARGE_INNER = {0: 34, 1: 131_074, 2: 4098, 3: 514, 4: 66, 5: 18}
_LARGE_OUTER = {0: 34, 1: 131_074, 2: 34, 3: 14, 4: 10, 5: 6}
# Of a size that multiplies itself, as that of square matrices: their product is a third power of it.
_SQUARED, _LARGE_SQUARED = 131, 258
# Sizes of the other axes by how many they are, when they shall be more than a block of 256 threads that take one each.
_MANY = {1: 263, 2: 17, 3: 7}
# Where a condition wants a multiple or a power of two, these follow the primes.
_ROUND = (1, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024, 2048, 4096)
_MAX_TRIALS = 1_500
_LARGEST_CONSTANT = 65_536
_OF_PLACES = (Values.INDEX, Values.SORTED)  # their bounds are at least 1
_INTEGER = re.compile(r"\b\d+\b")


def default_workloads(contract: Contract, fixed: Mapping[str, int] | None = None) -> tuple[Workload, ...]:
    """Returns workloads for `contract`: tiny, odd, large and small values, many rows, and odd sizes for each choice.

    `fixed` holds sizes the user chose. Empty when no sizes were found that satisfy the conditions: the caller has a
    question to ask.
    """
    given = dict(fixed or {})
    tiny = choose_sizes(contract, given, _tiny_targets(contract))
    odd = None if tiny is None else choose_sizes(contract, given, _odd_targets(contract))
    if tiny is None or odd is None:
        return ()
    return (
        Workload("tiny", tiny, _SEED),
        Workload("odd", odd, _SEED + 1),
        Workload("large values", odd, _SEED + 2, scale=LARGE_SCALE),
        Workload("small values", tiny if tiny != odd else odd, _SEED + 3, scale=SMALL_SCALE),
        *_many_rows(contract, given),
        *(selecting(selection, odd) for selection in selections(contract)),
    )


def _many_rows(contract: Contract, given: Mapping[str, int]) -> Iterator[Workload]:
    """Yields a workload of many short rows, for kernels in which a thread takes a row: others have one block."""
    free = [s for s in contract.symbols if s not in given]
    outer = [s for s in free if widest(contract, s) > 1 and not is_innermost(contract, s)]
    wish = dict.fromkeys(outer, _MANY.get(len(outer), 3))
    targets = ordered(contract, {**_tiny_targets(contract), **wish})
    sizes = choose_sizes(contract, given, targets) if outer else None
    if sizes is not None:
        yield Workload("many rows", sizes, _SEED + 5)


def large_workloads(contract: Contract, fixed: Mapping[str, int]) -> Iterator[Workload]:
    """Yields workloads of even sizes, the largest that are emulated first, then fewer elements."""
    for divisor in (1, 4, 16, 64):
        targets: dict[str, int] = {}
        for index, symbol in enumerate(contract.symbols):
            wishes = _LARGE_INNER if is_innermost(contract, symbol) else _LARGE_OUTER
            wish = _LARGE_SQUARED if _is_squared(contract, symbol) else wishes.get(widest(contract, symbol), 4)
            targets[symbol] = max(4, wish // divisor // 4 * 4 + 2) + 4 * index  # no multiples of 4
        sizes = choose_sizes(contract, fixed, with_shares(contract, targets, 0))
        if sizes is not None and all(n % 2 == 0 for symbol, n in sizes.items() if symbol not in fixed):
            yield Workload("large", sizes, _SEED + 7)


def selecting(selection: Selection, sizes: Mapping[str, int]) -> Workload:
    """Returns a workload in which one argument has another value."""
    return Workload(
        f"{selection.name} = {selection.value}", sizes, _SEED + 4, scalars={selection.name: selection.value}
    )


def branching(condition: str, sizes: Mapping[str, int]) -> Workload:
    """Returns a workload at sizes by which host code chooses otherwise than at the default ones."""
    return Workload(condition, sizes, _SEED + 6)


def with_workloads(contract: Contract, fixed: Mapping[str, int] | None = None) -> Contract:
    """Returns `contract` with its default workloads."""
    return replace(contract, workloads=default_workloads(contract, fixed))


def _tiny_targets(contract: Contract) -> dict[str, int]:
    """Returns a different small prime for each symbol."""
    targets = {symbol: _PRIMES[1 + index % 5] for index, symbol in enumerate(contract.symbols)}
    return with_shares(contract, targets, 0)


def _odd_targets(contract: Contract) -> dict[str, int]:
    """Returns different primes, so that swapped sizes show; above a block on the axis threads walk, else small."""
    targets: dict[str, int] = {}
    for symbol in contract.symbols:
        wishes = _INNER if is_innermost(contract, symbol) else _OUTER
        wish = _SQUARED if _is_squared(contract, symbol) else wishes.get(widest(contract, symbol), 3)
        free = [p for p in _PRIMES if p not in targets.values()]
        targets[symbol] = min(free, key=lambda p: abs(p - wish), default=wish)
    return with_shares(contract, targets, 1, evenly=False)


def is_innermost(contract: Contract, symbol: str) -> bool:
    """Returns whether `symbol` counts along the innermost axis of a tensor of the highest rank it is part of.

    What counts the blocks of a launch does not, where a tensor has another size as well: in which order an extent has
    them says nothing.
    """
    most, apart = widest(contract, symbol), counting_blocks(contract)
    return any(
        symbol in last_factor(tensor.shape[-1], apart)
        for tensor in contract.tensors
        if tensor.shape and _rank(tensor, symbol) == most
    )


def counting_blocks(contract: Contract) -> frozenset[str]:
    """Returns the sizes that are, by themselves, an extent of the grid of a kernel's launch."""
    launch = contract.entry.launch
    return frozenset(contract.symbols) & frozenset(launch.grid if launch is not None else ())


def widest(contract: Contract, symbol: str) -> int:
    """Returns the highest rank of a tensor that `symbol` is part of."""
    return max((_rank(tensor, symbol) for tensor in contract.tensors), default=1)


def _is_squared(contract: Contract, symbol: str) -> bool:
    """Returns whether a tensor has at least sixteen times as many elements where `symbol` is four times as large."""
    small = dict.fromkeys(contract.symbols, 2)
    try:
        few, many = (
            [math.prod(evaluate(extent, sizes) for extent in tensor.shape) for tensor in contract.tensors]
            for sizes in (small, {**small, symbol: 8})
        )
    except ExpressionError:
        return False
    return any(0 < before <= after // 16 for before, after in zip(few, many, strict=True))


def _rank(tensor: TensorArg, symbol: str) -> int:
    """Returns how many symbols multiply into the size of a tensor that `symbol` is part of; 0 when there is none."""
    used = frozenset().union(*(names_in(extent) for extent in tensor.shape))
    return len(used) if symbol in used else 0


def choose_sizes(
    contract: Contract, given: Mapping[str, int], targets: Mapping[str, int], *, filling: bool = False
) -> dict[str, int] | None:
    """Returns sizes near `targets`, or near a fraction, that satisfy the conditions and keep every tensor small.

    Sums that a condition limits (`offset + count <= width`) reach their limit, if they are to be `filling`. None when
    no sizes were found.
    """
    free = divisors_first((s for s in contract.symbols if s not in given), contract.conditions)
    for divisor in (1, 2, 4, 8, 32):
        search = _Search(contract, {s: max(2, t // divisor) for s, t in targets.items()}, filling=filling)
        sizes = search.solve(free, dict(given))
        if sizes is not None:
            return {s: sizes[s] for s in contract.symbols}
    return None


class _Search:
    """Searches depth first, each symbol's favourite first; a condition prunes as soon as all its names are known."""

    def __init__(self, contract: Contract, targets: Mapping[str, int], *, filling: bool = False) -> None:
        self.contract = contract
        self.targets = targets
        self.filling = filling
        self.trials = 0
        self.sums = tuple(filter(None, map(bounded, contract.conditions)))
        bounds = (f"({t.bound}) >= 1" for t in contract.parts if t.bound and t.values in _OF_PLACES)
        conditions = tuple((c, names_in(c)) for c in (*contract.conditions, *bounds))
        shapes = tuple((t.shape, frozenset[str]().union(*map(names_in, t.shape))) for t in contract.tensors)
        self.conditions = {s: [(c, used) for c, used in conditions if s in used] for s in contract.symbols}
        self.shapes = {s: [(e, used) for e, used in shapes if s in used] for s in contract.symbols}
        whole = (product_of_names(" * ".join(tensor.shape)) for tensor in contract.tensors if tensor.shape)
        products = tuple(filter(None, whole))
        self.products = {s: [names for names in products if s in names] for s in contract.symbols}
        launch = contract.entry.launch
        self.launch = (*launch.grid, *launch.block) if launch is not None else ()
        self.launch_names = frozenset[str]().union(*map(names_in, self.launch))

    def solve(self, free: list[str], sizes: dict[str, int]) -> dict[str, int] | None:
        """Returns `sizes` extended by `free`, or None."""
        if not free:
            return sizes
        symbol, rest = free[0], free[1:]
        for candidate in self.candidates(symbol, sizes):
            self.trials += 1
            if self.trials > _MAX_TRIALS:
                return None
            trial = {**sizes, symbol: candidate}
            if self.possible(symbol, trial) and (found := self.solve(rest, trial)) is not None:
                return found
        return None

    def possible(self, symbol: str, sizes: Mapping[str, int]) -> bool:
        """Returns whether nothing known about `symbol` is broken by `sizes`."""
        known = sizes.keys()
        if not all(_may_fit(names, sizes) for names in self.products[symbol]):
            return False
        try:
            return (
                all(holds(text, sizes) for text, used in self.conditions[symbol] if used <= known)
                and all(limited.may_hold(sizes) for limited in self.sums)
                and all(_fits([evaluate(e, sizes) for e in s]) for s, used in self.shapes[symbol] if used <= known)
                and (
                    symbol not in self.launch_names
                    or not self.launch_names <= known
                    or math.prod(max(1, evaluate(e, sizes)) for e in self.launch) <= MAX_THREADS
                )
            )
        except ExpressionError:
            return False

    def candidates(self, symbol: str, sizes: Mapping[str, int]) -> Iterator[int]:
        """Yields candidates for a size: the target, primes from near to far, then round numbers.

        All are multiples of what it has to be a multiple of, by `sizes` that are known; multiples of numbers in the
        conditions come last.
        """
        target = self.targets[symbol]
        if self.filling:
            yield from (n for limited in self.sums if (n := limited.filling(symbol, sizes)) > 0)
        for unit in multiples_of(self.contract.conditions, symbol, sizes):
            yield from sorted((unit * k for k in (max(2, target // unit), 3, 5, 2, 1)), key=lambda n: abs(n - target))
        constants = {int(c) for text, _ in self.conditions[symbol] for c in _INTEGER.findall(text)}
        multiples = {c * k for c in constants if 0 < c <= _LARGEST_CONSTANT for k in (1, 3, 5, 7)}
        yield target
        for constant in sorted((c for c in constants if 1 < c <= target), reverse=True):
            yield (target // constant - 1 | 1) * constant  # an odd multiple
        yield from (p for p in sorted(_PRIMES, key=lambda p: abs(p - target)) if p != target)
        yield from sorted({*_ROUND, *multiples}, key=lambda r: abs(r - target))


def _may_fit(names: tuple[str, ...], sizes: Mapping[str, int]) -> bool:
    """Returns whether a product of names is small where those not known yet are 2, the least that says much."""
    return math.prod(sizes.get(name, 2) for name in names) <= MAX_ELEMENTS


def _fits(extents: list[int]) -> bool:
    return all(e >= 0 for e in extents) and math.prod(extents) <= MAX_ELEMENTS
