"""Makes runs that ask a question: the arguments and sizes of a probe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from porter.contract.analysis.shares import with_shares
from porter.contract.model.contract import Contract, Role, TensorArg, Values, Workload, with_parts
from porter.contract.model.dtype import encode
from porter.contract.model.expressions import evaluate
from porter.contract.model.questions import unknown_extents
from porter.contract.workload.materialise import materialise
from porter.contract.workload.structs import all_changed
from porter.contract.workload.workloads import choose_sizes, counting_blocks
from porter.execution.job import Job, TensorValue

# Primes by the number of symbols: products stay small, and a single size reaches beyond a block. No symbol has only
# sizes that are one more than a multiple of 4, where `4 * (n / 4)` is `n - 1`.
_LADDERS: Mapping[int, tuple[tuple[int, ...], ...]] = {
    1: ((37,), (523,), (1031,), (298,)),
    2: ((13, 37), (19, 263), (5, 1031), (14, 298)),
    3: ((5, 13, 37), (7, 11, 131), (3, 17, 67), (6, 10, 74)),
    4: ((3, 5, 7, 23), (5, 2, 11, 17), (2, 7, 13, 11), (4, 6, 10, 14)),
}
# The attempt at which all sizes are even: what ends with the last whole pair of an odd row ends elsewhere there.
EVEN = 3
# The attempt at which the first size is the largest: what counts tiles, `cdiv(rows, tile)`, is 1 where the tile is.
FALLING = 4
_EVEN_SIZES = (4, 6, 10, 14, 8, 2)
_SMALL = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
_BOUND_PRIMES = (11, 17, 29)
_MULTIPLES = (2, 3, 5, 7, 11)
_FEW = 3
PROBE_ELEMENTS = 1 << 16  # of a tensor of unknown extent
_DRAWN = (Values.NORMAL, Values.POSITIVE, Values.PROBABILITY, Values.BOOLEAN)
_MULTIPLE_OF = re.compile(r"\b(\w+) % (\d+) == 0")


@dataclass(frozen=True, slots=True)
class Filling:
    """One number in all elements: `read` in those of inputs, `changed` in those of tensors that are also outputs."""

    read: Values
    changed: Values


# `if (flags[i]) y[i] = x[i]` touches the last element of x, or not, as chance has it; and what a kernel marks as done
# and then asks for is cleared by its caller, so that only zeros there show what comes behind.
FILLINGS = (
    Filling(Values.ONES, Values.ONES),
    Filling(Values.ZEROS, Values.ZEROS),
    Filling(Values.ONES, Values.ZEROS),
)


def job(contract: Contract, workload: Workload, poison: int = 0xFF) -> Job:
    """Returns the run of `workload`; a KERNEL's launch is evaluated at its sizes."""
    arguments = materialise(contract, workload, poison)
    launch = contract.entry.launch
    if launch is None:
        return Job(arguments=arguments, poison=poison)
    sizes = workload.sizes
    x, y, z = (max(1, evaluate(text, sizes)) for text in launch.grid)
    bx, by, bz = (max(1, evaluate(text, sizes)) for text in launch.block)
    shared = evaluate(launch.shared_bytes, sizes)
    return Job(arguments=arguments, poison=poison, grid=(x, y, z), block=(bx, by, bz), shared_bytes=shared)


def probe_job(
    contract: Contract, sizes: Mapping[str, int], grown: Mapping[str, int], workload: Workload | None = None
) -> Job:
    """Returns a run on tensors that hold `PROBE_ELEMENTS`, or as many as `grown` says, where their extent is unknown.

    Indices are all at their largest. Inputs are those of `workload`, if it is given.
    """
    wide = _widened(contract, grown)
    return _at_the_bound(job(wide, workload or Workload("probe", sizes, seed=1)), wide, sizes)


def with_nans(probe: Job, contract: Contract) -> Job:
    """Returns `probe` with NaN in all floats that are drawn.

    `if (isnan(x[i])) y[i] = 0` touches nothing of y elsewhere.
    """

    def nans(tensor: TensorArg, value: TensorValue) -> TensorValue:
        if not (tensor.dtype.is_float and tensor.values in _DRAWN):
            return value
        return replace(value, storage=encode(np.full(value.storage.size, np.nan), value.dtype).reshape(value.shape))

    return replace(probe, arguments=all_changed(contract, probe.arguments, nans))


def filled(contract: Contract, filling: Filling) -> Contract:
    """Returns `contract` with the numbers of `filling` in the inputs that no other argument depends on."""

    def with_filling(part: TensorArg) -> TensorArg:
        is_drawn = part.values in _DRAWN and not part.elements
        return replace(part, values=filling.changed if part.role is Role.INOUT else filling.read) if is_drawn else part

    return replace(contract, arguments=with_parts(contract.arguments, with_filling))


def _widened(contract: Contract, grown: Mapping[str, int]) -> Contract:
    """Widens unknown extents to those of a probe, and makes everything an input, so that it does not hold poison."""
    unknown = {t.name for t in unknown_extents(contract)}
    arguments = tuple(
        replace(a, shape=(str(grown.get(a.name, PROBE_ELEMENTS)),), role=Role.INOUT)
        if isinstance(a, TensorArg) and a.name in unknown
        else a
        for a in contract.arguments
    )
    return replace(contract, arguments=arguments)


def _at_the_bound(probe: Job, contract: Contract, sizes: Mapping[str, int]) -> Job:
    """Returns `probe` with all indices at their largest, wherever a prefix of them ends, and offsets rising by one."""

    def largest(tensor: TensorArg, value: TensorValue) -> TensorValue:
        if tensor.values not in (Values.INDEX, Values.SORTED):
            return value
        count, bound = value.storage.size, evaluate(tensor.bound, sizes)
        filled = np.arange(count) if tensor.values is Values.SORTED else np.full(count, bound - 1)
        return replace(value, storage=encode(filled, value.dtype).reshape(value.shape))

    return replace(probe, arguments=all_changed(contract, probe.arguments, largest))


def probe_sizes(
    contract: Contract, bounds: frozenset[str], fixed: Mapping[str, int], attempt: int, smaller: int
) -> dict[str, int] | None:
    """Returns the sizes of a probe: primes that differ between symbols and attempts, less with each step of `smaller`.

    They are even numbers for the attempt `EVEN`, and the largest first for `FALLING`. A size that has to be a multiple
    of more than its prime is another prime times that: it would otherwise always be the same.

    `bounds` are the symbols that stand for unknown bounds. Sums reach what limits them: of `offset + count <= width`
    another width would not show in what a tensor spans. None when the conditions leave no choice.
    """
    symbols = [s for s in contract.symbols if s not in fixed]
    counting = counting_blocks(contract)
    plain = sorted((s for s in symbols if s not in bounds), key=lambda s: s not in counting)  # few blocks
    if attempt == FALLING:
        attempt, plain = 1, plain[::-1]
    ladder = _LADDERS.get(len(plain)) if smaller == 0 else None
    step = attempt + 3 * smaller
    targets = {
        s: ladder[attempt][i]
        if ladder
        else _EVEN_SIZES[i % len(_EVEN_SIZES)]
        if attempt == EVEN
        else _SMALL[(i + 1 + 2 * step) % (len(_SMALL) - 4 * smaller)]
        for i, s in enumerate(plain)
    }
    units = {s: int(unit) for text in contract.conditions for s, unit in _MULTIPLE_OF.findall(text)}
    several = max(len(_MULTIPLES) - smaller - (len(units) >= _FEW), _FEW)  # three large multiples are much work
    for i, s in enumerate(plain):
        if targets[s] < _FEW * units.get(s, 0):
            targets[s] = units[s] * _MULTIPLES[(i + attempt) % several]
    targets = with_shares(contract, targets, attempt)
    targets |= {s: _BOUND_PRIMES[(attempt + i) % 3] for i, s in enumerate(s for s in symbols if s in bounds)}
    return choose_sizes(unshaped(contract), fixed, targets, filling=True)


def unshaped(contract: Contract) -> Contract:
    """Returns the contract without guessed shapes: they must not keep the sizes of a probe down."""
    unknown = {t.name for t in unknown_extents(contract)}
    return replace(
        contract,
        arguments=tuple(a for a in contract.arguments if not isinstance(a, TensorArg) or a.name not in unknown),
    )
