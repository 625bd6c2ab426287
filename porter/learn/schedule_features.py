"""What a model of schedules is told: numbers about a nest, about a schedule, and about what the two mean together."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from math import log2, prod
from typing import get_type_hints

from porter.schedule.description import NestDescription
from porter.schedule.schedule import Algorithm, Schedule

_MULTIPROCESSORS = 132
_ELEMENT_BYTES = 4


def features(nest: NestDescription, schedule: Schedule) -> dict[str, float]:
    """Returns the features by name; numbers that range over powers of two are logarithms."""
    return {**_of_schedule(schedule), **_of_nest(nest), **_together(nest, schedule)}


def _of_schedule(schedule: Schedule) -> dict[str, float]:
    """Returns every field: a choice of words as one number for each word, others as they are."""
    found: dict[str, float] = {}
    hints = get_type_hints(Schedule)
    for field in fields(Schedule):
        value, kind = getattr(schedule, field.name), hints[field.name]
        if issubclass(kind, StrEnum):
            found |= {f"{field.name} {word}": float(word == value) for word in kind}
        elif kind is bool:
            found[field.name] = float(value)
        else:
            found[field.name] = log2(1 + value)
    return found


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
    rows, columns = max(1, prod(nest.rows)), max(1, prod(nest.columns))
    tile = schedule.rows * schedule.columns
    if schedule.algorithm is Algorithm.HELD:
        tile = schedule.rows * columns
    elements = rows * columns
    programs = elements / tile if schedule.algorithm is Algorithm.FLAT else rows / schedule.rows * schedule.parts
    reads = 1 if schedule.algorithm is Algorithm.HELD else nest.reads[0 if schedule.in_one_pass else 1]
    of_thread = tile / (32 * schedule.warps)
    steps = max(1.0, columns / schedule.parts / schedule.columns) if nest.columns else 1.0
    resident = max(1.0, min(64 / schedule.warps, 512 / max(1.0, of_thread) / schedule.warps * 4))
    last = (nest.columns or nest.rows or (1,))[-1]
    wide = schedule.columns if schedule.columns > 1 else tile
    return {
        "reads": float(reads),
        "transfers": (reads * nest.read_bytes + nest.written_bytes) / max(1, nest.read_bytes + nest.written_bytes),
        "elements a thread": log2(of_thread),
        "held elements a thread": log2(max(1.0, of_thread)) * (schedule.algorithm is Algorithm.HELD),
        "programs": log2(max(1.0, programs)),
        "programs a multiprocessor": log2(max(1 / 256, programs / _MULTIPROCESSORS)),
        "steps": log2(steps),
        "bytes under way": log2(min(resident, max(1 / 256, programs / _MULTIPROCESSORS)) * tile * _ELEMENT_BYTES),
        "waste of the last tile": 1 - last / (-(-last // wide) * wide),
        "window elements a thread": log2(max(1.0, of_thread)) * log2(nest.window),
        "special a thread": log2(max(1.0, of_thread)) * log2(1 + nest.special),
        "threads along rows": log2(schedule.rows) * float(nest.rows_are_contiguous),
    }
