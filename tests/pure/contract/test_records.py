"""Structs that are passed by value, as arguments of a contract."""

from pathlib import Path

import pytest

from porter.contract.analysis.records import grouped
from porter.contract.infer.draft import draft
from porter.contract.model.contract import Role, ScalarArg, TensorArg
from porter.contract.model.dtype import DType
from porter.contract.model.questions import scalar_question
from porter.source.parse import parse
from porter.source_text import Source

KERNEL = """
__global__ void k(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * a;
}
"""


def drafted(text):
    (contract,) = draft(parse(Source(Path("op.cu"), KERNEL + text)))
    return contract


@pytest.mark.parametrize("declared", ["float2 by", "const float2& by"])
def test_the_components_of_a_vector_are_arguments(declared):
    contract = drafted(f"void f(float* y, const float* x, {declared}, int n) {{ k<<<n, 32>>>(y, x, by.x + by.y, n); }}")
    assert [a.name for a in contract.arguments] == ["y", "x", "by.x", "by.y", "n"]
    x, y = (a for a in contract.arguments if a.name.startswith("by."))
    assert (x.type, y.type) == ("float", "float")
    assert x.value != y.value


def test_the_fields_of_a_struct_are_arguments_those_of_structs_in_it_too():
    contract = drafted("""
        typedef float real;
        struct Size { int rows, columns; };
        struct Params { real* y; const float* x; Size size; real by; };
        void f(Params p) { k<<<p.size.rows, 32>>>(p.y, p.x, p.by, p.size.rows * p.size.columns); }""")
    assert [a.name for a in contract.arguments] == ["p.y", "p.x", "p.size.rows", "p.size.columns", "p.by"]
    assert [type(a) for a in contract.arguments] == [TensorArg, TensorArg, ScalarArg, ScalarArg, ScalarArg]
    assert contract.symbols == ("p_size_rows", "p_size_columns")
    assert contract.arguments[2].value == "p_size_rows"


def test_the_elements_of_small_arrays_are_arguments():
    contract = drafted("""
        constexpr int kMany = 2;
        struct Pair { const float* x; float* y; };
        struct Params { Pair pairs[kMany]; float by[2][1]; int n; };
        void f(Params p) { k<<<p.n, 32>>>(p.pairs[0].y, p.pairs[1].x, p.by[0][0] - p.by[1][0], p.n); }""")
    pairs = ["p.pairs[0].x", "p.pairs[0].y", "p.pairs[1].x", "p.pairs[1].y"]
    assert [a.name for a in contract.arguments] == [*pairs, "p.by[0][0]", "p.by[1][0]", "p.n"]
    assert contract.symbols == ("p_n",)


def test_the_fields_of_bases_and_of_instances_of_class_templates_are_arguments():
    contract = drafted("""
        template <typename T> struct Pointer { T* data; Pointer() : data(nullptr) {} Pointer(T* p) : data(p) {} };
        template <typename T> struct View : public Pointer<T> {
            size_t step; View() : step(0) {} View(T* p, size_t s) : Pointer<T>(p), step(s) {}
            const T* row(int y) const { return Pointer<T>::data + y * step; } };
        struct Both { View<const float> in; View<float> out; float by = 2; };
        void f(const Both b, int n) { k<<<n, 32>>>(b.out.data, b.in.row(1), b.by, n); }""")
    assert [a.name for a in contract.arguments] == ["b.in.data", "b.in.step", "b.out.data", "b.out.step", "b.by", "n"]
    assert [a.dtype.name for a in contract.arguments if isinstance(a, TensorArg)] == ["FLOAT32", "FLOAT32"]
    assert contract.arguments[0].role is Role.IN
    assert set(contract.symbols) == {"b_in_step", "b_out_step", "n"}


FIELDS_AS_SIZES = """
struct Size { int rows, columns; };
struct View { float* data; Size size; };
__global__ void scale(View v, const float* by) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < v.size.columns && y < v.size.rows) v.data[y * v.size.columns + x] *= by[x];
}
"""


def test_a_kernel_alone_covers_the_size_that_a_field_holds():
    (contract,) = draft(parse(Source(Path("op.cu"), FIELDS_AS_SIZES)))
    assert contract.entry.launch is not None
    assert contract.entry.launch.grid == ("cdiv(v_size_columns, 256)", "v_size_rows", "1")


@pytest.mark.parametrize(
    "struct",
    [
        "class P { public: float by; };",
        "struct P { P(float a) : by(a) {} float by; };",
        "struct P { P() = delete; float by; };",
        "struct P { P(int a, float b = 1) : by(b) {} float by; };",
        "struct Base { Base(int a) : m(a) {} int m; }; struct P : Base { P() : Base(1) {} float by; };",
        "struct Base { float by; }; struct P : Base { float by; };",
        "struct P { float by; float& other; };",
        "union P { float by; int bits; };",
        "struct P { float by; private: int hidden; };",
        "struct P { float by; const int fixed; };",
        "struct P { float by; int low : 4; };",
    ],
)
def test_a_struct_that_not_everybody_can_make_stays_a_question(struct):
    contract = drafted(f"{struct} void f(float* y, const float* x, P p, int n) {{ k<<<n, 32>>>(y, x, p.by, n); }}")
    assert scalar_question("p", "P") in contract.questions


@pytest.mark.parametrize("field", ["int sizes[100]", "int sizes[MANY]", "std::string name"])
def test_a_field_that_no_code_reads_may_be_anything_that_is_made_without_arguments(field):
    text = "struct P {{ float by; {}; }}; void f(float* y, const float* x, P p, int n) {{ k<<<n, 32>>>(y, x, {}, n); }}"
    contract = drafted(text.format(field, "p.by"))
    assert [a.name for a in contract.arguments] == ["y", "x", "p.by", "n"]
    read = drafted(text.format(field, f"p.by + sizeof(p.{field.split()[1].split('[')[0]})"))
    assert scalar_question("p", "P") in read.questions


def test_arguments_are_grouped_by_the_parameters_they_belong_to():
    (function,) = parse(Source(Path("op.cu"), "void f(float* y, float2 by, int n) {}")).host_functions
    assert grouped(["y", "by.x", "by.y", "n"], function.params) == ((), ("x", "y"), ())


def test_a_field_without_a_type_is_handed_on_with_its_struct():
    struct = "struct given { void* y; const float* x; int n; };"
    inner = "void inner(given g) { k<<<g.n, 32>>>((float*)g.y, g.x, 2.0f, g.n); }"
    contract = drafted(f"{struct}\n{inner}\nvoid f(given g) {{ inner(g); }}")
    assert [a.name for a in contract.arguments] == ["g.y", "g.x", "g.n"]


def test_a_field_of_a_template_parameters_type_is_a_float_where_no_launch_says_more():
    text = """
        template <typename T> struct View { const T* data; int n; };
        template <typename T> __global__ void twice(View<T> v, T* y) {
            for (int i = threadIdx.x; i < v.n; i += blockDim.x) y[i] = 2 * v.data[i];
        }"""
    (contract,) = draft(parse(Source(Path("op.cu"), text)))
    data = next(a for a in contract.arguments if a.name == "v.data")
    assert isinstance(data, TensorArg)
    assert data.dtype is DType.FLOAT32


PARAMS = "struct P { const float* x; float* y; int n; float by; cudaStream_t stream; void grow() { n += 1; } };"
LAUNCH = "k<<<(p.n + 127) / 128, 128, 0, p.stream>>>(p.y, p.x, p.by, p.n);"


@pytest.mark.parametrize("declared", ["P p", "const P& p", "P& p"])
def test_the_handle_of_a_stream_may_be_a_field(declared):
    contract = drafted(f"{PARAMS} void f({declared}) {{ {LAUNCH} }}")
    assert contract.name == "f"
    stream = next(a for a in contract.arguments if a.name == "p.stream")
    assert isinstance(stream, ScalarArg)
    assert stream.value == "0"


@pytest.mark.parametrize(
    "filled",
    ["p.n = 3;", "++p.n;", "int* last = &p.n;", "p = P();", "more(p);", "p.grow();", "if (p.n & 1) p.by *= 2;",
     "P& q = p; q.n = 3;", "auto& q{p}; q.n = 3;", "elsewhere(p);"],
)  # fmt: skip
def test_a_struct_that_is_set_through_a_reference_is_an_object(filled):
    more = "void elsewhere(P& q); static void more(P& q) { q.by += 1; }"
    contract = drafted(f"{PARAMS} {more} void f(P& p) {{ {filled} {LAUNCH} }}")
    assert contract.name == "k"


def test_a_struct_that_a_function_at_hand_reads_is_none_of_them():
    read = "static int threads(P& q) { return q.n < 64 ? 64 : 128; }"
    contract = drafted(f"{PARAMS} {read} void f(P& p) {{ int t = threads(p); {LAUNCH} }}")
    assert contract.name == "f"


def test_an_operator_takes_no_address_of_a_field():
    contract = drafted(f"{PARAMS} void f(P& p, int mask) {{ if (mask & p.n || p.n == 3) return; {LAUNCH} }}")
    assert contract.name == "f"
