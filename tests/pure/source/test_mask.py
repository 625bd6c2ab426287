"""The mask changes characters, never their number, and leaves nothing a C++ grammar stumbles over."""

from hypothesis import given
from hypothesis import strategies as st

from porter.source.mask import mask
from porter.source.syntax import parse_masked

CUDA = [
    "__global__ ",
    "__launch_bounds__(256, 2) ",
    "__shared__ float s[32];",
    "k<<<1,\n 2>>>(x);",
    "float* __restrict__ x",
]
CPP = [
    "void k(",
    ") {",
    "}",
    "typename T::type ",
    "T*... rest",
    "\n",
    "\r\n",
    "// ümläut\n",
    "\n#if X\n",
    "\t",
    "\ufeff",
    "é",
    "\0",
]
PIECES = st.sampled_from([*CUDA, *CPP])


@given(st.lists(PIECES, max_size=40).map("".join))
def test_mask_keeps_length_and_newlines_and_is_ascii(text):
    masked = mask(text)
    assert len(masked) == len(text)
    assert [i for i, c in enumerate(masked) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
    assert masked.isascii()
    assert len(masked.encode()) == len(text)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_masking_twice_changes_nothing_more(text):
    assert mask(mask(text)) == mask(text)


def test_cuda_reads_as_cpp_once_masked():
    text = """
template <typename T> static __global__ void __launch_bounds__(256, 2) k(const T* __restrict__ x) {
  __shared__ __align__(16) float tile[32];
  extern __shared__ char raw[];
}
__constant__ float w[3];
void f(float* x) {
  k<float><<<dim3(1), 256, 0, stream>>>(x);
  auto g = [=] __device__ (int i) { return i; };
}
"""
    assert not parse_masked(mask(text)).root_node.has_error
