"""Finds ways in which an entry that refuses its arguments might take them: other shapes, rounder sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from porter.contract.model.contract import Argument, Contract, EntryKind, ScalarArg, TensorArg
from porter.contract.model.expressions import evaluate, names_in
from porter.contract.model.questions import extent_question, unknown_extents
from porter.execution.job import Run

_PLACEMENTS = 5
_EXTRA_AXIS = 64
_FLAGS = ("0", "1")
_MOST_CHOICES = 4
_MOST_SYMBOLS = 3
_VECTOR_BYTES = 16
_MOST_LIMITED, _LEAST_ARRAY = 6, 2
_ARRAY_END = re.compile(r"\bindex \d+ of an array of type '[^'\[]*\[(\d+)\]")
_TILES = ("{} % 32 == 0", "{} % 64 == 0")
_LEAST = (2, 4, 8, 32, 64, 256)
_DEMANDS = (
    "{} % 32 == 0",
    "{} % 128 == 0",
    "{0} % 32 == 0 && {0} == pow2ceil({0})",
    "{} % 256 == 0",
    "{} >= 1024",
)


def placements(contract: Contract) -> Iterator[Contract]:
    """Yields `contract` as it is; for torch also with other tensors' shapes, then single extents, for unknown ones."""
    yield contract
    unknown = unknown_extents(contract)
    if contract.entry.kind is not EntryKind.TORCH or not unknown:
        return
    known = [t.shape for t in contract.tensors if t not in unknown]
    shapes = dict.fromkeys((*known, *((s,) for shape in known for s in reversed(shape))))
    for shape in list(shapes)[: _PLACEMENTS - 1]:
        yield _placed(contract, shape)


def flipped(contract: Contract) -> Iterator[Contract]:
    """Yields `contract` with a flag inverted, or another of some choices: host code may refuse the first."""
    for flag in (a for a in contract.arguments if isinstance(a, ScalarArg)):
        for value in _others(flag):
            other = replace(flag, value=value)
            yield replace(contract, arguments=tuple(other if a is flag else a for a in contract.arguments))


def _others(flag: ScalarArg) -> Iterator[str]:
    """Yields other values for `flag`: its other choices, else those that follow a small number."""
    choices = flag.choices or (_FLAGS if flag.type == "bool" else ())
    if choices:
        yield from (choice for choice in choices if choice != flag.value)
    elif flag.value.isdigit() and int(flag.value) <= _MOST_CHOICES:
        yield from (str(int(flag.value) + step) for step in range(1, _MOST_CHOICES))


def _placed(contract: Contract, shape: tuple[str, ...]) -> Contract:
    unknown = unknown_extents(contract)
    arguments = tuple(
        replace(a, shape=shape) if a in unknown and isinstance(a, TensorArg) else a for a in contract.arguments
    )
    answered = {extent_question(t.name) for t in unknown}
    return replace(contract, arguments=arguments, questions=tuple(q for q in contract.questions if q not in answered))


def divisibilities(contract: Contract) -> Iterator[tuple[str, ...]]:
    """Yields conditions to try.

    First sizes that others divide are multiples of these; then the innermost symbols are multiples of a vector, a warp
    or a block, powers of two, or one size.
    """
    if contract.shares:
        yield contract.shares
    lanes = _VECTOR_BYTES // min([4, *(t.dtype.bytes for t in contract.tensors if t.dtype.is_float)])
    yield from _demanded(contract, (f"{{}} % {lanes} == 0", *_DEMANDS))


def tiles(contract: Contract) -> Iterator[tuple[str, ...]]:
    """Yields that sizes are whole tiles: code that guards none of its tiles leaves its tensors at any other."""
    yield from _demanded(contract, _TILES)


def array_limits(contract: Contract, trouble: str) -> Iterator[tuple[str, ...]]:
    """Yields that one of the sizes is what an array of constant extent has at most, where its end was the `trouble`.

    Nothing for an array of one or two elements: a size that hardly changes leaves next to nothing to compare.
    """
    if (told := _ARRAY_END.search(trouble)) is not None and int(told[1]) > _LEAST_ARRAY:
        yield from ((f"{symbol} <= {told[1]}",) for symbol in contract.symbols[::-1][:_MOST_LIMITED])


def repairs(contract: Contract, trouble: str) -> Iterator[tuple[str, ...]]:
    """Yields conditions that may help: a least size before a multiple, since above it odd sizes are right as well."""
    yield from array_limits(contract, trouble)
    if contract.shares:
        yield contract.shares
    yield from _demanded(contract, [f"{{}} >= {size}" for size in _LEAST])
    yield from divisibilities(contract)


def _demanded(contract: Contract, demands: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yields each demand on one of the innermost symbols, then on all symbols."""
    walked = frozenset[str]().union(*(names_in(t.shape[-1]) for t in contract.tensors if t.shape))
    backwards = contract.symbols[::-1]
    symbols = sorted(backwards, key=lambda symbol: symbol not in walked)[:_MOST_SYMBOLS]
    for demand in demands:
        for symbol in symbols:
            yield (demand.format(symbol),)
        if len(contract.symbols) > 1:
            yield tuple(demand.format(s) for s in contract.symbols)


def own_grids(contract: Contract) -> Iterator[tuple[str, str]]:
    """Yields each symbol that only a guessed grid has, with each size it might be."""
    launch = contract.entry.launch
    given = [a.value for a in contract.arguments if isinstance(a, ScalarArg) and a.value in contract.symbols]
    for own in launch.grid if launch is not None else ():
        if own in contract.symbols and own not in given:
            yield from ((own, size) for size in reversed(given))


def left_known(contract: Contract, run: Run) -> bool:
    """Returns whether a run leaves a tensor whose shape host code states."""
    unknown = unknown_extents(contract)
    return any(t.beyond and tensor not in unknown for tensor, t in zip(contract.tensors, run.touched, strict=False))


def lengthened(contract: Contract, run: Run) -> Contract:
    """Returns torch tensors that kernels read past the end of, with one more axis, which host code never names."""
    short = {t.name for t, touched in zip(contract.tensors, run.touched, strict=False) if touched.beyond}
    arguments = tuple(
        replace(a, shape=(*a.shape, str(_EXTRA_AXIS))) if isinstance(a, TensorArg) and a.name in short else a
        for a in contract.arguments
    )
    return replace(contract, arguments=arguments)


def fitted_axes(contract: Contract, run: Run, sizes: Mapping[str, int]) -> Contract:
    """Cuts axes that `lengthened` added down to the part that is used."""
    touched = dict(zip((t.name for t in contract.tensors), run.touched, strict=False))
    arguments: list[Argument] = []
    for argument in contract.arguments:
        if isinstance(argument, TensorArg) and argument.shape[-1:] == (str(_EXTRA_AXIS),) and argument.name in touched:
            seen = touched[argument.name]
            elements = max(seen.read_end, seen.written_end) // argument.dtype.bytes
            rows = prod(evaluate(extent, sizes) for extent in argument.shape[:-1])
            arguments.append(replace(argument, shape=(*argument.shape[:-1], str(max(1, -(-elements // max(1, rows)))))))
        else:
            arguments.append(argument)
    return replace(contract, arguments=tuple(arguments))
