"""Types in drafts: element types, template parameters, function objects."""

import re
from pathlib import Path

import pytest

from porter.contract.analysis.usage import Usage
from porter.contract.infer.draft import draft, draft_each
from porter.contract.model.contract import ScalarArg, Values
from porter.contract.model.dtype import DType
from porter.contract.model.questions import unknown_values
from porter.source.parse import parse
from porter.source_text import Source
from tests.pure.contract.draft_sources import TORCH, drafted


def test_a_template_parameter_is_no_type_of_the_same_name_elsewhere():
    (contract,) = drafted("using scalar_t = at::BFloat16;" + TORCH.replace(".data_ptr<scalar_t>()", ".data_ptr()"))
    assert contract.tensors[0].dtype is DType.FLOAT32


@pytest.mark.parametrize(("mode", "dtype"), [("USE_BF16", DType.BFLOAT16), ("OTHER", DType.FLOAT32)])
def test_a_type_is_what_the_source_makes_its_header_say(mode, dtype):
    header = Source(
        Path("op.h"), "#ifdef USE_BF16\ntypedef __nv_bfloat16 floatX;\n#else\ntypedef float floatX;\n#endif\n"
    )
    kernel = "__global__ void k(floatX* x, int n) { if (threadIdx.x < n) x[0] = x[1]; }"
    text = f'#define {mode}\n#include "op.h"\n{kernel}'
    (contract,) = drafted(text, headers=(header,))
    assert contract.tensors[0].dtype is dtype


@pytest.mark.parametrize(
    ("struct", "group"),
    [
        ("struct S { float x, y, z; };", (DType.FLOAT32, 3)),
        ("struct P { double2 at; double m[4]; }; typedef struct P S;", (DType.FLOAT64, 6)),
        ("struct S { double2 at; double m[3]; };", (DType.UINT8, 48)),
        ("struct S { __half x, y; S() {} };", (DType.FLOAT16, 2)),
        ("struct Edge { int from, to; }; struct S { Edge edges[2]; int n; };", (DType.INT32, 5)),
        ("typedef float4 S;", (DType.FLOAT32, 4)),
        ("typedef float S;", (DType.FLOAT32, 1)),
        ("struct __align__(8) S { __half x, y, z, w; };", (DType.FLOAT16, 4)),
        ("struct alignas(16) S { float x, y, z; };", (DType.UINT8, 16)),
        ("struct S { float x; float2 y; };", (DType.UINT8, 16)),
        ("struct S { float3 x; float4 y; };", (DType.UINT8, 32)),
        ("struct S { float2 x, y; };", (DType.FLOAT32, 4)),
        ("struct S { float x; int n; };", (DType.UINT8, 8)),
        ("struct S { float x; int bits : 4; };", None),
        ("union U { float x; int n; }; struct S { U u; int n; };", None),
        ("struct S { float* x; float y; };", None),
        ("struct S { float x; virtual void f(); };", None),
        ("struct S;", None),
    ],
)
def test_a_struct_of_numbers_is_as_good_as_these(struct, group):
    (contract,) = drafted(struct + "__global__ void k(S* s, int n) { if (threadIdx.x < n) s[threadIdx.x] = s[n]; }")
    asked = [question for question in contract.questions if "points to S" in question.text]
    (tensor,) = contract.tensors
    assert (tensor.dtype, tensor.group) == (group or (DType.FLOAT32, 1))
    assert bool(asked) == (group is None)


def test_a_macro_of_a_header_is_the_type_that_it_stands_for():
    header = Source(Path("op.h"), "#define DEVICE_IN const float*\n#define DEVICE_OUT float*\n")
    text = """#include "op.h"
    __global__ void k(DEVICE_IN x, DEVICE_OUT y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
    void run(DEVICE_IN x, DEVICE_OUT y, int n) { k<<<1, 64>>>(x, y, n); }"""
    (contract,) = drafted(text, headers=(header,))
    assert [(t.name, t.dtype) for t in contract.tensors] == [("x", DType.FLOAT32), ("y", DType.FLOAT32)]


def test_explicit_instantiations_name_the_template_arguments():
    text = (
        "enum class Kind { PLAIN };\n"
        "template <class T, Kind kind> __global__ void scale(T* x) { x[threadIdx.x] *= 2; }\n"
        "template <class T, Kind kind> void run(T* x, int n) { scale<T, kind><<<1, n>>>(x); }\n"
        "template void run<half, Kind::PLAIN>(half* x, int n);\n"
        "template void run<float, Kind::PLAIN>(float* x, int n);\n"
    )
    (contract,) = drafted(text)
    assert contract.entry.template == ("float", "Kind::PLAIN")


def test_the_cases_of_a_dispatch_decide_the_element_type():
    cases = "case at::ScalarType::Half: { using scalar_t = at::Half; __VA_ARGS__; break; }"
    text = (
        f"#define DISPATCH_HALF(TYPE, ...) switch (TYPE) {{ {cases} }}\n"
        "template <class T> __global__ void scale(T* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }\n"
        "void run(torch::Tensor x) { void* at = x.data_ptr();\n"
        "  DISPATCH_HALF(x.scalar_type(), scale<scalar_t><<<1, 64>>>((scalar_t*)at, x.numel())); }"
    )
    (contract,) = drafted(text)
    assert [t.dtype for t in contract.tensors] == [DType.FLOAT16]


def test_the_dispatch_that_gives_a_name_decides_the_element_type_also_within_another_one():
    text = """
    template <typename scalar_t, typename index_t>
    __global__ void pick(const scalar_t* x, const index_t* at, scalar_t* y, int n) {
      int i = blockIdx.x * 64 + threadIdx.x;
      if (i < n) y[i] = x[at[i]];
    }
    void launch(torch::Tensor x, torch::Tensor at, torch::Tensor y) {
      AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "pick", [&] {
        AT_DISPATCH_INDEX_TYPES(at.scalar_type(), "pick at", [&] {
          pick<<<1, 64>>>(x.data_ptr<scalar_t>(), at.data_ptr<index_t>(), y.data_ptr<scalar_t>(), (int)y.numel());
        });
      });
    }
    """
    (contract,) = draft(parse(Source(Path("op.cu"), text)))
    assert [t.dtype for t in contract.tensors] == [DType.FLOAT32, DType.INT32, DType.FLOAT32]


@pytest.mark.parametrize(
    ("use", "asks"),
    [("x[threadIdx.x] = f(1.0f)", True), ("x[threadIdx.x] = f.load(n)", True), ("x[threadIdx.x] *= f", False)],
)
def test_a_template_parameter_that_is_called_is_no_number(use, asks):
    (contract,) = drafted(f"template <typename F> __global__ void k(F f, float* x, int n) {{ {use}; }}")
    assert bool(unknown_values(contract)) == asks


@pytest.mark.parametrize(
    ("type_", "use", "chosen"),
    [("SizeT", "n", "int"), ("E", "E i = threadIdx.x; i < n", "int"), ("F", "x[threadIdx.x] *= n", "float")],
)
def test_a_template_parameter_in_which_elements_are_numbered_is_an_integer(type_, use, chosen):
    text = f"template <typename {type_}> __global__ void k({type_} n, float* x) {{ {use}; x[threadIdx.x] = 1; }}"
    (contract,) = drafted(text)
    assert contract.entry.template == (chosen,)
    assert (contract.arguments[0].name in contract.symbols) == (chosen == "int")


def test_a_template_parameter_that_is_wrapped_to_be_called_is_no_number():
    text = "template <typename F> void run(F f, float* x, int n) { launch(Factory<F>(f), x, n); k<<<1, 32>>>(x); }"
    (contract,) = drafted(f"__global__ void k(float* x) {{ x[threadIdx.x] = 1; }}\n{text}")
    assert [q.about for q in unknown_values(contract)] == ["f"]


@pytest.mark.parametrize(
    ("call", "template"),
    [
        ("apply(Square<half>(), x, 4)", ("Square<half>", "half")), ("apply(Negate{}, x, 4)", ("Negate", "float")),
        ("apply(Scale(2.0f), x, 4)", ("float", "float")), ("apply(square(), x, 4)", ("float", "float")),
    ],
)  # fmt: skip
def test_a_function_object_is_what_the_file_hands_over_unless_it_holds_something(call, template):
    text = f"""
    template <typename T> struct Square {{ __device__ T operator()(T x) const {{ return x * x; }} }};
    struct Negate {{ __device__ float operator()(float x) const {{ return -x; }} }};
    struct Scale {{ float by; __device__ float operator()(float x) const {{ return by * x; }} }};
    template <typename F, typename T> __global__ void k(F f, T* x, int n) {{ x[threadIdx.x] = f(x[threadIdx.x]); }}
    template <typename F, typename T> void apply(F f, T* x, int n) {{ k<<<1, 32>>>(f, x, n); f(1.0f); }}
    int main() {{ half* x; {call}; }}
    """
    (contract,) = drafted(text, whole_program=False)
    assert contract.entry.template == template
    assert [q.about for q in unknown_values(contract)] == (["f"] if template[0] == "float" else [])
    assert contract.arguments[0] == ScalarArg("f", "F" if template[0] == "float" else template[0], "0")


@pytest.mark.parametrize(
    "handed_on",
    [
        "k<<<1, 64>>>((const __half*)x, n);",
        "k<<<1, 64>>>(static_cast<const __half*>(x), n);",
        "auto p = reinterpret_cast<const half*>(x); k<<<1, 64>>>(p, n);",
    ],
)
def test_what_is_behind_a_pointer_to_void_is_what_it_is_taken_for(handed_on):
    (contract,) = drafted(f"""
__global__ void k(const __half* x, int n) {{ if (threadIdx.x < n) *(__half*)(x + threadIdx.x) = __half(1.0f); }}
extern "C" void run(const void* x, int n) {{ {handed_on} }}""")
    assert contract.tensors[0].dtype is DType.FLOAT16


def test_streams_and_complex_numbers_behind_a_pointer_to_void_are_known():
    (contract,) = drafted("""
using State = cuDoubleComplex;
__global__ void k(State* x, unsigned n) { if (threadIdx.x < n) x[threadIdx.x].y = 0; }
void run(void* x, unsigned n, void* streams) {
  State* state = reinterpret_cast<State*>(x);
  cudaStream_t* stream = reinterpret_cast<cudaStream_t*>(streams);
  k<<<1, 64, 0, *stream>>>(state, n);
}""")
    state, streams = contract.tensors
    assert state.dtype is DType.FLOAT64
    assert (streams.dtype, streams.shape, streams.values) == (DType.UINT64, ("16",), Values.ZEROS)


DISPATCHED = """
template <typename scalar_t>
__global__ void halve(const scalar_t* x, scalar_t* y, int n) {{
    scalar_t v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x < n) y[threadIdx.x] = v / 2;
}}
torch::Tensor run(torch::Tensor x, torch::Tensor y) {{
    AT_DISPATCH_{types}(x.scalar_type(), "halve", [&] {{
        halve{given}<<<1, 256>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), (int)x.numel());
    }});
    return y;
}}
"""


@pytest.mark.parametrize("given", ["<scalar_t>", ""])
@pytest.mark.parametrize(
    ("types", "dtype"),
    [("FLOATING_TYPES", DType.FLOAT32), ("REDUCED_FLOATING_TYPES", DType.FLOAT16), ("INTEGRAL_TYPES", DType.UINT8)],
)
def test_a_bare_kernel_has_the_types_that_the_dispatch_around_its_launch_gives_it(given, types, dtype):
    program = parse(Source(Path("op.cu"), DISPATCHED.format(types=types, given=given)))
    (bare,) = draft_each(Usage(program), program.kernels)
    assert [tensor.dtype for tensor in bare.tensors] == [dtype, dtype]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ("x[blockIdx.x * 64 + threadIdx.x]", DType.FLOAT32),
        ("load(x, threadIdx.x)", DType.FLOAT32),
        ("blockIdx.x * 64 + threadIdx.x", DType.INT32),
        ("static_cast<T>(blockIdx.x) * 64 + threadIdx.x", DType.INT32),
    ],
)
def test_a_type_that_threads_are_numbered_in_is_an_integer_and_one_that_they_load_is_none(value, dtype):
    text = f"template <typename T> __global__ void k(const T* x, T* y) {{ T v = {value}; y[threadIdx.x] = v; }}"
    (contract,) = draft(parse(Source(Path("op.cu"), text)))
    assert [tensor.dtype for tensor in contract.tensors] == [dtype, dtype]


@pytest.mark.parametrize(
    ("body", "template"),
    [
        ("N i{blockIdx.x * blockDim.x + threadIdx.x}; if (i < n) y[i] = x[i];", ("float", "int")),
        ("N i(threadIdx.x); if (i < n) y[i] = x[i];", ("float", "int")),
        ("int i = threadIdx.x; y[blockIdx.x * n + i] = x[i];", ("float", "int")),
        ("int i = threadIdx.x; y[i] = x[i] * n;", ("float", "float")),
        ("int i = threadIdx.x; y[i + (int)n] = x[static_cast<int>(n) + i] + n;", ("float", "float")),
    ],
)
def test_a_type_of_numbers_that_indices_are_made_of_is_a_whole_one(body, template):
    (contract,) = drafted(f"template <typename T, typename N> __global__ void copy(const T* x, T* y, N n) {{ {body} }}")
    assert contract.entry.template == template


@pytest.mark.parametrize(
    ("body", "vector"),
    [
        ("V v{reinterpret_cast<const V*>(x)[i]}; y[i] = v.x + v.w;", "float4"),
        ("const V* v = (const V*)x; y[i] = v[i].x * v[i].y;", "float2"),
        ("V v = ((const V*)x)[i]; y[i] = v;", "float"),
    ],
)
def test_a_type_whose_components_are_used_is_a_vector(body, vector):
    text = f"template <typename T, typename V> __global__ void k(const T* x, T* y) {{ int i = threadIdx.x; {body} }}"
    (contract,) = draft(parse(Source(Path("op.cu"), text)))
    assert contract.entry.template == ("float", vector)


CHAINED = """
template <typename T, int B> __global__ void twice(const T* x, T* y, int n) {
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i];
}
template <typename T, int B> void launch(HANDED) {
    int blocks = (GIVEN(n) + B - 1) / B;
    twice<T, B><<<blocks, B>>>(static_cast<const T*>(GIVEN(x)), reinterpret_cast<T*>(GIVEN(y)), GIVEN(n));
}
template <typename U> void invoke(HANDED) { if (GIVEN(n) > 4096) launch<U, 512>(PASSED); else launch<U, 256>(PASSED); }
void run(HANDED) { invoke<__half>(PASSED); }
"""


@pytest.mark.parametrize(
    ("struct", "handed", "passed", "given"),
    [
        ("struct Params { const void* x; void* y; int n; };", "Params const& p", "p", r"p.\1"),
        ("", "const void* x, void* y, int n", "x, y, n", r"\1"),
    ],
    ids=["fields", "parameters"],
)
def test_what_is_behind_void_is_told_by_the_template_arguments_on_the_way(struct, handed, passed, given):
    text = re.sub(r"GIVEN\((\w)\)", given, CHAINED.replace("HANDED", handed).replace("PASSED", passed))
    (contract,) = drafted(struct + text)
    assert {tensor.dtype for tensor in contract.tensors} == {DType.FLOAT16}
