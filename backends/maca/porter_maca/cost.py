"""Models what a port costs at sizes for a device, from what the middle block of each launch does there.

Nothing here compiles for the device. Its host code is planned, and a block of each launch is executed on tensors
without contents: what it asks of memory is counted, its instructions are not. They are taken to be in proportion to
accesses and to what lanes exchange. What a warp waits for is taken from an H200 (Luo et al., "Benchmarking and
Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024), since no public source has it of a MetaX
device.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from porter.backend import Chip, Port, Target
from porter.contract.model.contract import Contract, Workload
from porter.cost_model.estimate import Estimate, estimate
from porter.cost_model.program import Access, AccessKind, Program
from porter.cost_model.words import launch_in_words
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.ported import emulated
from porter.evaluate.problem.bench import Bench
from porter.evaluate.timing.empty_job import job_of
from porter.evolve.scoring.cost import Cost
from porter.simt.plan_protocol import PlanError
from porter.simt.sample import SampledBlock, SampledCall, SampledKind, SampledLaunch, SampledPlace
from porter.translation_unit import TranslationUnit
from porter_maca.dialect import MACA

_MEMORY_CYCLES, _ATOMIC_CYCLES, _SHARED_CYCLES, _EXCHANGE_CYCLES, _BARRIER_CYCLES = 650.0, 700.0, 30.0, 24.0, 25.0
_ACCESS_SLOTS, _EXCHANGE_SLOTS = 6.0, 3.0  # instructions that an access, or an exchange among lanes, stands for
_SHARED_BYTES_PER_CYCLE = 128
_COPY_US = 2.0  # a copy is a launch, too
_KINDS = {
    SampledKind.LOAD: AccessKind.LOAD,
    SampledKind.STORE: AccessKind.STORE,
    SampledKind.ATOMIC: AccessKind.ATOMIC,
}


def cost(  # noqa: PLR0917 - what the backend's method is asked
    port: Port, original: TranslationUnit, contract: Contract, workload: Workload, target: Target, bench: Bench
) -> Cost | str:
    """Returns the sum over the launches of a call at `workload`, or why there is none."""
    if target.chip is None:
        return f"no public source gives the numbers of {target.arch}"
    ready = replace(emulated(port, original, target, bench, MACA, is_trusted=False), warp_sizes=(target.warp_size,))
    (found,) = Called(ready).candidates([contract])
    if not isinstance(found, tuple):
        return found.because
    if found[0].sample is None:
        return "its host code does not plan what it launches"
    try:
        call = found[0].sample(job_of(contract, workload))
    except PlanError as error:
        return str(error)
    return _cost(call, target, target.chip) if call.launches else "it launches nothing"


def _cost(call: SampledCall, target: Target, chip: Chip) -> Cost:
    units, moved, said = 0.0, float(sum(call.copied_bytes)), list[str]()
    for launch in call.launches:
        program, part = _estimated(launch, target, chip)
        tensors = {place.base: f"`{place.label}`" for place in launch.block.places if place.base}
        units += part.total
        moved += part.traffic.moved
        said.append(launch_in_words(launch.kernel, launch.grid, program, part, tensors, _buffers(launch), chip))
    units += sum(_COPY_US + size / chip.copy_bytes_per_us for size in call.copied_bytes)
    said += [f"a copy or fill moves {size} bytes" for size in call.copied_bytes]
    return Cost(units, tuple(said), moved, call.returned_bytes, hashlib.blake2b(repr(call).encode()).hexdigest()[:16])


def _estimated(launch: SampledLaunch, target: Target, chip: Chip) -> tuple[Program, Estimate]:
    program = program_of(launch, target.warp_size)
    return program, estimate(program, launch.grid, _buffers(launch), chip)


def program_of(launch: SampledLaunch, warp_size: int) -> Program:
    """Returns the block of a launch as the model has it."""
    block, warps = launch.block, -(-launch.threads // warp_size)
    asked = sum(place.executions for place in block.places)
    slots = (asked * _ACCESS_SLOTS + block.warp_operations * _EXCHANGE_SLOTS) / warps
    shared = sum(_shared_cycles(block.places, warp_size)) + block.warp_operations
    accesses = tuple(_access(place) for place in block.places if not place.kind.is_shared)
    return Program(
        warps, warp_size, None, block.shared_bytes, 0, slots, slots + _waiting(block), shared / warps, accesses
    )


def _waiting(block: SampledBlock) -> float:
    """Returns for how many cycles the first warp waits."""
    return (
        block.memory_waits * _MEMORY_CYCLES
        + block.atomic_waits * _ATOMIC_CYCLES
        + block.shared_waits * _SHARED_CYCLES
        + block.first_warp_operations * _EXCHANGE_CYCLES
        + block.barriers * _BARRIER_CYCLES
    )


def _shared_cycles(places: Iterable[SampledPlace], warp_size: int) -> Iterator[float]:
    for place in places:
        if place.kind.is_shared:
            yield place.executions * max(1.0, place.width_bytes * warp_size / _SHARED_BYTES_PER_CYCLE)


def _access(place: SampledPlace) -> Access:
    return Access(
        _KINDS[place.kind],
        place.base or None,
        float(place.sectors),
        float(place.fresh),
        float(place.near),
        float(place.lines),
    )


def _buffers(launch: SampledLaunch) -> dict[int, int]:
    """Returns the bytes of all tensors that are accessed, by their first address."""
    return {place.base: place.buffer_bytes for place in launch.block.places if place.base}
