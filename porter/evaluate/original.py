"""The CUDA source as it is built and read."""

from __future__ import annotations

from dataclasses import replace

from porter.evaluate.migration import MigrateOptions
from porter.evaluate.side import Side, original_side
from porter.source.build_macros import macros_of_build, said
from porter.source.findings import finding
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source.text import Source
from porter.source.unfinished import refuse_unfinished

SET_MACRO = "PORT2015"


def read_original(source: Source, options: MigrateOptions) -> Side:
    """Returns the original as it is built, with the macros set that its headers show its build to set.

    Raises `PorterError` for a source that is cut off.
    """
    headers, defines = DiskHeaders(options.include_dirs), options.defines
    program = parse(source, headers=headers, defines=defines)
    if wanted := macros_of_build(program, headers):
        defines = (*defines, *wanted)
        program = parse(source, headers=headers, defines=defines)
        noted = (
            finding(SET_MACRO, None, said(macro, source), f"--define {macro}=... if it has a value") for macro in wanted
        )
        program = replace(program, findings=(*program.findings, *noted))
    refuse_unfinished(program)
    return original_side(program, options.include_dirs, defines)
