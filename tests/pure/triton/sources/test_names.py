"""Names of namespaces, of types' properties, and overloads of kernels."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port


def ported(text):
    """The module without what stands before its first function, and the messages of its findings."""
    made = port(parse(Source(Path("op.cu"), text)), ())
    return made.files[0].text.split("import triton.language as tl\n")[-1], [f.message for f in made.findings]


NAMESPACES = """
namespace wide { constexpr int step = 8; }
namespace narrow { constexpr int step = 2;
  __device__ int stepped(int i) { return i * step; }
}
%s
__global__ void k(int* y) { y[threadIdx.x] = narrow::stepped(threadIdx.x) + %s; }
"""


def test_a_name_means_that_of_the_namespace_around_or_named():
    text, findings = ported(NAMESPACES % ("", "wide::step"))
    assert "tl.store(y + tid, tid * 2 + 8)" in text
    assert not findings


def test_a_name_of_two_namespaces_with_different_values_is_refused():
    _, findings = ported(NAMESPACES % ("using namespace wide;", "step"))
    assert findings == ["several variables are called 'step'"]


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("std::is_same<T, float>::value", 1),
        ("std::is_same_v<T, __half>", 0),
        ("std::is_floating_point<T>::value", 1),
        ("std::is_integral_v<T>", 0),
        ("std::is_unsigned_v<T>", 0),
    ],
)
def test_properties_of_types_are_known(asked, value):
    text, _ = ported(f"""
        template <typename T> __global__ void k(T* y) {{
          if ({asked}) y[threadIdx.x] = 1; else y[threadIdx.x] = 0;
        }}
        void f(float* y) {{ k<float><<<1, 32>>>(y); }}""")
    assert f"tl.store(y + tid, {float(value)})" in text


OVERLOADS = """
__global__ void k(float* y, int n) { y[threadIdx.x] = n; }
__global__ void k(__half* y, int n) { y[threadIdx.x] = __float2half(2.0f * n); }
template <typename T> __global__ void k(T* y, int n) { y[threadIdx.x] = n + 1; }
void f(float* y, int n) { k<<<1, 32>>>(y, n); }
void g(__half* y, int n) { k<<<1, 32>>>(y, n); }
void h(int* y, int n) { k<<<1, 32>>>(y, n); }
"""


def test_the_kernel_launched_is_the_one_that_takes_the_arguments():
    text, findings = ported(OVERLOADS)
    assert not findings
    kernels = {name: text.split(f"def {name}(")[1].split("def ")[0] for name in ("k", "k__2", "k__3")}
    assert "tl.store(y + tid, n.to(tl.float32))" in kernels["k"]
    assert "2.0 * n" in kernels["k__2"]
    assert "tl.store(y + tid, n + 1)" in kernels["k__3"]
    launched = {name: text.split(f"def {name}(")[1].split("[(1,)]")[0].split()[-1] for name in "fgh"}
    assert launched == {"f": "k", "g": "k__2", "h": "k__3"}


def test_a_vector_of_halves_is_negated():
    text, _ = ported("""
        __global__ void k(__half2* y, const __half2* x) { y[threadIdx.x] = -x[threadIdx.x]; }""")
    assert "-" in text.split("def k(")[1].split("def ")[0]


def test_a_function_is_called_though_a_number_has_its_name():
    text, findings = ported("""
        __device__ float most(float max, float v) { return ::max(max, v); }
        __global__ void k(float* y, const float* x) { y[threadIdx.x] = most(y[threadIdx.x], x[threadIdx.x]); }""")
    assert not findings
    assert "tl.maximum(" in text
