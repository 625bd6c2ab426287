"""The sources a command line names, and where the output of each belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from porter.errors import InputError, UsageError
from porter.report.migration.outputs import MANIFEST


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
    try:
        mode = path.stat().st_mode
        found = _cuda_below(path) if S_ISDIR(mode) else [path]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if S_ISDIR(mode):
        if not found:
            raise InputError(f"no CUDA source (*.cu) in {path}", "name a file")
        yield from (NamedSource(file, file.parent.relative_to(path)) for file in found)
    elif S_ISREG(mode):
        yield NamedSource(path)
    else:
        raise InputError(f"{path} is neither a file nor a directory")


def _cuda_below(folder: Path) -> list[Path]:
    """The CUDA files below `folder`, but not the ports an earlier migration left in an output folder there."""
    outputs = {manifest.parent for manifest in folder.rglob(MANIFEST)}
    files = (file for file in folder.rglob("*.cu") if file.is_file())
    return sorted(file for file in files if outputs.isdisjoint(file.parents))
