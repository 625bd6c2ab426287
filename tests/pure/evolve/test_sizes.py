"""Sizes that a source fixes in one place are offered and edited; what the text holds elsewhere, too, is not."""

from pathlib import Path

import pytest

from porter.evolve.proposing.sizes import resized, sizes
from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.targets import targets

KERNEL = """\
__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
"""


def program(text):
    return parse(Source(Path("k.cu"), text))


def found(text):
    return {size.knob.name: size for size in sizes(program(text), targets()[0])}


def turned(text, **point):
    source = Source(Path("k.cu"), text)
    known = sizes(program(text), targets()[0])
    whole = {size.knob.name: size.knob.default for size in known} | point
    return resized(source, known, whole).text


@pytest.mark.parametrize(
    ("head", "launch", "name", "edited"),
    [
        ("#define THREADS 256\n", "scale<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, n);", "THREADS", "THREADS 512"),
        ("#define THREADS (256)\n", "scale<<<n / THREADS, dim3(THREADS, 1, 1)>>>(x, n);", "THREADS", "THREADS (512)"),
        ("constexpr int kT = 256;\n", "dim3 block(kT); scale<<<n / kT, block>>>(x, n);", "kT", "kT = 512;"),
        ("", "const int t = 256; scale<<<(n + t - 1) / t, t>>>(x, n);", "run.t", "t = 512;"),
        ("", "const dim3 t(256); scale<<<n / t.x, t>>>(x, n);", "run.t", "t(512);"),
        ("", "int t{256}; scale<<<n / t, t>>>(x, n);", "run.t", "t{512};"),
        ("", "scale<<<(n + 255) / 256, 256>>>(x, n);", "run.scale.block", "<<<(n + 511) / 512, 512>>>"),
    ],
)
def test_the_number_a_block_comes_from_is_turned(head, launch, name, edited):
    text = f"{head}{KERNEL}void run(float* x, int n) {{ {launch} }}\n"
    assert found(text)[name].knob.values == (32, 64, 128, 256, 512, 1024)
    assert edited in turned(text, **{name: 512})
    assert turned(text) == text


@pytest.mark.parametrize(
    ("kernel", "launch"),
    [
        (KERNEL.replace("blockDim.x", "256"), "scale<<<n / 256, 256>>>(x, n);"),
        (KERNEL.replace("*= 2", "+= threadIdx.x < 128"), "int t = 256; scale<<<n / t, t>>>(x, n);"),
        (KERNEL, "int t = 256; if (n > 9) t = 512; scale<<<n / t, t>>>(x, n);"),
        (KERNEL, "int t = n > 512 ? 512 : 256; scale<<<n / t, t>>>(x, n);"),
        (KERNEL, "int t = 256; scale<<<(n + 255) / 256, t>>>(x, n);"),
        (KERNEL, "if (n == 256) return; scale<<<n / 256, 256>>>(x, n);"),
        (KERNEL, "scale<<<n, dim3(16, 16)>>>(x, n);"),
        (KERNEL, "scale<<<n, 100>>>(x, n);"),
        (KERNEL.replace("*= 2", "+= __shfl_xor_sync(-1, x[i], 1)"), "scale<<<n, 32>>>(x, n);"),
    ],
)
def test_a_number_that_stands_elsewhere_too_is_left_alone(kernel, launch):
    assert not found(f"{kernel}void run(float* x, int n) {{ {launch} }}\n")


def test_shared_arrays_and_bounds_keep_blocks_small():
    kernel = (
        "__global__ void __launch_bounds__(512) k(float* x) { __shared__ float part[8]; part[threadIdx.x / 32] = *x; }"
    )
    assert found(f"{kernel}\nvoid run(float* x) {{ k<<<1, 64>>>(x); }}")["run.k.block"].knob.values == (
        32,
        64,
        128,
        256,
    )
    longer = kernel.replace("[8]", "[32]")
    assert max(found(f"{longer}\nvoid run(float* x) {{ k<<<1, 64>>>(x); }}")["run.k.block"].knob.values) == 512


def test_items_of_a_thread_are_turned_where_grid_and_kernel_share_the_constant():
    text = """\
constexpr int kThreads = 128, kUnrelated = 3;
constexpr int kItems = 4;
__global__ void copy(float* x, int n) {
    for (int k = 0; k < kItems; ++k) x[(blockIdx.x * kItems + k) * blockDim.x + threadIdx.x] += n;
}
void run(float* x, int n) {
    const int per_block = kThreads * kItems;
    copy<<<(n + per_block - 1) / per_block, kThreads>>>(x, n);
}
"""
    offered = found(text)
    assert {name: size.knob.values for name, size in offered.items()} == {
        "kThreads": (32, 64, 128, 256, 512, 1024),
        "kItems": (1, 2, 4, 8, 16),
    }
    assert "kItems = 8;" in turned(text, kItems=8)


def test_a_constant_of_the_launcher_alone_is_no_size():
    text = f"{KERNEL}void run(float* x, int n) {{ const int most = 64; scale<<<n < most ? n : most, 256>>>(x, n); }}\n"
    assert set(found(text)) == {"run.scale.block"}


def test_extents_of_a_block_are_turned_within_what_a_block_can_have():
    text = """\
#define COLS 32
#define ROWS 16
__global__ void k(float* x) { __shared__ float t[ROWS][COLS]; t[threadIdx.y][threadIdx.x] = x[0]; x[1] = t[0][0]; }
void run(float* x) { k<<<1, dim3(COLS, ROWS)>>>(x); }
"""
    assert found(text)["COLS"].knob.values == (8, 16, 32, 64)
    assert found(text)["ROWS"].knob.values == (4, 8, 16, 32)
