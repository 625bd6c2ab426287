"""Structs and objects of host code: fields, constructors, functions that an object stands for."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import translated

FUNCTORS = """
template <typename T, bool twice> struct Scale {
  int operator()(T* y, const T* x, int n) const { scale<T><<<1, 64>>>(y, x, twice ? 2.f : 1.f, n); return n; }
};
struct State { int m; void operator()(int n) {} };
"""


@pytest.mark.parametrize("made", ["Scale<float, true>()", "Scale<float, true>{}"])
def test_an_object_made_to_be_called_is_a_function(made):
    found = translated(f"{FUNCTORS}void f(float* y, float* x, int n) {{ {made}(y, x, n); }}")
    assert "def Scale(y, x, n):\n    scale[(1,)](y, x, 2.0, n, BLOCK_SIZE=64, num_warps=1)\n    return n" in found
    assert found.endswith("    Scale(y, x, n)")


def test_an_object_with_state_is_refused():
    with pytest.raises(Refusal, match="more than a function"):
        translated(f"{FUNCTORS}void f(int n) {{ State()(n); }}")


NESTED = """
struct Size { int rows, columns; };
struct Given { float* y; Size size; float by; };
__global__ void grow(Given g) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.size.rows * g.size.columns) g.y[i] *= g.by;
}
"""


@pytest.mark.parametrize(
    ("made", "passed"),
    [
        ("Given g{y, {n, m}, 2.0f};", "y, n, m, 2.0"),
        ("Given g = {y, Size{n, m}, 2.0f};", "y, n, m, 2.0"),
        (
            "Given g; g.y = y; g.size.rows = n; g.size.columns = m; g.by = 2.0f;",
            "g_y, g_size_rows, g_size_columns, g_by",
        ),
    ],
)
def test_a_struct_within_a_struct_is_passed_by_its_fields(made, passed):
    found = translated(f"{NESTED} void f(float* y, int n, int m) {{ {made} grow<<<n, 64>>>(g); }}")
    assert f"grow[(n,)]({passed}, BLOCK_SIZE=64" in " ".join(found.split()).replace("( ", "(")


SHAPE = "struct Pair { int rows, columns; };"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("Pair p = {n, 2}; p.rows = m;", "p_rows = m\nscale[(p_rows,)](y, x, 1.0, n"),
        ("Pair p = {n, 2}, q = {m, 3}; if (m > n) p = q;", "p_rows = n\nif m > n:\n    p_rows = m\nscale[(p_rows,)]"),
        ("Pair p{n, 2}; n = 7; ", "p_rows = n\nn = 7\nscale[(p_rows,)](y, x, 1.0, n"),
        ("Pair p{n, 2}; ", "scale[(n,)](y, x, 1.0, n"),
    ],
)
def test_fields_that_change_are_variables_of_their_own(body, lines):
    source = f"{SHAPE} void f(float* y, float* x, int n, int m) {{ {body} scale<<<p.rows, 64>>>(y, x, 1.0f, n); }}"
    assert lines in dedent(translated(source).split("\n", 2)[2])


def test_memory_is_allocated_for_a_field():
    found = translated(f"""{NESTED} void f(float* y, int n) {{
        Given g;
        g.size.rows = n;
        cudaMalloc((void**)&g.y, g.size.rows * sizeof(float));
        cudaMemcpy(g.y, y, n * sizeof(float), cudaMemcpyHostToDevice);
        grow<<<n, 64>>>(g);
    }}""")
    assert "g_y = torch.empty(g_size_rows, dtype=torch.float32, device=y.device)" in found
    assert "g_y[:n].copy_(y.view(-1)[:n])" in found


FOUR = """
struct __align__(8) Four { __half x, y, z, w; };
__global__ void copied(Four* y, const Four* x) { y[threadIdx.x] = x[threadIdx.x]; }
"""


@pytest.mark.parametrize("dtype", ["x.dtype().toScalarType()", "at::typeMetaToScalarType(x.dtype())"])
def test_what_a_struct_of_alike_numbers_lies_in_is_a_tensor_of_these(dtype):
    found = translated(f"""{FOUR} torch::Tensor f(torch::Tensor x) {{
        TORCH_CHECK(x.layout() == torch::kStrided);
        TORCH_CHECK({dtype} == torch::kHalf);
        auto y = torch::empty_like(x);
        copied<<<1, 32>>>(reinterpret_cast<Four*>(y.data_ptr()), reinterpret_cast<Four*>(x.data_ptr()));
        return y;
    }}""")
    assert "if x.layout != torch.strided:" in found
    assert "if x.dtype != torch.float16:" in found
    assert "copied[(1,)](y, x, BLOCK_SIZE=32, num_warps=1)" in found


def test_a_struct_of_numbers_that_differ_has_no_dtype():
    source = FOUR.replace("__half x, y, z, w", "__half x, y; float z")
    with pytest.raises(Refusal, match="torch has no dtype for 'Four'"):
        translated(f"""{source} void f(__half* x) {{
            Four* y;
            cudaMalloc(&y, 32 * sizeof(Four));
            copied<<<1, 32>>>(y, (Four*)x);
        }}""")


def test_a_static_member_is_that_of_the_specialisation():
    found = translated("""
    template <typename T> struct Traits { static constexpr int items = 16 / sizeof(T); };
    template <> struct Traits<double> { static constexpr int items = 3; };
    template <> struct Traits<int> { static constexpr int items = 5; };
    template <typename T> void g(T* y, const T* x, int n) { scale<T><<<n / Traits<T>::items, 64>>>(y, x, 2.0f, n); }
    void f(float* y, const float* x, double* d, const double* e, int n) { g<float>(y, x, n); g<double>(d, e, n); }
    """)
    assert "scale[(n // 4,)]" in found
    assert "[(n // 3,)]" in found
    assert "n // 5" not in found


def test_a_struct_that_is_handed_to_a_function_of_the_source_is_its_fields():
    found = translated(
        NESTED
        + """
    void g(Given given, int blocks) { grow<<<blocks, 64>>>(given); }
    void f(float* y, int n, int m) { g(Given{y, {n, m}, 2.0f}, n); Given own; own.y = y; own.size = {n, m}; g(own, m); }
    """
    )
    assert "def g(given_y, given_size_rows, given_size_columns, given_by, blocks):" in found
    assert "grow[(blocks,)](given_y, given_size_rows, given_size_columns, given_by," in " ".join(found.split())
    assert "g(y, n, m, 2.0, n)" in found


IN_STRUCTS = """
struct Extent {{ int rows, cols; }};
struct Given {{ const float* x; float* y; Extent extent; int n; }};
__global__ void given(Given g) {{ g.y[threadIdx.x] = g.x[g.extent.rows] + g.extent.cols + g.n; }}
void f(float* y, const float* x, int n, int m) {{ Given g; g.x = x; g.y = y; g.n = n; {} given<<<1, 64>>>(g); }}
"""


@pytest.mark.parametrize(
    "assigned",
    [
        "g.extent = {n, m};",
        "Extent e = {n, m}; g.extent = e;",
        "g = {x, y, {n, m}, n};",
        "g.extent.rows = n; g.extent.cols = m;",
    ],
)
def test_a_struct_within_a_struct_is_assigned_field_by_field(assigned):
    found = translated(IN_STRUCTS.format(assigned))
    assert re.search(r"g_extent_rows = n\n\s+g_extent_cols = m\n", found)


@pytest.mark.parametrize("assigned", ["g.extent = {n, m}; g.extent = {g.extent.cols, n};", "g.extent = {n};"])
def test_a_struct_that_is_assigned_what_it_holds_or_in_part_is_refused(assigned):
    with pytest.raises(Refusal, match="a struct is assigned"):
        translated(IN_STRUCTS.format(assigned))


CONSTRUCTED = """
template <typename T> struct Scaled {{ T by; int n; {} }};
template <typename T> __global__ void apply(T* y, const T* x, Scaled<T> s) {{ y[threadIdx.x] = x[s.n] * s.by; }}
void f(float* y, const float* x, double a, int n) {{ Scaled<float> s(a, n + 1); apply<float><<<1, 64>>>(y, x, s); }}
"""


@pytest.mark.parametrize(
    "constructor",
    [
        "Scaled(T a, int m) : by(a), n(m) {}",
        "Scaled(T a, int m) { this->by = a; this->n = m; }",
        "Scaled() {} Scaled(T a, int m) : by(a), n(m) {}",
    ],
)
def test_a_struct_is_what_its_constructor_makes_it(constructor):
    assert "apply[(1,)](y, x, a, n + 1, " in translated(CONSTRUCTED.format(constructor))


@pytest.mark.parametrize(
    "constructor",
    [
        "Scaled(T a, int m) : by(a), n(m) { if (m > 3) n = 3; }",
        "Scaled(T a, int m) : by(a) {}",
        "Scaled(T a, int m) : by(a), n(0) { n += m; }",
    ],
)
def test_a_constructor_that_does_more_than_give_its_fields_is_refused(constructor):
    with pytest.raises(Refusal):
        translated(CONSTRUCTED.format(constructor))


def test_the_components_of_a_vector_are_parameters_of_a_launcher():
    found = translated("""
        void f(float* y, const float* x, const float2& range, int n) { scale<<<n, 32>>>(y, x, range.y - range.x, n); }
        """)
    assert "def f(y, x, range_x, range_y, n):" in found
    assert "scale[(n,)](y, x, range_y - range_x, n," in found


def test_a_struct_has_the_default_of_each_field():
    found = translated("""
        void f(float* y, const float* x, int n, float2 range = make_float2(0.f, 2.f)) {
          scale<<<n, 32>>>(y, x, range.y - range.x, n);
        }""")
    assert "def f(y, x, n, range_x=0.0, range_y=2.0):" in found


def test_a_complex_number_of_cuda_is_a_vector_of_two():
    kernel = "__global__ void turn(cuDoubleComplex* z, int n) { if (threadIdx.x < n) z[threadIdx.x].x *= 2.0; }"
    host = "void f(void* z, int n) { auto* held = reinterpret_cast<cuDoubleComplex*>(z); turn<<<1, 64>>>(held, n); }"
    assert ".view(torch.float64)" in translated(f"{kernel}\n{host}")


PAIR = "struct Pair { int a, b; };\nint f(int n) { Pair p, q; p.a = n; p.b = 2; q.a = 1; q.b = n;"


@pytest.mark.parametrize("value", ["{p.b, p.a}", "{1, p.a + 1}", "Pair{p.b + 1, 2}"])
def test_a_struct_that_is_given_fields_of_its_own_is_refused(value):
    with pytest.raises(Refusal, match="its own fields"):
        translated(f"{PAIR} p = {value}; return p.a; }}")


@pytest.mark.parametrize(
    ("value", "a", "b"), [("{p.a + 1, n}", "p_a + 1", "n"), ("{q.b, q.a}", "q_b", "q_a"), ("q", "q_a", "q_b")]
)
def test_a_struct_is_given_fields_of_others_one_by_one(value, a, b):
    found = translated(f"{PAIR} p = {value}; return p.a + p.b; }}")
    assert f"p_a = {a}\n    p_b = {b}\n" in found


def test_fields_are_named_in_any_order_and_left_out():
    found = translated(f"""{NESTED} void f(float* y, int n) {{
        Given g = {{.by = 2.0f, .y = y}};
        Size s = {{.columns = n}};
        grow<<<n, 64>>>(Given{{y, s, g.by}}); }}""")
    assert "grow[(n,)](y, 0, n, 2.0, BLOCK_SIZE=64" in found


def test_a_field_that_the_struct_lacks_is_refused():
    with pytest.raises(Refusal, match="the fields of 'Size' are not those that are named"):
        translated(f"{NESTED} void f(float* y, int n) {{ Size s = {{.depth = n}}; add<<<s.rows, 64>>>(y, y, n); }}")


@pytest.mark.parametrize(
    ("asked", "bytes_"),
    [
        ("struct S { char a; double b; short c; };", 24),
        ("struct S { char a; int b[3]; };", 16),
        ("struct alignas(32) S { float* p; char c; };", 32),
        ("union S { double d; char c[11]; };", 16),
        ("struct B { double d; }; struct S : B { char c; };", 16),
        ("template <typename T> struct W { T a; char c; }; struct S { W<short> w; float3 f; };", 16),
    ],
)
def test_the_size_of_a_struct_is_that_of_the_compiler(asked, bytes_):
    found = translated(f"{asked} void f(float* y, float* x, int n) {{ add<<<sizeof(S), 64>>>(y, x, n); }}")
    assert f"add[({bytes_},)]" in found


def test_the_size_of_what_a_pointer_leads_to():
    found = translated("void f(double* y, float* x, int n) { add<<<sizeof(*y) + sizeof(x[0]), 64>>>(x, x, n); }")
    assert "add[(12,)]" in found


STATIC = """
template <int N> struct Launcher {
  static int blocks(int n) { return (n + N - 1) / N; }
  template <typename T> static void run(T* y, const T* x, int n) { scale<T><<<(n + N - 1) / N, N>>>(y, x, 3.f, n); }
};
struct Limits { template <typename T> static bool holds(T n) { return n > 0; } };
"""


def test_a_static_method_is_a_function():
    found = translated(f"""{STATIC} void f(float* y, float* x, int n) {{
        if (Limits::holds(n)) Launcher<128>::run(y, x, n);
        add<<<Launcher<64>::blocks(n), 64>>>(y, x, n); }}""")
    assert "def Limits_holds(n):\n    return n > 0" in found
    assert "def Launcher_run(y, x, n):\n    scale[(triton.cdiv(n, 128),)](y, x, 3.0, n, BLOCK_SIZE=128" in found
    assert "if Limits_holds(n):\n        Launcher_run(y, x, n)\n    add[(Launcher_blocks(n),)]" in found


def test_a_tensor_without_a_type_is_viewed_as_the_halves_that_a_kernel_moves():
    found = translated("""
        __global__ void twice(__half* y, int n) {
          if (threadIdx.x < n) y[threadIdx.x] = __hadd(y[threadIdx.x], y[threadIdx.x]);
        }
        void f(void* z, int n) { twice<<<1, 64>>>((__half*)z, n); }""")
    assert "twice[(1,)](z.view(-1).view(torch.float16), n" in found
    single = translated("void f(void* z, const void* w, int n) { add<<<1, 64>>>((float*)z, (const float*)w, n); }")
    assert "add[(1,)](z, w, n" in single


def test_a_tensor_whose_data_is_kept_without_a_type_is_viewed_as_the_halves_that_it_is_cast_to_later():
    found = translated("""
        __global__ void twice(__half* y, int n) {
          if (threadIdx.x < n) y[threadIdx.x] = __hadd(y[threadIdx.x], y[threadIdx.x]);
        }
        void f(torch::Tensor z, int n) {
          void* data = static_cast<void*>(z.data_ptr());
          twice<<<1, 64>>>(reinterpret_cast<__half*>(data), n);
        }""")
    assert "torch.void" not in found
    assert "view(torch.float16)" in found
