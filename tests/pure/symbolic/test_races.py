"""A kernel of which a result depends on the order of threads is not lifted; one that orders them is."""

import pytest

from porter.lift.answer import _fitted
from porter.lift.nodes import NotLiftedError
from porter.symbolic.request import InputTensor
from tests.pure.symbolic.launched_kernels import F32, launched

HEAD = "__global__ void k(const float* x, float* y, int n) { __shared__ float s[128]; const int t = threadIdx.x; "
ZERO = 0
LOWEST = 0x80000000


def ran(body, out, grid=1, block=64, bits=None):
    size = grid * block
    return launched(f"{HEAD}{body} }}", (InputTensor("x", F32, (size,)),), out, size, grid=grid, block=block, bits=bits)


ORDERED = {
    "a barrier of the block": ("s[t] = x[t]; __syncthreads(); y[t] = s[63 - t];", (64,), 1),
    "a barrier of the warp": ("s[t] = x[t]; __syncwarp(); y[t] = s[t ^ 5];", (64,), 1),
    "a barrier of some lanes": (
        "s[t] = x[t]; if (t % 32 < 4) { __syncwarp(0xf); y[t / 32 * 4 + t % 32] = s[t ^ 3]; }", (8,), 1,
    ),
    "through lanes between": (
        "s[t] = x[t]; if (t % 32 < 2) __syncwarp(3); if (t % 32 == 1 || t % 32 == 2) __syncwarp(6);"
        "if (t % 32 == 2) y[t / 32] = s[t - 2];", (2,), 1,
    ),
    "a shuffle": ("s[t] = x[t]; float v = __shfl_xor_sync(0xffffffff, s[t], 1); y[t] = v + s[t ^ 1];", (64,), 1),
    "a tile": (
        "auto g = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());"
        "s[t] = x[t]; g.sync(); y[t] = s[t ^ 15];", (64,), 1,
    ),
    "one value by many": ("s[0] = x[0]; __syncthreads(); y[t] = s[0];", (64,), 1),
    "one sum by many": (
        "float v = x[t]; v += __shfl_xor_sync(~0u, v, 1); s[t / 2] = v; __syncthreads(); y[t] = s[t / 2];", (64,), 1,
    ),
    "reads of one, then a write behind a barrier": (
        "s[t] = x[t]; __syncthreads(); float v = s[0]; __syncthreads(); if (t == 0) s[0] = 1; __syncthreads();"
        "y[t] = v + s[0];", (64,), 1,
    ),
    "blocks of their own": ("y[blockIdx.x * 64 + t] = x[blockIdx.x * 64 + t];", (128,), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERED)
def test_what_is_ordered_is_followed(name):
    body, out, grid = ORDERED[name]
    assert ran(body, out, grid).results


WRITTEN, READ, SEVERAL = (
    "a thread reads what another one writes",
    "a thread writes what another one (reads|writes)",
    "several threads write different values",
)
RACES = {
    "no barrier": ("s[t] = x[t]; y[t] = s[63 - t];", 1, WRITTEN),
    "lanes of one warp, in lockstep": ("s[t] = x[t]; if (t < 32) y[t] = s[t ^ 1];", 1, WRITTEN),
    "lanes of another warp": ("s[t] = x[t]; __syncwarp(); y[t] = s[63 - t];", 1, WRITTEN),
    "lanes that the barrier leaves out": (
        "s[t] = x[t]; if (t % 32 < 4) __syncwarp(0xf); y[t] = s[t ^ 4];", 1, WRITTEN,
    ),
    "another tile": (
        "auto g = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());"
        "s[t] = x[t]; g.sync(); y[t] = s[t ^ 16];", 1, WRITTEN,
    ),
    "a read before": ("s[t] = x[t]; __syncthreads(); float v = s[63 - t]; s[t] = 2 * v; y[t] = v;", 1, READ),
    "two writes": ("y[t / 2] = x[t];", 1, SEVERAL),
    "two blocks": ("y[t] = x[blockIdx.x * 64 + t];", 2, SEVERAL),
    "warps one after the other": ("if (t < 32) s[t] = 1; else s[t - 32] = 2; __syncthreads(); y[t] = s[0];", 1, READ),
    "of another block": ("y[blockIdx.x * 64 + t] = 0; if (blockIdx.x == 1) y[t + 64] = y[t];", 2, WRITTEN),
    "a flag that data raise": ("y[t] = 0; __syncthreads(); if (x[t] > 0) y[0] = 1;", 1, SEVERAL),
    "an atomic and a store": ("s[0] = 0; atomicAdd(&s[0], x[t]); y[t] = 1;", 1, "an atomic changes what another"),
    "atomics that do not commute": (
        "if (t == 0) s[0] = 0; __syncthreads(); atomicAdd(&s[0], 1.f); atomicMax((int*)s, 3); y[t] = 1;", 1,
        "an atomic changes what another",
    ),
    "no fence": (
        "if (t == 0) { y[blockIdx.x] = x[t]; if (atomicAdd((int*)&y[2], 1) == 1) y[3] = y[0] + y[1]; }", 2, WRITTEN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_refused(name):
    body, grid, message = RACES[name]
    with pytest.raises(NotLiftedError, match=message):
        ran(body, (64 * grid,), grid, bits=ZERO)


def test_atomics_of_one_kind_commute():
    found = ran("atomicAdd(&y[0], x[blockIdx.x * 64 + t]);", (1,), grid=3, bits=ZERO)
    (output,) = _fitted(found).outputs
    assert len(str(output.body)) > 0
    assert _fitted(found).assumptions == ("atomic updates of one element may come in any order",)


LAST = """
  if (t == 0) {
    y[1 + blockIdx.x] = x[blockIdx.x * 64];
    __threadfence();
    if (atomicAdd((int*)&y[0], 1) == gridDim.x - 1) {
      float sum = 0;
      for (int i = 0; i < gridDim.x; ++i) sum += y[1 + i];
      y[4] = sum;
    }
  }"""


def test_the_last_block_may_use_what_the_others_fenced():
    found = ran(LAST, (5,), grid=3, bits=ZERO)
    graph, last = found.graph, int(found.results[0].nodes[4])
    (first,) = [n for n in graph.operands(last) if graph[n][0] == "add"]
    assert sorted(graph[n][3] for n in (*graph.operands(first), *graph.operands(last)) if n != first) == [0, 64, 128]


@pytest.mark.parametrize(
    "body",
    [
        "int at = atomicAdd((int*)&y[64], 1); y[at] = x[t];",
        "atomicExch(&y[0], x[t]);",
        "y[t] = atomicAdd((int*)&y[64], 1) == 0 ? x[t] : 1.f;",
    ],
)
def test_a_result_that_depends_on_what_atomics_find_is_refused(body):
    with pytest.raises(NotLiftedError, match="depends on the order of threads"):
        ran(body, (65,), bits=ZERO)


def test_ordered_integers_stand_for_their_floats():
    body = """
      int bits = __float_as_int(x[t]);
      atomicMax((int*)&y[t % 3], bits >= 0 ? bits : bits ^ 0x7fffffff);
      __syncthreads();
      if (t < 3) { int k = ((int*)y)[t]; y[t] = __int_as_float(k >= 0 ? k : k ^ 0x7fffffff); }"""
    found = ran(body, (3,), bits=LOWEST)
    graph = found.graph
    assert {graph[int(node)][0] for node in found.results[0].nodes} == {"maximum"}
