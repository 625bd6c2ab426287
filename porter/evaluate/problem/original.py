"""The CUDA source as it is built and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from porter.contract.model.contract import Contract
from porter.diagnostics.findings import Finding
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.problem.elsewhere import Taken, defined_elsewhere
from porter.rules.original import OwnCode
from porter.source.build_macros import macros_of_build, said
from porter.source.findings import finding
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source.unfinished import refuse_unfinished
from porter.source_text import Source
from porter.translation_unit import TranslationUnit, original_unit

SET_MACRO, OF_ANOTHER_FILE = "PORT2015", "PORT2017"


def read_original(source: Source, options: MigrateOptions, within: Path | None = None) -> TranslationUnit:
    """Returns the original as it is built.

    It has the macros that its headers show its build to set, and what other files of its library define of the
    functions that it declares. Headers lie `within` a folder, if one is named. Raises `PorterError` for a source that
    is cut off.
    """
    headers, defines = DiskHeaders(options.include_dirs, within), options.defines
    program = parse(source, headers=headers, defines=defines)
    if wanted := macros_of_build(program, headers):
        defines = (*defines, *wanted)
        program = parse(source, headers=headers, defines=defines)
        noted = (
            finding(SET_MACRO, None, said(macro, source), f"--define {macro.partition('=')[0]}=... for another value")
            for macro in wanted
        )
        program = replace(program, findings=(*program.findings, *noted))
    refuse_unfinished(program)
    if taken := defined_elsewhere(program):
        pieces, notes = tuple(one.piece for one in taken), tuple(map(_of_another_file, taken))
        program = replace(program, elsewhere=pieces, findings=(*program.findings, *notes))
    return original_unit(program, options.include_dirs, defines)


def no_original(path: Path, own: OwnCode, contracts: Sequence[Contract], options: MigrateOptions) -> TranslationUnit:
    """Returns what stands in for an original where candidates are compared with something else.

    It is an empty source at `path`, with the user's build options, and the code that is its `own` all the same.
    """
    empty = parse(Source(path, ""), defines=options.defines)
    called = own.functions.union(contract.entry.name for contract in contracts)
    side = original_unit(empty, options.include_dirs, options.defines)
    return replace(side, own=replace(own, functions=called))


def _of_another_file(taken: Taken) -> Finding:
    names = ", ".join(taken.names)
    return finding(OF_ANOTHER_FILE, None, f"{names}: as {taken.piece.path.name} beside its declaration defines it")
