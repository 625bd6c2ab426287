"""A port as it stands, held to its original: nothing is ported here, only executed and compared."""

from __future__ import annotations

from pathlib import Path

from porter.backend import Backend, Port, PortedFile
from porter.errors import InputError
from porter.evaluate.migrate import held
from porter.evaluate.migration import MigrateOptions, Migration, Progress
from porter.evaluate.side import original_side
from porter.registry import find_backend, find_target
from porter.source.encoding import read_text
from porter.source.headers import DiskHeaders, local_headers
from porter.source.load import load
from porter.source.parse import parse
from porter.source.text import Source


def verify(candidate: Path, against: Path, options: MigrateOptions, progress: Progress) -> Migration:
    """The outcome of `candidate`, a port of `against` in the target's language.

    Raises `InputError` for a file that cannot be read or holds not exactly one source.
    """
    progress(f"reading {candidate.name}")
    backend = find_backend(options.target)
    target = find_target(backend, options.arch)
    program = parse(_only_source(against), headers=DiskHeaders(options.include_dirs), defines=options.defines)
    original = original_side(program, options.include_dirs, options.defines)
    return held(original, _as_it_stands(candidate, backend, options), target, options, progress)


def _as_it_stands(candidate: Path, backend: Backend, options: MigrateOptions) -> Port:
    """The candidate and the local headers it includes; only for C++ a Python file is something that holds sources."""
    whole = candidate.suffix in backend.suffixes
    source = Source(candidate, read_text(candidate)) if whole else _only_source(candidate)
    headers = local_headers(source, options.include_dirs)
    files = (PortedFile(candidate.name, source.text, source), *(PortedFile(n, h.text, h) for n, h in headers))
    return Port(files, ())


def _only_source(path: Path) -> Source:
    sources = load(path).sources
    if len(sources) != 1:
        raise InputError(f"{path}: holds {len(sources)} sources", "verify one at a time: put it into a file of its own")
    return sources[0]
