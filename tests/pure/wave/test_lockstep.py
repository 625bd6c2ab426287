from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter.warp.explicit import with_warp_barriers

TAIL = """
__device__ void tail(volatile float* s, int t) {{
    {body}
}}
__global__ void k(float* out) {{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = out[t];
    __syncthreads();
    {call}
    if (t == 0) out[0] = s[0];
}}
"""


def tail(body, call="if (t < 32) tail(s, t);"):
    return TAIL.format(body=body, call=call)


def test_each_step_reads_meets_and_writes(ported, codes):
    text = tail("s[t] += s[t + 16];\n    s[t] += s[t + 8];")
    assert (
        "{ warp32::sync(); const auto carried = s[t] + s[t + 16]; warp32::sync(); s[t] = carried; warp32::sync(); }\n"
        "    { const auto carried = s[t] + s[t + 8]; warp32::sync(); s[t] = carried; warp32::sync(); }"
    ) in ported(text)
    assert "PORT1006" in codes(text)


def test_a_barrier_names_only_the_lanes_that_come(ported):
    text = ported(tail("s[t] += s[t + 8];\n    s[t] += s[t + 4];", "if (t < 8) tail(s, t);"))
    assert text.count("warp32::sync(0xff);") == 5


def test_plain_assignment_with_an_assignment_inside(ported):
    text = ported(tail("float x = s[t];\n    s[t] = x = x + s[t + 16];\n    s[t] = x = x + s[t + 8];"))
    assert "const auto carried = x = x + s[t + 16]; warp32::sync(); s[t] = carried;" in text


def test_a_value_of_lower_precedence_keeps_its_parentheses(ported):
    assert "carried = s[t] * (s[t + 8] + 1);" in ported(tail("s[t] *= s[t + 8] + 1;\n    s[t] *= s[t + 4] + 1;"))


def test_read_and_write_in_two_statements(ported):
    text = ported(tail("float x = s[t];\n    x += s[t + 16];\n    s[t] = x;\n    x += s[t + 8];\n    s[t] = x;"))
    assert "{ warp32::sync(); s[t] = x; }" in text


@pytest.mark.parametrize(
    "body",
    [
        "s[t] += s[t + 16]; __syncthreads();",
        "float x = s[t + 16]; __syncwarp(); s[t] += x; __syncwarp(); x = s[t + 8]; __syncwarp(); s[t] += x;",
        "s[t] += 1; s[t] *= 2;",
    ],
)
def test_code_with_its_own_barriers_gets_no_more_of_them(body, ported):
    assert "carried" not in ported(tail(body)) or "__syncthreads" in body


@pytest.mark.parametrize(
    "call",
    ["if (out[t] > 0) tail(s, t);", "if (t % 3 == 0) tail(s, t);", "if (t < 40) tail(s, t);", ""],
)
def test_lanes_that_cannot_be_proved_are_an_error(call, ported, codes):
    text = tail("s[t] += s[t + 16];\n    s[t] += s[t + 8];", call)
    assert "PORT1021" in codes(text)
    assert "carried" not in ported(text)


def test_a_step_that_fewer_lanes_take_after_a_plain_write_is_an_error(codes):
    body = "s[t] = t;\n    if (t < 16) { float x = s[t + 16]; s[t] = x; }"
    assert "PORT1021" in codes(tail(body))


def test_volatile_global_memory_is_not_lockstep(codes):
    text = "__global__ void k(volatile float* g) { int t = threadIdx.x; g[t] = g[t + 1]; g[t] = g[t + 2]; }"
    assert codes(text) == []


@pytest.mark.parametrize(
    "step",
    [
        "for (int d = 32; d > 0; d >>= 1) { if (t < d) v[t] += v[t + d]; __syncthreads(); }",
        "if (t < 32) v[t] += v[t + 32]; __syncthreads(); if (t < 16) v[t] += v[t + 16]; __syncthreads();",
        "if (t < 16) { float x = v[t + 16]; v[t] = v[t] + x; } __syncwarp();",
    ],
)
def test_a_tree_whose_readers_stay_ahead_of_its_writers_is_left_alone(step, ported, codes):
    text = f"__global__ void k() {{ volatile __shared__ float v[64]; int t = threadIdx.x; {step} }}"
    assert "carried" not in ported(text)
    assert not {"PORT1006", "PORT1021"} & set(codes(text))


def test_an_index_made_of_the_warp_size_is_an_error_not_a_clash(codes):
    text = "__global__ void k() { volatile __shared__ int v[64]; int t = threadIdx.x; v[t % warpSize] += v[t + 1]; }"
    assert "PORT1021" in codes(text)


def test_the_original_gets_the_barriers_in_its_own_language():
    body = tail("s[t] += s[t + 8];\n    s[t] += s[t + 4];", "if (t < 8) tail(s, t);")
    (mended,) = with_warp_barriers(parse(Source(Path("tail.cu"), body)), ())
    assert mended.text.count("__syncwarp(0xff);") == 5
    assert "warp32" not in mended.text


def test_an_original_with_barriers_of_its_own_stays_as_it_is():
    body = tail("float x = s[t + 16]; __syncwarp(); s[t] += x; __syncwarp();")
    assert with_warp_barriers(parse(Source(Path("tail.cu"), body)), ()) == ()
