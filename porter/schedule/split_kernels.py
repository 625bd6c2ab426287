"""Writes kernels of several programs for each row: the first launch reduces parts of it, the second combines these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from porter.ir.tile.program import Buffer, Kernel, Launch
from porter.schedule.combine import partials
from porter.schedule.host_values import host
from porter.schedule.kernel_writer import PARTS, KernelWriter
from porter.schedule.launches import Launches
from porter.schedule.linear import Linear
from porter.schedule.loops import Result
from porter.schedule.nests import Nest
from porter.schedule.polynomial import NotSchedulableError, Polynomial, product
from porter.schedule.row_kernels import RowKernel
from porter.schedule.schedule import Schedule
from porter.schedule.statistics import statistics


@dataclass(frozen=True, slots=True)
class Split:
    """The kernels, in the order of their launches, and the buffers between them."""

    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    buffers: tuple[Buffer, ...]


def split_kernels(
    nest: Nest, schedule: Schedule, writer: Callable[[str], KernelWriter], word: str, launching: Launches
) -> Split:
    """Returns the kernels of a nest whose rows `schedule.parts` programs share.

    Raises `NotSchedulableError` where a reduction depends on another one in a way that needs another launch.
    """
    passes = statistics(nest, in_one_pass=True)
    if len(passes) != 1 or schedule.parts < 2 or nest.scans:
        raise NotSchedulableError("reductions that depend on each other are not shared by programs")
    first = writer("parts_kernel")
    handed = [(statistic, partials(statistic, first.precision, launching.names)) for statistic in passes[0]]
    place = Linear.variable(PARTS)
    for position, row in enumerate(nest.rows):
        stride = product(later.extent for later in nest.rows[position + 1 :]) * Polynomial.of(schedule.parts)
        place += Linear.variable(row.name).times(stride)
    sharing = RowKernel(nest, schedule, first)
    sharing.share(handed, place)
    kernels = [first.kernel(sharing.block)]
    launches = [launching.by_part(kernels[0], nest, schedule, schedule.parts)]
    for results, parts in _by_programs(nest, schedule.parts):
        own = writer(word)
        applying = RowKernel(replace(nest, results=results), replace(schedule, parts=parts), own)
        applying.apply(handed, place)
        kernels.append(own.kernel(applying.block))
        launches.append(launching.by_part(kernels[-1], nest, schedule, parts))
    extent = product(row.extent for row in nest.rows) * Polynomial.of(schedule.parts)
    buffers = tuple(Buffer(one.buffer, one.dtype, (host(extent),)) for _, own in handed for one in own)
    return Split(tuple(kernels), tuple(launches), buffers)


def _by_programs(nest: Nest, parts: int) -> Iterator[tuple[tuple[Result, ...], int]]:
    """Yields results with the number of programs of a row that compute them: all for those with columns, else one.

    These are separate kernels, since one program of a row may read what another one stores.
    """
    columns = {loop.name for loop in nest.columns}
    whole = tuple(one for one in nest.results if any(loop.name in columns for loop in one.loops))
    plain = tuple(one for one in nest.results if one not in whole)
    if whole:
        yield whole, parts
    if plain:
        yield plain, 1
