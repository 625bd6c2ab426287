"""Finds and turns the knobs of a module of Triton kernels: edits the text, whoever wrote it, and keeps no state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.backend import PortedFile, Target
from porter.evolve.proposing.edited import EditedKnob, by_name, edited, turned
from porter.evolve.space import Knob, Point
from porter_triton.schedules.loops import loops
from porter_triton.schedules.streams import streams
from porter_triton.schedules.text import ModuleText
from porter_triton.schedules.turns import turns
from porter_triton.schedules.warps import warps
from porter_triton.schedules.widths import widths


def knobs(files: tuple[PortedFile, ...], target: Target) -> tuple[Knob, ...]:
    """Returns the knobs of the first file: widths and rows of tiles, then options of launches, loops and accesses."""
    module = ModuleText.of(files[0].text)
    if module is None:
        return ()
    return tuple(one.knob for one in by_name((*widths(module), *turns(module), *_told(module, target))))


def tuned(files: tuple[PortedFile, ...], point: Point, target: Target) -> tuple[PortedFile, ...] | None:
    """Returns `files` as `point` says; None without such a knob, or if a tile is too small for so many warps."""
    wanted = turned(point)
    text: str | None = files[0].text
    # Whether warps suit a tile depends on its size, which so is turned first.
    for offered in (widths, turns, lambda module: _told(module, target)):
        module = None if text is None else ModuleText.of(text)
        if module is not None and wanted:
            text = edited(module.text, offered(module), wanted)
    return None if wanted or text is None else (replace(files[0], text=text), *files[1:])


def _told(module: ModuleText, target: Target) -> Iterator[EditedKnob]:
    yield from warps(module, target)
    yield from loops(module)
    yield from streams(module)
