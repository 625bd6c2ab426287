"""Types of libraries and spellings of classes that kernels use, built and executed."""

import numpy as np
import pytest

from tests.pure.ir.simt.test_transforms import built, run

TAGS = """
#include <type_traits>
template <int N> struct Vec {
  int a[N];
  __device__ static constexpr std::integral_constant<int, N> size() { return {}; }
};
__device__ int one(int x, std::true_type) { return x + 1; }
__device__ int one(int x, std::false_type) { return x - 1; }
"""
OUTSIDE = """
struct Foo { int a; __device__ int twice(int x) const; __device__ Foo(int a); };
__device__ Foo::Foo(int v) { a = v; }
__device__ int Foo::twice(int x) const { return 2 * x + a; }
template <typename T> struct Box { T v[2]; __device__ T sum() const; };
template <typename U> __device__ U Box<U>::sum() const { return v[0] + v[1]; }
"""
DERIVED = """
template <typename T> struct Pointer { T* data; };
template <typename T> struct Rows : Pointer<T> {
  int step;
  __device__ T* row(int y) { return Pointer<T>::data + y * step; }
};
template <typename T> struct Last : Rows<T> {};
__device__ int third(Last<int> rows) { return rows.row(3)[0]; }
"""
REFERENCES = """
template <typename T> struct Array {
  using value_type = T; using reference = value_type&;
  T a[4];
  __device__ reference operator[](int i) { return a[i]; }
};
"""
TEMPLATES = """
template <typename T> struct Traits { typedef T* Pointer; template <typename U> using Other = U; };
template <typename T, template <typename> class Of> struct View { typename Of<T>::Pointer p; };
template <typename A, typename B> struct Same { static constexpr int value = 5; };
template <typename A> struct Same<A, A> { static constexpr int value = 7; };
namespace outer { enum { COUNT = 3 }; namespace inner { enum { COUNT = 3 }; } }
using outer::inner::COUNT;
"""


CASES = {  # what is declared, what a thread `t` of 32 does, and what it writes
    "tags": (
        TAGS,
        "out[t] = one(t, std::is_same<int, int>{}) * 100 + one(t, std::bool_constant<false>());",
        lambda t: (t + 1) * 100 + t - 1,
    ),
    "constants": (
        TAGS,
        "Vec<3> v; int n = 0; for (int i = 0; i < v.size(); ++i) ++n; out[t] = n;",
        lambda t: t * 0 + 3,
    ),
    "pairs": (
        "",
        "auto p = std::make_pair(t, 2.5f); std::pair<int, float> q = p; out[t] = q.first + (int)(2 * q.second);",
        lambda t: t + 5,
    ),
    "tuples": (
        "",
        "auto p = thrust::make_tuple(t, 2, 3); out[t] = thrust::get<0>(p) * thrust::get<2>(p);",
        lambda t: 3 * t,
    ),
    "outside": (
        OUTSIDE,
        "Foo f(3); Box<int> b = {{t, 5}}; out[t] = f.twice(t) + b.sum();",
        lambda t: 2 * t + 3 + t + 5,
    ),
    "derived": (DERIVED, "Last<int> r; r.data = out; r.step = 2; out[t] = third(r) + t;", lambda t: t),
    "references": (
        REFERENCES,
        "Array<int> v; for (int i = 0; i < 4; ++i) v[i] = t + i; v[1] *= 2; out[t] = v[0] + v[1] + v[3];",
        lambda t: 4 * t + 5,
    ),
    "templates": (
        TEMPLATES,
        "View<int, Traits> v; v.p = out; out[t] = t; out[t] = v.p[t] + COUNT;",
        lambda t: t + 3,
    ),
    "specialised": (
        TEMPLATES,
        "out[t] = Same<float, int>::value * 10 + Same<int, int>::value;",
        lambda t: t * 0 + 57,
    ),
    "complex": (
        "",
        "cuFloatComplex a = make_cuFloatComplex(t, 2); out[t] = cuCmulf(a, cuConjf(a)).x;",
        lambda t: t * t + 4,
    ),
}


@pytest.mark.parametrize(("declared", "body", "expected"), CASES.values(), ids=CASES)
def test_a_kernel_computes_what_its_types_say(declared, body, expected):
    function = built(f"{declared}\n__global__ void k(int* out) {{ const int t = threadIdx.x; {body} }}")
    assert run(function, np.zeros(32, np.int32))[0].tolist() == expected(np.arange(32)).tolist()


@pytest.mark.parametrize(("real", "expected"), [("float", 2 * 12 + 3), ("double", 2 * 24 + 3)])
def test_a_choice_of_types_may_be_one_of_vectors_and_structs(real, expected):
    made = built(f"""
        #include <type_traits>
        using Real = {real};
        struct Point {{ int a, b, c; }};
        using Real3 = std::conditional_t<std::is_same_v<Real, float>, float3, double3>;
        template <bool wide> using Held = std::conditional_t<wide, Real3, Point>;
        __global__ void k(int* out) {{
          Held<true> p = Real3{{1, 1, 1}};
          Held<false> q{{1, 1, 1}};
          out[threadIdx.x] = 2 * sizeof(p) + q.a + q.b + q.c; }}
    """)
    assert run(made, np.zeros(32, np.int32))[0].tolist() == [expected] * 32
