"""Turns `__launch_bounds__`: how many blocks shall fit a multiprocessor, which decides a thread's registers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from porter.backend import Target
from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, Edits, edited_knob
from porter.evolve.proposing.sizes import SizedSource
from porter.source.edit import Edit
from porter.source.program import Function, Program

_BLOCKS = (1, 2, 4, 8)
_MOST_BLOCKS_OF_THREADS = 2  # the threads of a multiprocessor, in those of the largest block
_SPACE = "__global__"


def bounds(program: Program, target: Target) -> Iterator[EditedKnob]:
    """Yields a knob for each kernel without bounds that is launched with as many threads as the source says."""
    source = SizedSource(program, target)
    for kernel in program.kernels:
        counts = [source.threads(launch) for launch in program.launches_of(kernel)]
        text = program.source.slice(kernel.header)
        threads = max((count for count in counts if count), default=0)
        if kernel.launch_bounds or None in counts or not threads or _SPACE not in text:
            continue
        most = _MOST_BLOCKS_OF_THREADS * target.max_threads
        values = tuple(blocks for blocks in _BLOCKS if blocks * threads <= most)
        if values:
            yield edited_knob(f"{kernel.qualified}.blocks", values, partial(_bounded, program, kernel, threads))


def _bounded(program: Program, kernel: Function, threads: int, value: Value) -> Edits:
    at = kernel.header.start + program.source.slice(kernel.header).index(_SPACE) + len(_SPACE)
    return [Edit(at, at, f" __launch_bounds__({threads}, {value})")]
