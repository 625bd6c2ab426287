"""A block of each launch on tensors without contents: what it asks of memory, and what it waits for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.dialect import CUDA
from porter.execution.job import BuildRequest, Callee, Job, Limits, Part, TensorValue
from porter.simt.build import build
from porter.simt.plan_protocol import PlanError
from porter.simt.planned_run import PlannedExecutable
from porter.simt.sample import SampledKind
from porter.source_text import Source

COUNT = 1 << 30  # four gigabytes of floats, of which nothing is there
LAUNCH = "void f(const float* x, float* y) {{ k<<<{blocks}, 128>>>(x, y); }}"

MANY = LAUNCH.format(blocks=1 << 23)


@pytest.fixture
def sampled(build_cache):
    """Builds a source whose `f` takes two large tensors, and samples a call of it."""

    def sample_it(kernel, launch=MANY):
        text = f"__global__ void k(const float* x, float* y) {{\n{kernel}\n}}\n{launch}\n"
        callee = Callee(Entry(EntryKind.POINTER, "f"))
        request = BuildRequest(Source(Path("/home/user/user.cu"), text), (), CUDA, (callee,), 32, part=Part.HOST)
        (built,) = build(request, build_cache)
        nothing = np.zeros(0, np.float32)
        tensors = [TensorValue(DType.FLOAT32, (COUNT,), nothing)] * 2
        return PlannedExecutable(built, built.device, Limits(cpu_s=3.0)).sample(Job(tuple(tensors)))

    return sample_it


INDEX = "long i = blockIdx.x * 128l + threadIdx.x;\n"


def counts(call):
    (launch,) = call.launches
    return {place.kind: place for place in launch.block.places}


def test_neighbours_share_sectors_and_the_call_has_its_launches(sampled):
    call = sampled(INDEX + "y[i] = 2 * x[i];")
    (launch,) = call.launches
    assert (launch.kernel, launch.grid, launch.threads) == ("k", (1 << 23, 1, 1), 128)
    load, store = counts(call)[SampledKind.LOAD], counts(call)[SampledKind.STORE]
    for place in (load, store):
        assert (place.executions, place.sectors, place.fresh, place.near, place.lines) == (4, 16, 16, 0, 4)
    assert load.base != store.base
    assert load.buffer_bytes == store.buffer_bytes == 4 * COUNT
    assert load.width_bytes == 4


def test_strides_and_vectors_are_told_apart(sampled):
    load = counts(sampled(INDEX + "y[i] = x[threadIdx.x * 1024l + blockIdx.x];"))[SampledKind.LOAD]
    assert (load.executions, load.sectors, load.lines) == (4, 128, 128)
    whole = "float4 v = ((const float4*)x)[i % (1 << 28)];\ny[i] = v.x + v.y + v.z + v.w;"
    load = counts(sampled(INDEX + whole))[SampledKind.LOAD]
    assert (load.executions, load.sectors, load.lines, load.width_bytes) == (4, 64, 16, 16)


@pytest.mark.parametrize(("turns", "is_near"), [(8, True), (100, False)])
def test_what_is_read_again_is_near_unless_much_was_read_since(sampled, turns, is_near):
    """A row of 512 bytes a turn, twice; 1,024 sectors of 32 bytes are near."""
    row = f"const float* row = x + blockIdx.x * 128l * {turns};\nfloat s = 0, d = 0;\n"
    passes = "".join(
        f"for (int t = 0; t < {turns}; ++t) {what};\n"
        for what in ("s += row[t * 128 + threadIdx.x]", "d += s * row[t * 128 + threadIdx.x]")
    )
    call = sampled(row + passes + "y[blockIdx.x] = d;", LAUNCH.format(blocks=1 << 10))
    loads = [place for place in call.launches[0].block.places if place.kind is SampledKind.LOAD]
    assert sorted((place.sectors, place.fresh) for place in loads) == [(16 * turns, 0), (16 * turns, 16 * turns)]
    again = next(place for place in loads if not place.fresh)
    assert again.near == (16 * turns if is_near else 0)


def test_the_first_warp_waits_for_loads_that_it_has_on_their_way_together(sampled):
    together = sampled(INDEX + "float a = x[i], b = x[i + 4096];\ny[i] = a + b;").launches[0].block
    one_by_one = sampled(INDEX + "float s = 0;\nfor (int t = 0; t < 5; ++t) s += x[i + t * 4096l];\ny[i] = s;")
    assert together.memory_waits == 1
    assert one_by_one.launches[0].block.memory_waits == 5


def test_shared_memory_barriers_exchanges_and_atomics_are_counted(sampled):
    text = """__shared__ float part[4];
float v = x[threadIdx.x];
for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
__syncthreads();
if (threadIdx.x == 0) atomicAdd(y, part[0] + part[1] + part[2] + part[3]);"""
    block = sampled(text).launches[0].block
    kinds = [place.kind for place in block.places]
    assert (block.barriers, block.warp_operations, block.first_warp_operations, block.shared_bytes) == (1, 20, 5, 16)
    assert kinds.count(SampledKind.ATOMIC) == 1
    assert kinds.count(SampledKind.SHARED_STORE) == 1
    assert SampledKind.SHARED_LOAD in kinds
    assert block.atomic_waits == 1


def test_numbers_that_host_code_reads_are_zero_and_copies_are_told(sampled):
    launch = """void f(const float* x, float* y) {
  float first;
  cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(y, x, 400, cudaMemcpyDeviceToDevice);
  cudaMemset(y, 0, 100);
  if (first == 0) k<<<7, 128>>>(x, y);
}"""
    call = sampled("y[threadIdx.x] = x[0];", launch)
    assert [launch.grid for launch in call.launches] == [(7, 1, 1)]
    assert call.copied_bytes == (800, 100)


def test_the_turns_of_a_long_loop_are_alike(sampled):
    text = "float s = 0;\nfor (long t = threadIdx.x; t < (1l << 20); t += 128) s += x[t];\ny[threadIdx.x] = s;"
    block = sampled(text).launches[0].block
    load = next(place for place in block.places if place.kind is SampledKind.LOAD)
    assert (load.executions, load.sectors, load.fresh, load.lines) == (1 << 15, 1 << 17, 1 << 17, 1 << 15)
    assert block.memory_waits == 1 << 13


def test_a_block_that_does_not_end_is_no_sample(sampled):
    with pytest.raises(PlanError, match="time limit"):
        sampled("while (x[0] == 0) y[0] = 1;")
