"""The wave rewrite: every warp operation of the source confined to the 32 lanes it was written for.

A CUDA warp is 32 consecutive threads of a block, a wave of MACA 64: so each warp is one half of a wave, and a kernel
means the same on both when whatever it says about its warp is said about the caller's half. That is what the rules do
    intrinsics   masks, widths and results of shuffles, votes, matches, reductions and warp barriers
    warp_size    `warpSize` and the queries of it
    registers    PTX about lanes
    library      cub and ATen
    lockstep     shared memory exchanged without barriers by lanes that are trusted to run together
Arithmetic on 32 (`tid / 32`, `& 31`, `shared[32]`) stays as it is; `hazards` finds it, to say that it was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

from porter.backend import Target
from porter.diagnostics.findings import Finding
from porter.source.edit import Edit
from porter.source.nesting import nested
from porter.source.program import Program
from porter.source_text import Source
from porter.warp.flow import flow_of, together
from porter.warp.lockstep import LockstepAccess, lockstep_accesses
from porter_maca.places import Places
from porter_maca.wave.calls import Stream, streams
from porter_maca.wave.danger import Change, Danger
from porter_maca.wave.hazards import block_changes, hazard_changes
from porter_maca.wave.intrinsics import intrinsic_changes
from porter_maca.wave.library import cub_names, library_changes
from porter_maca.wave.primitives import ATEN_PRIMITIVES, PRIMITIVES, Primitive
from porter_maca.wave.registers import register_changes
from porter_maca.wave.report import findings
from porter_maca.wave.warp_size import WarpSizes, declared_warp_size, warp_size_changes

CUDA_WARP_SIZE = 32
_SYNC = "warp32::sync"
_ARITHMETIC = frozenset({Danger.WARP_SIZE_LITERAL, Danger.WARP_PARTIALS})
_NO_MEETING = _ARITHMETIC | {Danger.HALF_WAVE_BLOCK, Danger.HOST_WARP_SIZE, Danger.DIVIDED_BARRIER, Danger.SPIN_WAIT}


@dataclass(frozen=True, slots=True)
class WaveResult:
    """Edits of the source, what they answer to, and the text they need once in each file; empty when none is needed."""

    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    helpers: str = ""


def rewrite(program: Program, source: Source, target: Target, around: Sequence[Program] = ()) -> WaveResult:
    """Returns edits that make `source`, parsed as `program`, right on the waves of `target`, and keep it right on 32.

    `around` are the other files of the program: they are asked who calls a function that the file itself does not call.
    A source that already holds the helper text is one of porter's ports: nothing is left to do.
    """
    parts = streams(source.text)
    if target.warp_size == CUDA_WARP_SIZE or _is_ported(parts[0]):
        return WaveResult()
    changes = _dangerous(tuple(_changes(parts, program, ())))
    if around and any(c.danger is Danger.UNCLEAR_LOCKSTEP for c in changes):
        changes = _dangerous(tuple(_changes(parts, program, around)))
    edits = (*nested(w for c in changes for w in c.wraps), *(e for c in changes for e in c.edits))
    helpers = helper_text() if any("warp32::" in edit.replacement for edit in edits) else ""
    return WaveResult(edits, findings(changes, program, source, Places.of(source, program.defines)), helpers)


def helper_text() -> str:
    """Returns the namespace `warp32`, guarded against being read twice."""
    return (files("porter_maca.wave") / "warp32.h").read_text("utf-8")


def _is_ported(file: Stream) -> bool:
    words = [t.text for t in file.tokens]
    return any(pair == ("namespace", "warp32") for pair in pairwise(words))


def _changes(parts: tuple[Stream, ...], program: Program, around: Sequence[Program]) -> Iterator[Change]:
    source = program.source
    known = _known_primitives(program)
    flow = flow_of(program, around)
    whole = together(program, around)
    sizes = WarpSizes(_own_warp_sizes(parts, program), any(f.is_device for f in flow.functions))
    cub = cub_names(parts[0])
    for stream in parts:
        yield from intrinsic_changes(stream, source.text, known)
        yield from warp_size_changes(stream, source.text, sizes)
        yield from register_changes(stream, source.text)
        yield from library_changes(stream, cub)
    for function in flow.functions:
        yield from map(_lockstep_change, lockstep_accesses(function, flow, whole, _SYNC))
    yield from hazard_changes(flow, program)
    yield from block_changes(flow, program)


def _lockstep_change(access: LockstepAccess) -> Change:
    danger = Danger.UNCLEAR_LOCKSTEP if access.reason else Danger.LOCKSTEP
    return Change(danger, access.start, access.end, access.array, access.wraps, access.edits, access.reason)


def _dangerous(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Returns `changes` without arithmetic on 32, if nothing in the source makes lanes meet: it is just arithmetic."""
    if any(c.danger not in _NO_MEETING for c in changes):
        return changes
    return tuple(c for c in changes if c.danger not in _ARITHMETIC)


def _known_primitives(program: Program) -> dict[str, Primitive]:
    """Returns the primitives of CUDA, and ATen's where the file includes them and does not define its own."""
    if not any(include.path.startswith("ATen/") for include in program.includes):
        return dict(PRIMITIVES)
    functions = (*program.kernels, *program.device_functions, *program.host_functions)
    defined = {m.name for m in program.macros} | {f.name for f in functions}
    return {**PRIMITIVES, **{n: p for n, p in ATEN_PRIMITIVES.items() if n not in defined}}


def _own_warp_sizes(parts: tuple[Stream, ...], program: Program) -> frozenset[int]:
    """Returns the offsets at which `warpSize` is the user's variable: the whole function or file that declares it."""
    declared = [offset for stream in parts for offset in declared_warp_size(stream)]
    if any(m.name == "warpSize" for m in program.macros):
        declared.append(-1)
    functions = (*program.kernels, *program.device_functions, *program.host_functions)
    scopes = [next((f.span for f in functions if f.span.start <= d < f.span.end), None) for d in declared]
    names = [t.start for stream in parts for t in stream.tokens if t.text == "warpSize"]
    return frozenset(n for n in names if any(s is None or s.start <= n < s.end for s in scopes))
