"""Finds and turns the knobs of MACA C++: edits the text, whoever wrote it, and keeps no state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from porter.backend import PortedFile, Target
from porter.evolve.proposing.edited import EditedKnob, by_name, edited, turned
from porter.evolve.space import Knob, Point
from porter.source.parse import parse
from porter.source.program import Program
from porter.source_text import Source
from porter_maca.schedules.batches import batches
from porter_maca.schedules.bounds import bounds
from porter_maca.schedules.loops import loops
from porter_maca.schedules.turns import turns


def knobs(files: tuple[PortedFile, ...], target: Target) -> tuple[Knob, ...]:
    """Returns the knobs of the first file: unrolling of loops, blocks that share a multiprocessor, turns."""
    return tuple(one.knob for one in by_name(_offered(_program(files[0]), target)))


def tuned(files: tuple[PortedFile, ...], point: Point, target: Target) -> tuple[PortedFile, ...] | None:
    """Returns `files` as `point` says; None where the first has no such knob."""
    if not (wanted := turned(point)):
        return files
    text = edited(files[0].text, _offered(_program(files[0]), target), wanted)
    return None if wanted or text is None else (replace(files[0], text=text), *files[1:])


def _program(file: PortedFile) -> Program:
    return parse(Source(Path(file.name), file.text))


def _offered(program: Program, target: Target) -> Iterator[EditedKnob]:
    yield from loops(program)
    yield from bounds(program, target)
    yield from turns(program)
    yield from batches(program)
