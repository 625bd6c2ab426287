"""The original with the warp barriers that it relies on and leaves out.

Lanes trusted to run in lockstep are what no device since Volta grants: without barriers such a source races, and a
source that races is no reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter.source.edit import apply_edits
from porter.source.nesting import nested
from porter.source.parse import parse
from porter.source.program import Program
from porter.source_text import Source
from porter.warp.flow import flow_of, together
from porter.warp.lockstep import LockstepAccess, lockstep_accesses


def with_warp_barriers(program: Program, headers: Sequence[Source]) -> tuple[Source, ...]:
    """Returns those files, of the source of `program` and its local `headers`, that lack barriers, with them put in."""
    programs = (program, *map(parse, dict.fromkeys(headers)))
    return tuple(source for one in programs if (source := _mended(one, [p for p in programs if p is not one])))


def _mended(program: Program, around: Sequence[Program]) -> Source | None:
    """The file with its barriers. Who calls a function that the file itself does not call is read from `around`."""
    if "volatile" not in program.source.text:
        return None
    accesses = _accesses(program, ())
    if any(access.reason for access in accesses):
        accesses = _accesses(program, around)
    edits = (*nested(w for a in accesses for w in a.wraps), *(e for a in accesses for e in a.edits))
    return replace(program.source, text=apply_edits(program.source.text, edits)) if edits else None


def _accesses(program: Program, around: Sequence[Program]) -> list[LockstepAccess]:
    flow, whole = flow_of(program, around), together(program, around)
    return [a for function in flow.functions for a in lockstep_accesses(function, flow, whole, "__syncwarp")]
