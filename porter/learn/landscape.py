"""Landscapes: operators with the schedules that may be chosen for them, and what each choice turns out to take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, exp, log2, prod
from random import Random

from porter.evolve.stream import stream
from porter.learn.table import Table, Trial
from porter.schedule.description import NestDescription
from porter.schedule.schedule import Algorithm, Schedule


@dataclass(frozen=True, slots=True)
class Landscape:
    """An operator of a `family`: the nest whose schedule is chosen, every choice with its time, and in what `order`
    (of places among the choices) porter would try them without having learnt anything; those left out come last.
    """

    name: str
    family: str
    nest: NestDescription
    choices: tuple[Trial, ...]
    order: tuple[int, ...]

    @property
    def best_us(self) -> float:
        """Returns the least time of all choices."""
        return min(one.microseconds for one in self.choices if one.microseconds is not None)


def family_of(nest: NestDescription) -> str:
    """Returns the kind of a nest by its form: what one learns of other kinds need not hold for it."""
    if nest.scans:
        return "running"
    if nest.window > 1:
        return "window"
    if not nest.columns:
        return "pointwise"
    if nest.rows_are_contiguous:
        return "reduction over rows that are neighbours"
    return "normalisation" if nest.written_bytes * 8 > nest.read_bytes else "reduction"


def tabular(table: Table) -> tuple[Landscape, ...]:
    """Returns the operators of a table of which at least two schedules ran."""
    found = (Landscape(one.name, family_of(one.nest), one.nest, one.trials, one.order) for one in table.operators)
    return tuple(one for one in found if sum(trial.microseconds is not None for trial in one.choices) >= 2)


def synthetic(count: int = 24, seed: int = 0) -> tuple[Landscape, ...]:
    """Returns `count` operators of four families whose times are a formula: bytes, latency, registers and launches.

    The formula is of the kind of a GPU, with 1 % of noise drawn for each choice; its numbers are those of no device.
    """
    return tuple(_synthetic(number, seed) for number in range(count))


def _synthetic(number: int, seed: int) -> Landscape:
    draw = stream(seed, "landscape", number)
    nest = _drawn_nest(number % 4, draw)
    choices = list(_legal(nest))
    draw.shuffle(choices)
    trials = tuple(Trial(choice, _time(nest, choice, draw)) for choice in choices)
    return Landscape(f"{family_of(nest)} {number}", family_of(nest), nest, trials, ())


def _drawn_nest(kind: int, draw: Random) -> NestDescription:
    rows, columns = 1 << draw.randrange(4, 16), 1 << draw.randrange(8, 18)
    points, special = rows * columns, draw.randrange(4)
    read, plain = 4 * points, draw.randrange(1, 12)
    if kind == 0:
        return NestDescription((points,), (), read, read, (1, 1), 1, 0, plain, special, False)
    if kind == 1:
        return NestDescription((rows,), (columns,), read, 4 * rows, (1, 1), 1, 0, plain, special, False)
    if kind == 2:
        return NestDescription((rows,), (columns,), read, read, (2, 3), 1, 0, plain, special, False)
    return NestDescription((rows,), (columns,), read, read, (1, 1), 1, 1, plain, special, False)


def _legal(nest: NestDescription) -> Iterator[Schedule]:
    columns = prod(nest.columns)
    for width, warps, hint in product((256, 512, 1024, 2048, 4096, 8192), (1, 2, 4, 8, 16), (False, True)):
        if not nest.columns:
            yield Schedule(Algorithm.FLAT, columns=width, warps=warps, evict_first=hint)
            continue
        for in_one_pass in (True, False):
            yield Schedule(Algorithm.STREAMED, 1, width, 1, warps, 0, in_one_pass, hint)
        if not nest.scans:
            for parts in (4, 16, 64):
                yield Schedule(Algorithm.SPLIT, 1, width, parts, warps, 0, True, hint)
    if nest.columns and not nest.scans and columns <= 65536:
        for warps, hint in product((1, 2, 4, 8, 16, 32), (False, True)):
            yield Schedule(Algorithm.HELD, 1, columns, 1, warps, 0, True, hint)


def _time(nest: NestDescription, choice: Schedule, draw: Random) -> float | None:
    """Returns the microseconds that a schedule takes; None where a thread would need too many registers."""
    columns, rows = prod(nest.columns), prod(nest.rows)
    registers = choice.columns / (choice.warps * 32) * (2 if nest.reads[0] > 1 else 1) + 2 * nest.plain
    if registers > 512:
        return None
    programs = {
        Algorithm.FLAT: rows / choice.columns, Algorithm.SPLIT: rows * choice.parts
    }.get(choice.algorithm, rows)  # fmt: skip
    resident = 132 * max(1, min(2048 // (32 * choice.warps), int(65536 / (32 * choice.warps * max(16.0, registers)))))
    waves = ceil(programs / resident) / max(1e-9, programs / resident)
    reads = 1 if choice.algorithm is Algorithm.HELD else nest.reads[0 if choice.in_one_pass else 1]
    moved_us = (nest.read_bytes * (0.35 + 0.65 * reads) + nest.written_bytes) / 3e6
    flying = min(programs, resident) * choice.columns * 4 / 132
    latency = 1 + 0.8 * max(0.0, log2(49152 / max(1.0, flying))) / 4
    spilled = 1 + max(0.0, registers / 128 - 1)
    special = 1 + 0.02 * nest.special * nest.plain / choice.warps
    fixed = 3 + 3 * (choice.algorithm is Algorithm.SPLIT) + 0.4 * ceil(columns / choice.columns if columns else 1) / 64
    hint = 0.985 if choice.evict_first and reads == 1 else 1.0
    return (moved_us * latency * spilled * special * waves * hint + fixed) * exp(draw.gauss(0, 0.005))


def families(landscapes: Sequence[Landscape]) -> tuple[str, ...]:
    """Returns the families that occur, sorted."""
    return tuple(sorted({one.family for one in landscapes}))
