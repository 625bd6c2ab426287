"""Sizes that a judgement draws by its seed: several tiles on every axis, one more than that, and one long last axis.

A candidate that computes 16 rows of a product, launches 13 programs whatever there is to do, or reads the first 1,024
columns is right at small sizes; one whose loop ends an element early is wrong only where a tile holds that element
alone. Where all axes at once are too much to be interpreted, each has its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from random import Random

from porter.contract.model.contract import Contract, TensorArg, Workload
from porter.contract.workload.materialise import shape_of
from porter.contract.workload.workloads import is_innermost, widest

Sizes = Mapping[str, int]
Fit = Callable[[Sizes], Sizes | None]

_TILES = (130, 190)  # more than a tile of 128, which is as large as candidates take one
_COLUMNS = (260, 420)  # of a last axis beside such rows
_LONG = (2_050, 4_900)  # more than a block of 1,024 or 2,048, and no power of two
_ALONE = (9_000, 20_000)  # the only size there is
_TILES_OF_MANY = (34, 70)  # of one axis of several: more than a tile of 32
# Sizes are one more than these: of the last axis by how many axes there are, and multiples of it for the others.
_UNITS_OF_LAST, _UNIT_OF_INNER, _UNIT = {1: 8_192, 2: 1_024}, 64, 32
_TILE_OF_ALL = 256  # the product of two sizes of one more is one more than a multiple of 512
_FEW = (2, 3, 5, 4, 7, 6)
_MOST_ELEMENTS = 1 << 18  # of all tensors together: a row takes a program, which is interpreted in milliseconds
_LONG_AXES = 2


def drawn_sizes(contract: Contract, fixed: Sizes, seed: int, fit: Fit) -> Iterator[tuple[str, dict[str, int]]]:
    """Yields a name and sizes for each workload; `fixed` sizes stay.

    `fit` gives the sizes nearest to some at which the original has an answer, None where it knows none.
    """
    free = [symbol for symbol in contract.symbols if symbol not in fixed]
    random = Random(f"{seed} {contract.name}")
    inner = [symbol for symbol in free if is_innermost(contract, symbol)]
    long = _long_axes(free, inner, random)
    over = [*_just_over(free, inner, random), *_just_over_in_all(free)]
    wishes = [*_several_tiles(contract, free, inner, random), *long, *over]
    for name, targets, large in wishes:
        found = fit({**targets, **fixed})
        if found and all(found[s] * 2 > targets[s] for s in large) and _elements(contract, found) <= _MOST_ELEMENTS:
            yield name, dict(found)


def _several_tiles(
    contract: Contract, free: list[str], inner: list[str], random: Random
) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    """Yields all axes at once where no tensor has more than two; else one after the other."""
    if len(free) == 1:
        yield "several tiles", {free[0]: random.randint(*_ALONE)}, free
    elif free and max(widest(contract, symbol) for symbol in free) <= 2:
        columns = inner if len(free) == 2 else []
        yield "several tiles", {s: random.randint(*(_COLUMNS if s in columns else _TILES)) for s in free}, free
    else:
        for symbol in free:
            yield f"several tiles of {symbol}", {**_few(free), symbol: random.randint(*_TILES_OF_MANY)}, [symbol]


def _long_axes(free: list[str], inner: list[str], random: Random) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    if len(free) > 1:
        for symbol in inner[:_LONG_AXES]:
            yield f"a long axis of {symbol}", {**_few(free), symbol: random.randint(*_LONG)}, [symbol]


def _just_over(free: list[str], inner: list[str], random: Random) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    """Yields one element more than whole tiles: of the last axis, and of as many others as are not too much."""
    last, unit = inner[:1], _UNITS_OF_LAST.get(len(free), _UNIT_OF_INNER)
    others = [symbol for symbol in free if symbol not in last][-2 if len(free) == 3 else -1 :]
    tiles = random.randint(1, 2) if len(free) == 2 else 1
    over = dict.fromkeys(others, _UNIT * tiles + 1) | dict.fromkeys(last, unit + 1)
    if over:
        yield "just over tiles", {**_few(free), **over}, list(over)


def _just_over_in_all(free: list[str]) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    """Yields one element more than whole tiles where two axes are taken together, as one long one."""
    if len(free) == 2:
        yield "just over tiles in all", dict.fromkeys(free, _TILE_OF_ALL + 1), free


def _few(free: list[str]) -> dict[str, int]:
    return {symbol: _FEW[index % len(_FEW)] for index, symbol in enumerate(free)}


def _elements(contract: Contract, sizes: Sizes) -> int:
    """Returns how many elements all tensors have together."""
    workload = Workload("", sizes, 0)
    shapes = (shape_of(argument, workload) for argument in contract.arguments if isinstance(argument, TensorArg))
    return sum(prod(shape) for shape in shapes)
