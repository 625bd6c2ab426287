"""The sources a command line names, and where the output of each belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source to migrate; `subfolder` is its place below the directory it was found in."""

    path: Path
    subfolder: Path = Path()


def named_sources(paths: Sequence[Path]) -> tuple[NamedSource, ...]:
    """Files as they are named, directories as all the `*.cu` below them, sorted.

    Raises `InputError` for a path that does not exist and for a directory without CUDA, `UsageError` when two sources
    would write the same output.
    """
    sources = tuple(dict.fromkeys(source for path in paths for source in _sources_at(path)))
    claims: dict[Path, Path] = {}
    for source in sources:
        other = claims.setdefault(source.subfolder / source.path.stem, source.path)
        if other != source.path:
            raise UsageError(f"{other} and {source.path} would write the same output", "migrate them one by one")
    return sources


def _sources_at(path: Path) -> Iterator[NamedSource]:
    if not path.exists():
        raise InputError(f"no such file or directory: {path}")
    if not path.is_dir():
        yield NamedSource(path)
        return
    found = sorted(file for file in path.rglob("*.cu") if file.is_file())
    if not found:
        raise InputError(f"no CUDA source (*.cu) in {path}", "name a file: any suffix will do")
    yield from (NamedSource(file, file.parent.relative_to(path)) for file in found)
