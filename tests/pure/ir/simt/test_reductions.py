"""Reductions of a block are recognised by what they compute, and whatever computes something else is left alone."""

from pathlib import Path

import numpy as np
import pytest

from porter.ir.simt.builder.kernel import build
from porter.ir.simt.ops import Function, walk
from porter.ir.simt.parser import parsed
from porter.ir.simt.printer import printed
from porter.ir.simt.transforms.array_columns import arrays_as_columns
from porter.ir.simt.transforms.common import without_repetition
from porter.ir.simt.transforms.dead_memory import without_dead_memory
from porter.ir.simt.transforms.folding import folded
from porter.ir.simt.transforms.reductions import with_reductions
from porter.ir.simt.transforms.unrolling import unrolled
from porter.ir.simt.verify import verify
from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.read import read_unit
from tests.pure.ir.simt.test_builder import run

WARP = """
__device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
__device__ float first_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
  return v;
}
"""
TREE = """
  __shared__ float s[128];
  s[t] = v;
  __syncthreads();
  for (int o = 64; o > 0; o >>= 1) { if (t < o) s[t] = COMBINED; __syncthreads(); }
  out[t] = s[0];
"""
TWO_STAGES = """
  __shared__ float s[32];
  float w = warp_sum(v);
  if (t % 32 == 0) s[t / 32] = w;
  __syncthreads();
  w = t % 32 < blockDim.x / 32 ? s[t % 32] : 0;
  out[t] = warp_sum(w);
"""
FIRST_THREAD = """
  __shared__ float s[4];
  float w = first_sum(v);
  if (t % 32 == 0) s[t / 32] = w;
  __syncthreads();
  if (t == 0) { for (int k = 1; k < 4; ++k) w += s[k]; out[0] = w; }
"""


def made(body: str) -> Function:
    head = "__global__ void k(const float* x, float* out) { const int t = threadIdx.x; float v = x[t];"
    text = f"{WARP}\n{head}\n{body} }}"
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    return without_repetition(folded(unrolled(build(unit, unit.kernels[-1]))))


def reduced(body: str) -> tuple[Function, list[tuple[str, str]]]:
    """The function with its reductions, and which these are."""
    found = without_dead_memory(with_reductions(made(body), [(128, 1, 1)]))
    verify(found)
    told = [(str(op.attribute("op")), str(op.attribute("scope"))) for op in walk(found.body) if op.kind == "reduce"]
    return found, told


def results(function: Function) -> np.ndarray:
    x = np.random.default_rng(3).integers(-50, 50, 128).astype(np.float32)
    return run(function, x, np.zeros(128, np.float32), block=128)[1]


@pytest.mark.parametrize(
    ("body", "kind", "scope"),
    [
        (TREE.replace("COMBINED", "s[t] + s[t + o]"), "add", "block"),
        (TREE.replace("COMBINED", "fmaxf(s[t], s[t + o])"), "max", "block"),
        (TREE.replace("COMBINED", "s[t] < s[t + o] ? s[t] : s[t + o]"), "min", "block"),
        (TWO_STAGES, "add", "block"),
        ("out[t] = warp_sum(v);", "add", "warp"),
        ("v = warp_sum(v); out[t] = v > 0 ? 1 / v : 0;", "add", "warp"),
        ("v = first_sum(v); if (t % 32 == 0) out[t / 32] = v;", "add", "warp"),
    ],
)
def test_trees_and_stages_are_one_reduction(body, kind, scope):
    found, told = reduced(body)
    assert told == [(kind, scope)]
    kinds = {op.kind for op in walk(found.body)}
    assert not kinds & {"array", "barrier", "shuffle", "while", "for"}, printed(found)
    assert np.array_equal(results(found), results(made(body)))


def test_a_value_of_one_thread_is_a_reduction_where_only_that_thread_uses_it():
    found, told = reduced(FIRST_THREAD)
    assert ("add", "block") in told
    assert np.array_equal(results(found), results(made(FIRST_THREAD)))


@pytest.mark.parametrize(
    "body",
    [
        TREE.replace("COMBINED", "s[t] + 2 * s[t + o]"),
        TREE.replace("COMBINED", "s[t] - s[t + o]"),
        TREE.replace("COMBINED", "fminf(s[t] + s[t + o], 1e8f)"),
        TREE.replace("o = 64", "o = 32"),
        TREE.replace("COMBINED", "s[t] + s[t + o]").replace("out[t] = s[0]", "out[t] = s[t]"),
        TREE.replace("COMBINED", "s[t + o] > 0 ? s[t] + s[t + o] : s[t]"),
        TWO_STAGES.replace("warp_sum(v)", "warp_sum(v) * 2"),
        TWO_STAGES.replace(": 0;", ": 1;"),
        "out[t] = first_sum(v);",
        "out[t] = v + __shfl_xor_sync(0xffffffffu, v, 1);",
    ],
)
def test_what_computes_something_else_is_left_alone(body):
    body = body.replace("COMBINED", "s[t] + s[t + o]")
    assert [told for told in reduced(body)[1] if told[1] == "block"] == []
    found, before = with_reductions(made(body), [(128, 1, 1)]), made(body)
    assert np.array_equal(results(found), results(before))


TWO_ROWS = """
  __shared__ float s[256];
  int row = 0;
  s[t] = v;
  __syncthreads();
  for (int o = 1; o < 128; o *= 2) {
    s[(1 - row) * 128 + t] = t >= o ? COMBINED : s[row * 128 + t];
    row = 1 - row;
    __syncthreads();
  }
  if (x[t] != 0.5f) out[t] = s[row * 128 + t];
"""
UP_AND_DOWN = """
  __shared__ float s[128];
  s[t] = v;
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const int i = (t + 1) * d * 2 - 1;
    if (i < 128) s[i] += s[i - d];
    __syncthreads();
  }
  if (t == 0) s[127] = 0;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    const int i = (t + 1) * d * 2 - 1;
    if (i < 128) { const float left = s[i - d]; s[i - d] = s[i]; s[i] += left; }
    __syncthreads();
  }
  out[t] = s[t];
"""
LANES = "for (int o = 1; o < 32; o *= 2) { float u = __shfl_SIDE_sync(0xffffffffu, v, o); if (CONDITION) v += u; }"


@pytest.mark.parametrize(
    ("body", "attributes"),
    [
        (TWO_ROWS.replace("COMBINED", "s[row * 128 + t] + s[row * 128 + t - o]"), ("add", "block", False, False)),
        (TWO_ROWS.replace("COMBINED", "fmaxf(s[row * 128 + t], s[row * 128 + t - o])"),
         ("max", "block", False, False)),
        (UP_AND_DOWN, ("add", "block", False, True)),
        (LANES.replace("SIDE", "up").replace("CONDITION", "t % 32 >= o") + "out[t] = v;",
         ("add", "warp", False, False)),
        (LANES.replace("SIDE", "down").replace("CONDITION", "t % 32 + o < 32") + "out[t] = v;",
         ("add", "warp", True, False)),
    ],
)  # fmt: skip
def test_what_each_thread_has_of_those_before_it_is_a_scan(body, attributes):
    found = without_dead_memory(with_reductions(made(body), [(128, 1, 1)]))
    verify(found)
    names = ("op", "scope", "backward", "exclusive")
    told = [tuple(op.attribute(name) for name in names) for op in walk(found.body) if op.kind == "scan"]
    assert told == [attributes]
    assert not [op for op in walk(found.body) if op.kind in ("array", "shuffle", "for", "while")], printed(found)
    assert np.array_equal(results(found), results(made(body)))
    assert printed(parsed(printed(found))) == printed(found)


def test_a_scan_of_products_is_told_apart_from_one_of_sums():
    body = TWO_ROWS.replace("COMBINED", "s[row * 128 + t] * s[row * 128 + t - o]")
    found = with_reductions(made(body), [(128, 1, 1)])
    assert [op.attribute("op") for op in walk(found.body) if op.kind == "scan"] == ["mul"]


TWO_TREES = """
  __shared__ float2 s[128];
  s[t] = make_float2(v, FACTOR * v);
  __syncthreads();
  for (int o = 64; o > 0; o >>= 1) { if (t < o) { s[t].x += s[t + o].x; s[t].y += s[t + o].y; } __syncthreads(); }
  out[t] = s[0].x * 1000 + s[0].y;
"""


def test_trees_of_the_numbers_of_a_vector_are_a_reduction_each():
    before = arrays_as_columns(made(TWO_TREES.replace("FACTOR", "t")))
    found = without_dead_memory(with_reductions(folded(before), [(128, 1, 1)]))
    verify(found)
    assert [op.attribute("op") for op in walk(found.body) if op.kind == "reduce"] == ["add", "add"]
    assert not [op for op in walk(found.body) if op.kind in ("array", "while", "for")]
    assert np.array_equal(results(found), results(before))


def test_what_is_made_of_memory_that_something_else_was_put_into_is_no_reduction():
    body = "__shared__ float other[128]; s[t] = v; other[t] = x[127 - t]; __syncthreads();"
    body = TREE.replace("COMBINED", "s[t] + s[t + o]").replace("s[t] = v;\n  __syncthreads();", body)
    body = body.replace("out[t] = s[0]", "out[t] = s[0] + other[t]")
    found = with_reductions(made(body), [(128, 1, 1)])
    assert np.array_equal(results(found), results(made(body)))


WIDER = """__shared__ float parts[4]; const float all = warp_sum(v);
  if (t % 32 == 0) parts[t / 32] = all;
  __syncthreads();
  if (t == 0) {
    double total = 0;
    for (int w = 0; w < 4; ++w) total += parts[w];
    out[0] = (float)total;
  }"""
RESCALED = """__shared__ float most[128]; __shared__ float total[128]; most[t] = v; total[t] = 1.0f; __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o) {
      float sum = 0;
      if (total[t] > 0) sum += total[t];
      if (total[t + o] > 0) sum += total[t + o];
      most[t] = fmaxf(most[t], most[t + o]); total[t] = sum;
    }
    __syncthreads();
  }
  if (t == 0) out[0] = most[0] + total[0];"""


def test_partial_sums_that_are_added_in_double_are_one_reduction():
    found, told = reduced(WIDER)
    assert ("add", "block") in told
    assert not [op for op in walk(found.body) if op.kind in ("array", "for")]
    assert np.array_equal(results(found), results(made(WIDER)))


def test_zero_in_the_first_thread_is_no_scan_of_what_it_was_compared_with():
    found, told = reduced(RESCALED)
    assert told == [("max", "block")]
    assert not [op for op in walk(found.body) if op.kind == "scan"]
    assert np.array_equal(results(found), results(made(RESCALED)))


def test_a_block_of_another_size_may_compute_something_else():
    body = TREE.replace("COMBINED", "s[t] + s[t + o]")
    assert printed(with_reductions(made(body), [(128, 1, 1), (64, 1, 1)])) == printed(made(body))


def test_memory_that_something_is_made_of_stays_with_its_barriers():
    text = """\
kernel k(%x: ptr<f32, global> = 0) {
  %s = array : array<f32, 32, shared>
  %unread = array : array<f32, 32, shared>
  %t = thread_index {axis = 0} : u32
  %v = load %x, %t : f32
  store %s, %t, %v
  store %unread, %t, %v
  barrier {scope = "block"}
  %zero = constant {value = 0} : u32
  %first = load %s, %zero : f32
  store %x, %t, %first
  return
}
"""
    found = printed(without_dead_memory(parsed(text)))
    assert found == "".join(line for line in text.splitlines(keepends=True) if "unread" not in line).replace(
        '"block"', "block"
    )


@pytest.mark.parametrize(("condition", "scopes"), [("threadIdx.y < 3", ["warp"]), ("t < 30", [])])
def test_warps_of_a_block_of_two_dimensions_are_rows_of_it(condition, scopes):
    body = f"v = x[threadIdx.y * 32 + t]; if ({condition}) out[threadIdx.y * 32 + t] = warp_sum(v);"
    found = with_reductions(made(body), [(32, 4, 1)])
    assert [op.attribute("scope") for op in walk(found.body) if op.kind == "reduce"] == scopes
    before, after = (run(f, np.arange(128, dtype=np.float32), np.zeros(128, np.float32), block=(32, 4, 1))[1]
                     for f in (made(body), found))  # fmt: skip
    assert np.array_equal(before, after, equal_nan=True)


def test_shuffles_without_a_mask_are_for_the_whole_warp():
    before = "for (int o = 16; o > 0; o /= 2) v += __shfl_xor(v, o); out[t] = v;"
    function, told = reduced(before)
    assert told == [("add", "warp")]
    assert np.array_equal(results(function), results(made("out[t] = warp_sum(v);")))
