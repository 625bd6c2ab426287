"""At which sizes a Python reference is asked: those it is written with are made for a device with gigabytes.

Each size of its inputs becomes a symbol, and stands for itself wherever else it is written: two that are equal stay
equal, and a module is built for what it is given. One that does not vary, because the reference then does not run, or
because it may be a kernel's width, stays as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from porter.oracle.python_question import Description

Describe = Callable[[Mapping[int, int]], Description | None]
Runs = Callable[["Sizes"], bool]

_LARGE = 16  # as in the process of the reference: what is larger means the same wherever it stands
MAX_ELEMENTS = 1 << 20  # of all tensors of a question together
_PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 67, 97, 131, 263, 521, 523, 1031, 2053, 4099)
_UNITS = (8, 16, 32)  # of which sizes have to be multiples where groups or heads share them
_WIDER = 3
# Of the last axis by the number of axes, and of the others.
_INNER = {1: 4099, 2: 521, 3: 67, 4: 19}
_OUTER = {0: 13, 1: 4099, 2: 13, 3: 11, 4: 5}


@dataclass(frozen=True, slots=True)
class Sizes:
    """A symbol for each size that varies, with the number it is written as, and two choices of them all."""

    symbols: Mapping[str, int]
    tiny: Mapping[str, int]
    odd: Mapping[str, int]

    def extents(self, sizes: Mapping[str, int]) -> dict[int, int]:
        """`sizes` as what is put for the numbers written."""
        return {written: sizes[symbol] for symbol, written in self.symbols.items()}


def find_sizes(written: Description, describe: Describe, runs: Runs = lambda _: True) -> Sizes | None:
    """Sizes at which the reference runs and nothing is large; None where there are none.

    Shapes do not show all: a class may lie beyond the scores, one extent of which was the number of classes. So the
    first sizes at which it `runs` on contents are preferred.
    """
    varying, first = _varying(written), None
    for chosen in _choices(list(varying.values())):
        symbols = {symbol: extent for symbol, extent in varying.items() if extent in chosen}
        found = [_first(written, symbols, targets, describe) for targets in (_tiny(symbols), _odd(written, symbols))]
        if found[0] is not None:
            sizes = Sizes(symbols, found[0], found[1] or found[0])
            if runs(sizes):
                return sizes
            first = first or sizes
    return first


def _varying(written: Description) -> dict[str, int]:
    """The sizes that may vary, each under the name of where it comes first: those of inputs, then of parameters.

    Of the latter only those that the module is built with: others follow from these.
    """
    found: dict[int, str] = {}
    for tensor in written.inputs:
        for axis, extent in enumerate(tensor.shape):
            if extent > 1 and (extent > _LARGE or extent not in written.initial):
                found.setdefault(extent, f"{tensor.name}_size{axis}")
    for tensor in written.parameters:
        for axis, extent in enumerate(tensor.shape):
            if extent > _LARGE and extent in written.initial:
                found.setdefault(extent, f"{tensor.name}_size{axis}")
    return {symbol: extent for extent, symbol in found.items()}


def _choices(extents: list[int]) -> Iterator[list[int]]:
    """All of them, all but one, all but two, none."""
    yield extents
    for left_out in range(len(extents)):
        yield [e for i, e in enumerate(extents) if i != left_out]
    for first in range(len(extents)):
        for second in range(first + 1, len(extents)):
            yield [e for i, e in enumerate(extents) if i not in (first, second)]


def sizes_near(
    written: Description, symbols: Mapping[str, int], targets: Mapping[str, int], describe: Describe
) -> dict[str, int] | None:
    """The sizes nearest to `targets` at which the reference runs; `symbols` have the numbers that are written.

    `targets` may have others besides, which follow from these.
    """
    return _first(written, symbols, {symbol: targets[symbol] for symbol in symbols}, describe)


def _first(
    written: Description, symbols: Mapping[str, int], targets: Mapping[str, int], describe: Describe
) -> dict[str, int] | None:
    """The targets, or the nearest sizes to them at which the reference runs."""
    groups = sorted({n for n in written.initial if 1 < n <= _LARGE} - set(_UNITS))
    for sizes in _near(targets, (*groups, *_UNITS)):
        found = describe({extent: sizes[symbol] for symbol, extent in symbols.items()})
        if found is not None and elements(found) <= MAX_ELEMENTS:
            return sizes
    return None


def _near(targets: Mapping[str, int], units: tuple[int, ...]) -> Iterator[dict[str, int]]:
    """Sizes to try: the targets, wider ones for what slides a window over them, one as a multiple, all as multiples."""
    yield dict(targets)
    yield {symbol: target * _WIDER for symbol, target in targets.items()}
    for unit in units:
        yield from ({**targets, symbol: _multiple(target, unit)} for symbol, target in targets.items())
    for unit in units:
        for least in (1, _WIDER):
            yield {s: unit * (least + 2 * i) for i, s in enumerate(targets)}


def _multiple(target: int, unit: int) -> int:
    """The odd multiple of `unit` next to `target`, three at least."""
    return unit * max(3, round(target / unit) | 1)


def _tiny(symbols: Mapping[str, int]) -> dict[str, int]:
    return {symbol: _PRIMES[index % len(_PRIMES)] for index, symbol in enumerate(symbols)}


def _odd(written: Description, symbols: Mapping[str, int]) -> dict[str, int]:
    """Different primes: many elements along the last axes, few along the others."""
    targets: dict[str, int] = {}
    for symbol, extent in symbols.items():
        ranks = [(len(t.shape), t.shape[-1] == extent) for t in written.inputs if extent in t.shape]
        rank = max((r for r, _ in ranks), default=0)  # none where it is one of parameters alone
        wish = (_INNER if (rank, True) in ranks else _OUTER).get(rank, 3)
        free = [p for p in _PRIMES if p not in targets.values()]
        targets[symbol] = min(free, key=lambda p: abs(p - wish))
    return targets


def elements(description: Description) -> int:
    """Of all tensors together."""
    tensors = (*description.inputs, *description.parameters, *description.results)
    return sum(prod(tensor.shape) for tensor in tensors if tensor.dtype)


def expression(written: int, tiny: int, odd: int, sizes: Sizes) -> str:
    """Returns what gives an extent that is `written` so and has these two sizes; empty where nothing does."""
    for symbol, extent in sizes.symbols.items():
        if (written, tiny, odd) == (extent, sizes.tiny[symbol], sizes.odd[symbol]):
            return symbol
    if tiny == odd:
        return str(tiny)
    for symbol in sizes.symbols:
        times, left = divmod(tiny, sizes.tiny[symbol])
        if left == 0 and times * sizes.odd[symbol] == odd:
            return f"{times} * {symbol}"
    return ""
