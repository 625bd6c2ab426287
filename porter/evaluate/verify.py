"""A port as it stands, held to its original: what `migrate` does, without the porting."""

from __future__ import annotations

import time
from pathlib import Path

from porter.backend import Port, PortedFile
from porter.evaluate.migrate import prove, read_original
from porter.evaluate.migration import MigrateOptions, Migration, Progress
from porter.registry import find_backend, find_target
from porter.source.headers import local_headers
from porter.source.load import read_sources
from porter.source.text import Source


def verify(candidate: Path, against: Path, options: MigrateOptions, progress: Progress) -> Migration:
    """Prove the port at `candidate` against the CUDA source at `against`.

    Raises the `PorterError`s of `migrate`.
    """
    begin = time.monotonic()
    target = find_target(find_backend(options.target), options.arch)
    original = read_original(against, options, progress)
    port = _as_it_stands(read_sources(candidate)[0], options)
    return prove(original, port, target, options, progress=progress, begin=begin)


def _as_it_stands(source: Source, options: MigrateOptions) -> Port:
    """The candidate and the local headers it includes, by the names it uses."""
    headers = local_headers(source, options.include_dirs)
    files = (PortedFile(source.path.name, source.text, source), *(PortedFile(n, h.text, h) for n, h in headers))
    return Port(files, ())
