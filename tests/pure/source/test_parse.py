"""What `parse` finds in ordinary and in odd CUDA."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.program import HostForm
from porter.source_text import Source


def program(text, **kwargs):
    return parse(Source(Path("x.cu"), text), **kwargs)


def kernel(text):
    (found,) = program(text).kernels
    return found


def test_a_kernel_with_everything_in_its_head():
    k = kernel(
        "namespace a { namespace {\n"
        "template <typename T, int N = 4, class F = Op<T, 2>>\n"
        "static __global__ void __launch_bounds__(256, 2) k(const T* __restrict__ x, float* const y, unsigned n,\n"
        "    const Params p, F f = F(1, 2), int (*op)(int, int) = nullptr, float a[3], T&& r,\n"
        "    int rows[][N], float* lists[4]) {}\n}}"
    )
    assert (k.qualified, k.space, k.launch_bounds) == ("a::k", "global", ("256", "2"))
    assert [(t.kind, t.name, t.default) for t in k.template] == [
        ("typename", "T", ""), ("int", "N", "4"), ("typename", "F", "Op<T, 2>"),
    ]  # fmt: skip
    assert [(p.name, p.type.base, p.type.pointers, p.type.const) for p in k.params] == [
        ("x", "T", 1, True), ("y", "float", 1, False), ("n", "unsigned", 0, False), ("p", "Params", 0, True),
        ("f", "F", 0, False), ("op", "int (* )(int, int)", 0, False), ("a", "float", 1, False), ("r", "T", 0, False),
        ("rows", "int", 1, False), ("lists", "float", 2, False),
    ]  # fmt: skip
    assert [p.default for p in k.params[4:6]] == ["F(1, 2)", "nullptr"]
    assert k.params[7].type.reference
    assert k.returns.base == "void"


@pytest.mark.parametrize(
    "head",
    [
        "__global__ void k(int n)",
        "void __global__ k(int n)",
        "static inline __global__ void k(int n)",
        "__launch_bounds__(128) __global__ void k(int n)",
        "__global__ __launch_bounds__(128) void k(int n)",
        "__global__ __attribute__((used)) void k(int n)",
        "__global__\nvoid\nk\n(int n)\n",
        "__global__ auto k(int n) -> void",
        "template <int N> __global__ void __launch_bounds__(N) k(int n)",
        "template <class T, class = std::enable_if_t<(sizeof(T) > 2)>> __global__ void k(int n)",
        "template <typename T> requires (sizeof(T) > 2) __global__ void k(int n)",
        'extern "C" __global__ void k(int n)',
        "UNKNOWN_EXPORT __global__ void k(int n)",
        "__global__ void k(UNKNOWN_GRID_CONSTANT Foo const n)",
        "[[maybe_unused]] __global__ void k(int n)",
        "__global__ /* void j( */ void k(int n) // {\n",
        "__cluster_dims__(2, 1, 1) __global__ void k(int n)",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_kernel_heads_of_every_kind(head, newline):
    text = "\ufeffint before;\n\t" + head + " { int x = n; }\nint after;"
    found = program(text.replace("\n", newline))
    assert [(k.name, [p.name for p in k.params]) for k in found.kernels] == [("k", ["n"])]
    assert found.not_understood == ()
    assert found.source.slice(found.kernels[0].body) == "{ int x = n; }"
    assert found.source.slice(found.kernels[0].span).rstrip().endswith("{ int x = n; }")


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(int n);",
        "// __global__ void k(int n) {}\n",
        "/* __global__ void k() {} */",
        'const char* s = "__global__ void k() {}";',
        'auto s = R"(__global__ void k() {})";',
        "#define MAKE __global__ void k() {}\n",
        "friend __global__ void k<int>(int);",
    ],
)
def test_what_is_no_kernel(text):
    assert program(text + "\nvoid f() {}").kernels == ()


def test_spaces_scopes_and_linkage():
    p = program(
        "struct S { __device__ __forceinline__ float operator()(float a) const { return a; }\n"
        "  template <class U> static __host__ __device__ U id(U u) { return u; } S(int q) : q_(q) {} };\n"
        'extern "C" { void go(float* x) {} }\n'
        "const std::vector<int> Foo<int>::bar(const std::map<int, float>& m) const noexcept { return {}; }\n"
        "constexpr __host__ __device__ int up(int a) { return a + 1; }"
    )
    assert [f.qualified for f in p.device_functions] == ["S::operator()"]
    hosts = {f.qualified: f for f in p.host_functions}
    assert set(hosts) == {"S::id", "S::S", "go", "Foo::bar", "up"}
    assert hosts["go"].extern_c
    assert hosts["Foo::bar"].returns.base == "std::vector<int>"
    assert hosts["up"].space == "host device"


def test_shared_and_constant_memory():
    p = program(
        "__constant__ float w[64];\n__device__ int counter = 0;\n__device__ float f(float);\n"
        "template <int N> __global__ void k() {\n"
        "  __shared__ float tile[32][N + 1], other[N];\n  extern __shared__ __align__(16) unsigned char raw[];\n"
        "  __shared__ typename cub::BlockReduce<float, N>::TempStorage temp;\n}"
    )
    assert [(s.name, s.element, s.extents, s.dynamic) for s in p.kernels[0].shared] == [
        ("tile", "float", ("32", "N + 1"), False),
        ("other", "float", ("N",), False),
        ("raw", "unsigned char", ("",), True),
        ("temp", "cub::BlockReduce<float, N>::TempStorage", (), False),
    ]
    assert [c.name for c in p.constants] == ["w", "counter"]


def test_launches_with_their_expressions_and_places():
    p = program(
        "void go(float* x, int n, cudaStream_t st) {\n"
        "  ns::k<float, 4><<<dim3((n + 255) / 256, 2), 256, 4 * sizeof(float), st>>>(x, f<1, 2>(n));\n"
        "  if (n) { (j<T>)<<<1, 2>>>(); }\n}"
    )
    first, second = p.launches
    assert (first.kernel, first.template_args, first.inside) == ("ns::k", ("float", "4"), "go")
    assert first.grid.text == "dim3((n + 255) / 256, 2)"
    assert first.shared_bytes is not None
    assert first.shared_bytes.text == "4 * sizeof(float)"
    assert [a.text for a in first.args] == ["x", "f<1, 2>(n)"]
    assert p.source.slice(first.block.span) == "256"
    assert p.source.slice(first.span).startswith("ns::k<float, 4><<<")
    assert (second.kernel, second.template_args, second.stream) == ("j", ("T",), None)
    assert second.span.line == 3


FORMS = {
    HostForm.KERNELS_ONLY: "",
    HostForm.POINTER_LAUNCHER: "void go(float* x) { k<<<1, 2>>>(x); }",
    HostForm.EXTERN_C: 'extern "C" void go(float* x) { k<<<1, 2>>>(x); }',
    HostForm.TORCH_LAUNCHER: "torch::Tensor go(torch::Tensor x) { k<<<1, 2>>>(x.data_ptr<float>()); return x; }",
    HostForm.PROGRAM: "int main() { k<<<1, 2>>>(x); }",
    HostForm.TORCH_EXTENSION: 'at::Tensor go(at::Tensor x) {} PYBIND11_MODULE(m, n) { n.def("go_py", &go, "help"); }',
}


@pytest.mark.parametrize("form", FORMS)
def test_host_forms(form):
    assert program("__global__ void k(float* x) {}\n" + FORMS[form]).form is form


def test_bindings():
    p = program(
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("fwd", &ns::forward, "doc");\n'
        '  m.def("l", [](int x) { return x; }); }\n'
        'TORCH_LIBRARY(lib, m) { m.def("op(Tensor x) -> Tensor"); }\n'
        'TORCH_LIBRARY_IMPL(lib, CUDA, m) { m.impl("op", TORCH_FN(op_cuda)); m.impl("q", &q<float>); }'
    )
    assert [(b.python_name, b.function) for b in p.bindings] == [("fwd", "ns::forward"), ("op", "op_cuda"), ("q", "q")]


def test_an_error_in_one_kernel_leaves_the_others():
    p = program(
        "__global__ void a(int* x) { x[0] = 1; }\n"
        "__global__ void b(int* x) { x[0] = = ; ] 1; }\n"
        "__global__ void c(int* x) { x[0] = 1; }\n"
    )
    assert [k.name for k in p.kernels] == ["a", "b", "c"]
    assert {n.span.line for n in p.not_understood} == {2}
    assert {f.code for f in p.findings} == {"PORT2001"}


def test_a_truncated_file_still_names_its_kernels():
    p = program("__global__ void a(int* x) { x[0] = 1; }\n__global__ void b(int* x) { if (x[0]")
    assert [k.name for k in p.kernels] == ["a", "b"]
    assert p.not_understood


def test_parse_of_the_text_of_a_kernel_finds_the_same_kernel():
    text = (
        "int pad;\ntemplate <typename T>\n__global__ void k(const T* x, int n) { __shared__ T s[32]; s[n] = x[n]; }\n"
    )
    p = program(text)
    again = program(p.source.slice(p.kernels[0].span))
    one, two = p.kernels[0], again.kernels[0]
    assert (one.name, one.template, [q.type for q in one.params]) == (
        two.name,
        two.template,
        [q.type for q in two.params],
    )
    assert [s.extents for s in one.shared] == [s.extents for s in two.shared]


def test_dialect_names_and_line_counts_of_embedded_text():
    p = parse(Source(Path("x.py"), "\n__global__ void k() {}\n", first_line=40))
    assert p.kernels[0].span.line == 41


def test_a_macro_with_a_block_behind_it_is_told_from_functions():
    text = """
        namespace ops { REGISTER_KERNELS(ops, CUDA, m) { m.impl("f", f); } }
        FOR_EACH(i, n) { k<<<1, 1>>>(i); }
        class C { C(int a) : x(a) {} ~C() {} operator int() { return x; } int x; };
        C::C(float a) : x(a) {}
        main() { return 0; }
        """
    functions = parse(Source(Path("op.cu"), text)).host_functions
    assert {f.name for f in functions if f.is_macro} == {"REGISTER_KERNELS", "FOR_EACH"}
