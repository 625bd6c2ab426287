"""Describes a schedule to a model in numbers: about a nest, about a schedule, about what the two mean together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import log2, prod

from porter.schedule.description import NestDescription
from porter.schedule.schedule import Algorithm, Schedule

TRANSFERS = "transfers"  # what a schedule moves, over each tensor once
_MULTIPROCESSORS = 132
_ELEMENT_BYTES = 4
_REGISTERS = 65536  # of a multiprocessor
_LONG_RUN = 1024  # elements that are neighbours in memory: more are no better
# Of these only counts what they come to in a nest: from words alone a model learns to dislike those it has not seen.
_RELATIVE = frozenset(("algorithm", "rows", "columns", "parts"))


def features(nest: NestDescription, schedule: Schedule) -> dict[str, float]:
    """Returns the features by name; numbers that range over powers of two are logarithms."""
    return {**_of_schedule(schedule), **_of_nest(nest), **_together(nest, schedule)}


def _of_schedule(schedule: Schedule) -> dict[str, float]:
    """Returns the fields that mean the same for every nest."""
    found = {field.name: getattr(schedule, field.name) for field in fields(Schedule)}
    return {name: float(log2(1 + value)) for name, value in found.items() if name not in _RELATIVE}


def _of_nest(nest: NestDescription) -> dict[str, float]:
    rows, columns = prod(nest.rows), prod(nest.columns)
    last = (nest.columns or nest.rows or (1,))[-1]
    return {
        "nest rows": log2(rows),
        "nest columns": log2(columns),
        "nest loops of columns": float(len(nest.columns)),
        "nest last extent": log2(last),
        "nest alignment": log2(min(16, last & -last)),  # of the rows' beginnings, in elements
        "nest bytes": log2(1 + nest.read_bytes + nest.written_bytes),
        "nest share written": nest.written_bytes / max(1, nest.read_bytes + nest.written_bytes),
        "nest reads together": float(nest.reads[0]),
        "nest reads apart": float(nest.reads[1]),
        "nest window": log2(nest.window),
        "nest scans": float(nest.scans),
        "nest plain": log2(1 + nest.plain),
        "nest special": log2(1 + nest.special),
        "nest rows are contiguous": float(nest.rows_are_contiguous),
    }


def _together(nest: NestDescription, schedule: Schedule) -> dict[str, float]:
    """Returns what decides on a GPU: how often memory is read, elements a thread, programs, and bytes under way."""
    shape = _shape(nest, schedule)
    of_thread = shape.elements / (32 * schedule.warps)
    of_multiprocessor = max(1 / 256, shape.programs / _MULTIPROCESSORS)
    registers = max(16.0, of_thread * (1 + (shape.reads == 1 and shape.holds_rows)))
    resident = max(1.0, min(64 / schedule.warps, _REGISTERS / (32 * schedule.warps * registers)))
    moved = shape.reads * nest.read_bytes + nest.written_bytes
    last = (nest.columns or nest.rows or (1,))[-1]
    wide = schedule.columns if schedule.columns > 1 else shape.elements
    return {
        "reads": float(shape.reads),
        TRANSFERS: moved / max(1, nest.read_bytes + nest.written_bytes),
        "elements a thread": log2(of_thread),
        "held elements a thread": log2(max(1.0, of_thread)) * shape.holds_rows,
        "programs": log2(max(1.0, shape.programs)),
        "programs a multiprocessor": log2(of_multiprocessor),
        "steps": log2(shape.steps),
        "bytes under way": log2(min(resident, of_multiprocessor) * shape.elements * _ELEMENT_BYTES),
        "threads under way": log2(min(resident, of_multiprocessor) * schedule.warps * 32),
        "waste of the last tile": 1 - last / (-(-last // wide) * wide),
        "window elements a thread": log2(max(1.0, of_thread)) * log2(nest.window),
        "special a thread": log2(max(1.0, of_thread)) * log2(1 + nest.special),
        "threads along rows": log2(schedule.rows) * float(nest.rows_are_contiguous),
        "run": log2(min(_LONG_RUN, schedule.rows if nest.rows_are_contiguous else schedule.columns)),
    }


@dataclass(frozen=True, slots=True)
class _Shape:
    """Elements that a program has at once, programs, turns of its loop, how often memory is read, whether rows stay."""

    elements: float
    programs: float
    steps: float
    reads: int
    holds_rows: bool


def _shape(nest: NestDescription, schedule: Schedule) -> _Shape:
    rows, columns = max(1, prod(nest.rows)), max(1, prod(nest.columns))
    tile = schedule.rows * schedule.columns
    of_rows = rows / schedule.rows
    match schedule.algorithm:
        case Algorithm.FLAT:
            return _Shape(tile, rows * columns / tile, 1.0, 1, holds_rows=False)
        case Algorithm.HELD:
            return _Shape(schedule.rows * columns, of_rows, 1.0, 1, holds_rows=True)
        case Algorithm.SHARED:
            return _Shape(columns / schedule.parts, of_rows * schedule.parts, 1.0, 1, holds_rows=True)
        case Algorithm.STREAMED | Algorithm.SPLIT | Algorithm.APART:
            reads = nest.reads[0 if schedule.in_one_pass else 1]
            parts = 1 if schedule.algorithm is Algorithm.STREAMED else schedule.parts
            return _Shape(tile, of_rows * parts, max(1.0, columns / parts / schedule.columns), reads, holds_rows=False)
