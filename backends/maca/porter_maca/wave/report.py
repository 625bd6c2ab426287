"""Reports changes as findings: one for each function and kind of danger, however often the function repeats it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from porter.diagnostics.findings import Finding
from porter.source.program import Function, Program
from porter.source_text import Source
from porter_maca.places import Places
from porter_maca.wave.danger import Change, Danger

# What a danger does on a wave of 64 lanes, after "in `name`: "; and what the port does about it.
_WORDS: Mapping[Danger, tuple[str, str]] = {
    Danger.WARP_SIZE_LITERAL: (
        "lanes and warps are counted by 32 ({what}); a wave has 64 lanes",
        "the port keeps warps of 32 lanes, two in a wave, so these counts stay right",
    ),
    Danger.LANE_MASK: (
        "a 32-bit lane mask ({what}) names lanes 0-31 of a 64-lane wave, never lanes 32-63",
        "the port moves each mask to the caller's half of the wave with `warp32::lanes`",
    ),
    Danger.SHUFFLE: (
        "{what} without a width ranges over all 64 lanes of a wave",
        "the port gives each the width 32",
    ),
    Danger.BALLOT: (
        "{what} answers with 64 bits on a 64-lane wave; the code reads 32",
        "the port takes the 32 bits of the caller's warp with `warp32::bits`",
    ),
    Danger.WARP_PARTIALS: (
        "the shared array `{what}` holds one value for each warp of 32 lanes",
        "the port keeps warps of 32 lanes, so its extent and its indices stay right",
    ),
    Danger.LOCKSTEP: (
        "lanes exchange `{what}` through shared memory without a barrier, trusting them to run in lockstep",
        "the port reads, meets at `__syncwarp`, writes, and meets again",
    ),
    Danger.LANE_REGISTER: (
        "the PTX {what} speaks of a warp of 32 lanes, and MACA has no PTX",
        "the port says it in C++ for the caller's 32 lanes",
    ),
    Danger.WARP_SIZE: (
        "the built-in `warpSize` is 64 on MACA, while masks, shuffles and arrays here are made for 32",
        "the port says `warp32::size`, which is 32",
    ),
    Danger.HOST_WARP_SIZE: (
        "{what} answers 64 on MACA; the kernels work in warps of 32",
        "the port says `warp32::size`, which is 32",
    ),
    Danger.VOTE: (
        "{what} must not mix the two warps of 32 lanes that share a wave",
        "the port confines it to the caller's warp by its mask",
    ),
    Danger.WARP_BARRIER: (
        "{what} waits for all 64 lanes of a wave, also where only one warp of 32 comes",
        "the port names the 32 lanes of the caller's warp",
    ),
    Danger.LEGACY: (
        "{what} takes all active lanes of a 64-lane wave",
        "the port confines it to the caller's 32 lanes",
    ),
    Danger.HALF_WAVE_BLOCK: (
        "a block of {what} threads does not fill its waves of 64 lanes: the rest of the last one stays idle",
        "results are right; blocks of a multiple of 64 threads use the hardware fully",
    ),
    Danger.LIBRARY: (
        "{what} means the whole wave of 64 lanes on MACA",
        "the port says 32 lanes explicitly",
    ),
    Danger.COALESCED_GROUP: (
        "{what} groups up to 64 active lanes on MACA, where the code has met at most 32",
        "ranks, sizes and shuffles of the group stay consistent; check code that stores its masks in 32 bits",
    ),
    Danger.TENSOR_CORE: (
        "tensor-core fragments ({what}) are held by a whole wave of 64 lanes on MACA, by 32 lanes here",
        "redistribute the tiles over waves, or call a library for the matrix product",
    ),
    Danger.DIVIDED_BARRIER: (
        "a block barrier stands under a condition ({what}) that can differ within a wave of 64 lanes",
        "move the barrier to where all threads of the block reach it",
    ),
    Danger.SPIN_WAIT: (
        "a loop ({what}) waits for another warp, which may share its wave and then never run",
        "let one thread of the block wait, then `__syncthreads()`",
    ),
    Danger.UNCLEAR_PRIMITIVE: (
        "the use of {what} could not be confined to 32 lanes",
        "call the intrinsic directly with all its arguments written out",
    ),
    Danger.UNCLEAR_LOCKSTEP: (
        "lanes exchange `{what}` through shared memory in lockstep, in a form the port cannot mend",
        "put `__syncwarp()` between each read and each write of another lane's value",
    ),
}


def findings(changes: Iterable[Change], program: Program, source: Source, places: Places) -> tuple[Finding, ...]:
    """Returns one finding for each (function, danger, reason), at the first of its places, in the source's order."""
    groups: defaultdict[tuple[str, Danger, str], list[Change]] = defaultdict(list)
    for change in sorted(changes, key=lambda c: c.start):
        groups[_owner(change, program), change.danger, change.reason].append(change)
    found = [_finding(owner, group, source, places) for (owner, _, _), group in groups.items()]
    return tuple(sorted(found, key=lambda f: (f.span.start if f.span else 0, f.code)))


def _owner(change: Change, program: Program) -> str:
    """Returns the function or macro that holds `change`, as a message names it."""
    functions: Iterable[Function] = (*program.kernels, *program.device_functions, *program.host_functions)
    inside = [f for f in functions if f.span.start <= change.start < f.span.end]
    if inside:
        return f"`{min(inside, key=lambda f: f.span.end - f.span.start).name}`"
    macro = next((m for m in program.macros if m.span.start <= change.start < m.span.end), None)
    return f"macro `{macro.name}`" if macro else "the file"


def _finding(owner: str, group: list[Change], source: Source, places: Places) -> Finding:
    first = group[0]
    danger, remedy = _WORDS[first.danger]
    what = ", ".join(dict.fromkeys(" ".join(c.what.split()) for c in group))
    message = f"in {owner}: {danger.format(what=what)}"
    if first.reason:
        message += f": {first.reason}"
    return places.finding(first.danger, [source.span(c.start, c.end) for c in group], message, remedy)
