"""Rewrites `#include` lines: CUDA's headers become MACA's, local headers are found where the port puts them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from porter.diagnostics.findings import Finding
from porter.source.directives import directives
from porter.source.edit import Edit
from porter.source_text import Source
from porter_maca.api import ApiTable, Renamed, Unsupported
from porter_maca.places import Places
from porter_maca.traced import Traced

_INCLUDE = re.compile(r'#[ \t]*include(?:_next)?[ \t]*(?P<quoted>[<"](?P<path>[^>"\n]+)[>"])')


@dataclass(frozen=True, slots=True)
class Inclusion:
    """One `#include`; `text[start:end]` is the path with its quotes or angles."""

    path: str
    start: int
    end: int


def inclusions(text: str) -> Iterator[Inclusion]:
    """Yields every `#include` of `text` that is no comment."""
    for token in directives(text):
        if found := _INCLUDE.match(token.text):
            start, end = found.span("quoted")
            yield Inclusion(found["path"].strip(), token.start + start, token.start + end)


def distinct(source: Source, headers: Iterable[Source]) -> tuple[Source, ...]:
    """Returns `headers` without `source` itself, each once, however its path is written."""
    found = {_normal(header.path): header for header in reversed(tuple(headers))}
    found.pop(_normal(source.path), None)
    return tuple(reversed(found.values()))


def port_names(home: Path, headers: Sequence[Source]) -> Mapping[Path, str]:
    """Returns the places of the distinct `headers`: relative to `home`, or the bare name of one from elsewhere."""
    names: dict[Path, str] = {}
    for header in headers:
        path = _normal(header.path)
        inside = path.is_relative_to(_normal(home))
        name = path.relative_to(_normal(home)).as_posix() if inside else path.name
        while name in names.values():
            name = f"{path.parent.name}/{name}"
        names[path] = name
    return names


def include_ported(
    traced: Traced, table: ApiTable, port_name: str, names: Mapping[Path, str], places: Places
) -> tuple[Traced, list[Finding]]:
    """Returns `traced`, to be written as `port_name`, with every include named as on MACA.

    `names` are the local headers with their places in the port (`port_names`).
    """
    edits: list[Edit] = []
    findings: list[Finding] = []
    for found in inclusions(traced.text):
        local = _local(traced.source.path, found.path, names)
        if local is not None:
            relative = posixpath.relpath(local, str(PurePosixPath(port_name).parent))
            if relative != found.path:
                edits.append(Edit(found.start, found.end, f'"{relative}"'))
            continue
        match table.header(found.path):
            case Renamed(_, maca):
                edits.append(Edit(found.start + 1, found.end - 1, maca))
            case Unsupported(cuda, _, reason):
                span = traced.span(found.start, found.end)
                findings.append(places.finding("PORT1100", [span], f"<{cuda}> has no counterpart on MACA", reason))
    return traced.edited(edits), findings


def _local(includer: Path, path: str, names: Mapping[Path, str]) -> str | None:
    """Returns the port's name of the local header that `path` means when `includer` says it."""
    beside = names.get(_normal(includer.parent / path))
    if beside is not None:
        return beside
    wanted = PurePosixPath(posixpath.normpath(path)).parts
    wanted = tuple(part for part in wanted if part != "..")
    return next((name for known, name in names.items() if known.parts[-len(wanted) :] == wanted), None)


def _normal(path: Path) -> Path:
    return Path(posixpath.normpath(path.as_posix()))
