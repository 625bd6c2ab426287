"""What stays of a source that is cut down to its kernels and what they mention."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.simt.kernel_slice import kernel_slice
from porter.source_text import Source

KERNEL = "__global__ void k(float* x, Pair p, float4 v) { x[LAST] = twice<float>(p) + (v + v).x + limit; }\n"


def left(text: str) -> str:
    (source,) = kernel_slice(Source(Path("k.cu"), text))
    assert source.text.count("\n") == text.count("\n")
    return source.text


@pytest.mark.parametrize(
    "needed",
    [
        "struct Pair { float a; Tensor* host; };",
        "typedef struct { float a; } Pair;",
        "using Pair = Two<float>;\ntemplate <class T> struct Two { T a; };",
        "namespace inner {\ntemplate <class T>\n__device__ __forceinline__ T twice(Pair p) { return scaled(p); }\n}",
        "template <> __device__ float twice<half>(Pair p) { return 0; }",
        '__device__ float deeper();\nextern "C" __device__ float twice(Pair p) { return deeper(); }',
        "__device__ float4 operator+(float4 a, float4 b);",
        "static const int limit = 3, other = 4;",
        "enum Limits { limit = 3 };",
        "#define LAST offset(3)\n__device__ int offset(int i) { return i; }",
        "#ifdef A\n#define LAST offset(3)\n#else\n#define LAST 3\n#endif\n__device__ int offset(int i) { return i; }",
        "using namespace somewhere;",
        "namespace near = somewhere;\nusing Pair = near::Pair;",
        "using somewhere::Pair;",
        "#define DEFINE(T) __device__ T twice(Pair p) { return 2; }\nDEFINE(float)\nDEFINE(half)\n",
        "#define DEFINE(T) __device__ T twice(Pair p) { return 2; }\nDEFINE(float);",
    ],
)
def test_what_a_kernel_mentions_stays(needed):
    assert left(f"{needed}\n{KERNEL}") == f"{needed}\n{KERNEL}"


@pytest.mark.parametrize(
    "framework",
    [
        "class SoftmaxLayer : public Layer { Tensor in; void forward(); };",
        "class LIBRARY_API Tensor : public Base {\npublic:\n    Tensor(int n);\nprivate:\n    int n;\n};",
        "void SoftmaxLayer::forward() { k<<<1, 32>>>(in.data(), {}, {}); }",
        "template <typename T>\nSoftmaxLayer<T>::SoftmaxLayer(const T& in) : Layer(in) {}",
        "static Register<SoftmaxLayer> registered(kSoftmax);",
        'REGISTER_LAYER("softmax", SoftmaxLayer);',
        "std::ostream& operator<<(std::ostream& out, const Layer& layer) { return out << layer.name(); }",
        "__device__ int unused(Tensor t) { return t.n; }",
        "template class SoftmaxLayer<float>;",
        "void SoftmaxLayer::reset() {};",
        "REGISTER(float)\nREGISTER(double)\nstruct Other {};",
        "DEFINE_UNARY(Sqrt, y[i] = sqrt(a[i]))\nDEFINE_UNARY(Exp, y[i] = exp(a[i]))\n// both\n;",
        "struct SumParam : Param {\n    Type of = FLOAT;\n    COPYABLE(SumParam)\n};\n"
        "struct MaxParam : Param {\n    Range at = {0};\n\n    COPYABLE(MaxParam)\n};",
        "using other::Tensor;",
        "namespace flags = other;",
        "Tensor operator-(int64_t a, const Tensor& b);",
    ],
)
def test_what_no_kernel_mentions_goes(framework):
    assert (
        left(f"namespace library {{\n{framework}\n{KERNEL}}}\n").split() == f"namespace library {{ {KERNEL} }}".split()
    )


def test_a_class_with_qualifiers_that_macros_write_goes():
    macros = "#define LIMIT_CONST constexpr\n#define NO_THROW\n"
    framework = """namespace std {
template <> class numeric_limits<library::Tensor> : public numeric_limits<float> {
public:
    static LIMIT_CONST bool is_signed = true;
    static LIMIT_CONST library::Tensor min() NO_THROW { return library::Tensor(3, 1); }
    static LIMIT_CONST library::Tensor max() NO_THROW { return library::Tensor(3, 2); }
};
}
"""
    assert left(macros + framework + KERNEL).split() == f"{macros} namespace std {{ }} {KERNEL}".split()


def test_a_class_of_the_library_with_a_deprecated_member_goes():
    api = '#define LIBRARY_API __attribute__((visibility("default")))'
    macros = f"{api}\n#define OLD(why) __attribute__((deprecated(why)))\n"
    framework = """class LIBRARY_API Matrix {
public:
    Matrix(Device device, void* data);
    OLD("use Matrix(Device, void*) instead")
    Matrix(Device device, int rows, void* data) : Matrix(device, data) {};
    Device device = CPU;
};
"""
    assert left(macros + framework + KERNEL).split() == f"{macros} {KERNEL}".split()


def test_directives_stay_in_what_goes():
    text = f"struct Layer {{\n#ifdef FAST\n    int a;\n#endif\n}};\n{KERNEL}"
    assert left(text) == f"{' ' * 14}\n#ifdef FAST\n          \n#endif\n  \n{KERNEL}"


def test_headers_keep_what_is_mentioned_from_the_source():
    header = Source(Path("k.cuh"), "struct Pair { float a; };\nstruct Layer { Tensor t; };\n")
    source, cut = kernel_slice(Source(Path("k.cu"), f'#include "k.cuh"\n{KERNEL}'), [header])
    assert source.text == f'#include "k.cuh"\n{KERNEL}'
    assert cut.text.strip() == "struct Pair { float a; };"


def test_kernels_of_a_header_are_kernels():
    header = Source(Path("k.cuh"), KERNEL)
    _, cut = kernel_slice(Source(Path("k.cu"), '#include "k.cuh"\nvoid f(Tensor t) { k<<<1, 1>>>(t); }\n'), [header])
    assert cut.text == KERNEL


def test_what_an_instance_of_a_kernel_is_named_by_stays():
    text = (
        "enum class Mode { plain };\nstruct Same {};\nstruct Other {};\ntemplate <class T> __global__ void k(T t) {}\n"
    )
    (source,) = kernel_slice(Source(Path("k.cu"), text), mentioned=frozenset(("k", "Mode", "Same")))
    assert "Mode" in source.text
    assert "Same" in source.text
    assert "Other" not in source.text


def test_a_macro_of_a_number_is_no_qualifier():
    kernel = "__global__ void k(float* x) {\n    int i = blockIdx.x * WIDTH + threadIdx.x;\n    x[i] = i;\n}\n"
    text = f"#define WIDTH 32\n{kernel}"
    assert left(text) == text
