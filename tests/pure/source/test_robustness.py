"""Nothing that can stand in a file makes the parser raise or hang."""

from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from porter.source.parse import parse
from porter.source_text import Source

WHOLE = """#include "a.h"
#define LOOP(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
#define CHECK(x) do { if (x) abort(); } while (0)
#define MAKE(name, T) __global__ void name##_kernel(T* x) { x[0] = T(); }
namespace a { template <typename T, int N = 4> struct Op { __device__ T operator()(T v) const { return v * N; } }; }
#if __CUDA_ARCH__ >= 700 && defined(X)
MAKE(one, float)
#else
MAKE(two, half)
#endif
template <typename T, int N>
__global__ void __launch_bounds__(256, 2) k(const T* __restrict__ x, T* y, int n) {
  __shared__ T tile[32][33]; extern __shared__ char raw[];
  LOOP(i, n) { y[i] = a::Op<T, N>()(x[i]); }
  asm volatile("mov.u32 %0, %laneid;" : "=r"(n));
}
extern "C" void go(float* x, float* y, int n, cudaStream_t s) {
  CHECK(n < 0); k<float, 4><<<dim3((n + 255) / 256), 256, 0, s>>>(x, y, n);
  AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), "go", [&] { k<scalar_t, 2><<<1, 32>>>(x, y, n); });
}
"""


def survives(text):
    source = Source(Path("x.cu"), text)
    program = parse(source)
    for function in (*program.kernels, *program.device_functions, *program.host_functions):
        assert 0 <= function.span.start <= function.body.start <= function.span.end <= len(text)
    for launch in program.launches:
        assert 0 <= launch.span.start < launch.span.end <= len(text)
    return program


def test_the_text_itself():
    program = survives(WHOLE)
    assert [k.name for k in program.kernels] == ["two_kernel", "k"]
    assert program.not_understood == ()


@settings(max_examples=60)
@given(st.integers(0, len(WHOLE)))
def test_truncated_anywhere(end):
    survives(WHOLE[:end])


@settings(max_examples=60)
@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 120))
def test_with_a_stretch_cut_out(start, length):
    survives(WHOLE[:start] + WHOLE[start + length :])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.characters()), max_size=20))
def test_with_characters_replaced(edits):
    text = list(WHOLE)
    for place, character in edits:
        text[place] = character
    survives("".join(text))


@settings(max_examples=40)
@given(st.lists(st.integers(0, len(WHOLE)), min_size=2, max_size=8))
def test_with_its_parts_shuffled(cuts):
    places = sorted({0, *cuts, len(WHOLE)})
    parts = [WHOLE[a:b] for a, b in pairwise(places)]
    survives("".join(reversed(parts)))


def test_deep_nesting_ends():
    for piece in ("f(", "{", "<", "k<<<", "[", "#if 1\n", "template <", "F(#", "A::"):
        survives("#define F(x) {x}\n__global__ void k() {" + piece * 3000)


def test_a_long_chain_of_macros_is_read():
    chain = "\n".join(f"#define N_{i} (N_{i - 1} + 1)" for i in range(1, 2000))
    program = parse(Source(Path("op.cu"), f"#define N_0 0\n{chain}\n__global__ void k(int* x) {{ *x = N_1999; }}"))
    assert [k.name for k in program.kernels] == ["k"]
