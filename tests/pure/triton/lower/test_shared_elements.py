"""Small shared arrays of which all indices are known are variables of the block."""

from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

INFO = LaunchInfo((Dimension(128, "BLOCK_SIZE"), Dimension(1), Dimension(1)))


def lowered(body):
    source = f"__global__ void k(const float* x, float* out, int n) {{ int t = threadIdx.x; {body} }}"
    unit = read_unit(parse(Source(Path("k.cu"), source)))
    return lower_kernel(unit, unit.kernels[0], INFO).text


def test_elements_of_known_indices_are_variables():
    text = lowered(
        "__shared__ float s[2]; if (t == 0) { s[0] = 2.0f * n; s[1] = 3.0f + n; } __syncthreads();"
        " out[t] = s[0] * s[1];"
    )
    assert "tl.store(out + tid, s_0 * s_1)" in text
    assert "tl.gather(" not in text


def test_a_loop_that_is_written_out_has_known_indices():
    text = lowered(
        "__shared__ float s[3]; float own[3]; for (int i = 0; i < 3; ++i) own[i] = x[t * 3 + i];"
        " if (t == 5) { for (int i = 0; i < 3; ++i) s[i] = own[i]; } __syncthreads();"
        " float sum = 0.0f; for (int i = 0; i < 3; ++i) sum += own[i] * s[i]; out[t] = sum;"
    )
    assert "own_2 * s_2" in text


def test_an_array_of_one_element_keeps_its_name():
    assert "tl.store(out + tid, total)" in lowered(
        "__shared__ float total[1]; if (t == 0) total[0] = x[n] + 1.0f; __syncthreads(); out[t] = total[0];"
    )


def test_an_array_with_an_index_of_a_thread_is_a_tensor():
    text = lowered("__shared__ float s[4]; if (t < 4) s[t] = x[t]; __syncthreads(); out[t] = s[0] + s[t % 4];")
    assert "s = tl.zeros([4], tl.float32)" in text
    assert "s_0" not in text


def test_atomics_on_an_element_add_to_its_variable():
    text = lowered(
        "__shared__ int s[2]; if (t == 0) { s[0] = 0; s[1] = 0; } __syncthreads(); if (x[t] > 0.0f)"
        " atomicAdd(&s[1], 1); else atomicAdd(&s[0], 1); __syncthreads(); out[t] = s[1] - s[0];"
    )
    assert "s_1 = s_1 + tl.sum(" in text or "s_1 = tl.sum(" in text
    assert "tl.arange(0, 2)" not in text


def test_what_lies_in_memory_lies_there_as_a_whole():
    text = lowered("__shared__ int s[2]; s[0] = 0; __syncthreads(); out[t] = atomicExch(&s[0], t) + s[1];")
    assert "s_scratch" in text
    assert "s_0" not in text
