"""Builds the space of a port: sizes that its source fixes, and what the backend can turn in the port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from porter.backend import Backend, Port, PortedFile, Target
from porter.diagnostics.findings import Severity
from porter.evolve.candidate import File
from porter.evolve.proposing.sizes import Size, resized, sizes
from porter.evolve.space import Knob, Point, Space
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source.program import Program
from porter.source_text import Source
from porter.translation_unit import TranslationUnit

_Files = tuple[PortedFile, ...]


def space_of_port(backend: Backend, original: TranslationUnit, target: Target) -> Space:
    """Returns the points around what `backend` makes of `original`, whose port is the seed.

    A point's files are the port of the source with the sizes of the point, tuned as it says; None where less of that
    source is ported than of the original, or the tuning does not fit it.
    """
    known = sizes(original.program, target)
    taken = {size.knob.name for size in known}
    seed = _port(backend, original, original.program, target)
    tuning = tuple(knob for knob in backend.knobs(seed.files, target) if knob.name not in taken)
    lowering = _Lowering(backend, original, target, known, tuning, _errors(seed))
    return Space((*(size.knob for size in known), *tuning), lowering.files)


def space_of_files(backend: Backend, files: Sequence[File], target: Target) -> Space:
    """Returns the points around a candidate that anybody may have written: what the backend can turn in its text."""
    given = tuple(PortedFile(f.name, f.text, Source(Path(f.name), f.text)) for f in files)
    return Space(backend.knobs(given, target), lambda point: _plain(backend.tuned(given, point, target)))


@dataclass(frozen=True)
class _Lowering:
    """Turns points into files. Keeps ports by their source, since most points differ in what the backend turns."""

    backend: Backend
    original: TranslationUnit
    target: Target
    known: tuple[Size, ...]
    tuning: tuple[Knob, ...]
    errors: frozenset[str]
    made: dict[str, _Files | None] = field(default_factory=dict)

    def files(self, point: Point) -> tuple[File, ...] | None:
        source = resized(self.original.source, self.known, point)
        if source.text not in self.made:
            self.made[source.text] = self._ported(source)
        made = self.made[source.text]
        turned = {knob.name: point[knob.name] for knob in self.tuning}
        return None if made is None else _plain(self.backend.tuned(made, turned, self.target))

    def _ported(self, source: Source) -> _Files | None:
        folders = tuple(map(Path, self.original.include_dirs))
        program = parse(source, headers=DiskHeaders(folders), defines=self.original.defines)
        port = _port(self.backend, self.original, program, self.target)
        return port.files if _errors(port) <= self.errors else None


def _port(backend: Backend, original: TranslationUnit, program: Program, target: Target) -> Port:
    return backend.port(program, tuple(header for _, header in original.headers), target)


def _errors(port: Port) -> frozenset[str]:
    return frozenset(f.message for f in port.findings if f.severity is Severity.ERROR)


def _plain(files: _Files | None) -> tuple[File, ...] | None:
    return None if files is None else tuple(File(file.name, file.text) for file in files)
