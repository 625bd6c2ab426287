"""Defines traits by which an archive sorts candidates: how they work, or as in Kernel-Smith their length and score."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from porter.backend import Backend, PortedFile
from porter.errors import UsageError
from porter.evolve.axis import Axis, Cell, numeric
from porter.evolve.candidate import File
from porter.evolve.scored import Score

MECHANISM, KERNEL_SMITH = "mechanism", "kernel-smith"
PRESETS = (MECHANISM, KERNEL_SMITH)
# The words and signs of a program over those of the seed stand for complexity: layout and long names add nothing.
_LENGTH_AND_SCORE = (
    numeric("complexity", (0.8, 0.95, 1.05, 1.25, 1.6, 2.5)),
    numeric("score", (0.5, 0.8, 1.0, 1.25, 2.0, 4.0, 8.0)),
)


_WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Traits:
    """The axes of an archive, and where a right candidate lies on them by its files and its score."""

    axes: tuple[Axis, ...]
    cell: Callable[[tuple[PortedFile, ...], Score | None], Cell]


def traits(name: str, backend: Backend, seed: Sequence[File]) -> Traits:
    """Returns the preset of that name for a search from `seed`. Raises `UsageError` for another name."""
    if checked_preset(name) == MECHANISM:
        return Traits(backend.axes(), lambda files, score: backend.features(files))  # noqa: ARG005 - the score tells nothing
    length = max(1, _length(seed))
    complexity, score_axis = _LENGTH_AND_SCORE

    def cell(files: tuple[PortedFile, ...], score: Score | None) -> Cell:
        factor = 0.0 if score is None else score.factor
        return complexity.coordinate(_length(files) / length), score_axis.coordinate(factor)

    return Traits(_LENGTH_AND_SCORE, cell)


def checked_preset(name: str) -> str:
    """Returns `name`, where it is that of a preset. Raises `UsageError` for another one."""
    if name not in PRESETS:
        raise UsageError(f"--axes {name}: there are no such axes", f"the choices are {', '.join(PRESETS)}")
    return name


def preset_of(axes: Sequence[Axis]) -> str:
    """Returns the name of the preset that has these axes: a journal keeps only the axes."""
    return KERNEL_SMITH if tuple(axes) == _LENGTH_AND_SCORE else MECHANISM


def _length(files: Sequence[File] | Sequence[PortedFile]) -> int:
    return sum(len(_WORDS.findall(file.text)) for file in files)
