"""The CUDA source as it is built and read."""

from __future__ import annotations

from porter.evaluate.migration import MigrateOptions
from porter.evaluate.side import Side, original_side
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source.text import Source
from porter.source.unfinished import refuse_unfinished


def read_original(source: Source, options: MigrateOptions) -> Side:
    """Returns the original as it is built. Raises `PorterError` for a source that is cut off."""
    program = parse(source, headers=DiskHeaders(options.include_dirs), defines=options.defines)
    refuse_unfinished(program)
    return original_side(program, options.include_dirs, options.defines)
