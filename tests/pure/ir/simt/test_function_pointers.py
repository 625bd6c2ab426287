"""Pointers to functions: what each may name is known, and which of several it is an index says."""

import pytest

from porter.ir.simt.builder.errors import NotExpressibleError
from tests.pure.ir.simt.test_builder import built, one

FUNCTIONS = """
typedef int (*Of)(int);
template <typename T> using Combine = T (*)(T, T);
__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
template <typename T> __device__ T plus(T a, T b) { return a + b; }
template <typename T> __device__ T apply(T a, T b, Combine<T> f) { return f(a, b); }
__device__ const Of table[] = {twice, square, twice};
__device__ Of alone = square;
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Of f = twice; out[t] = f(t);", lambda t: 2 * t),
        ("Of f = &square; out[t] = (*f)(t);", lambda t: t * t),
        ("int (*f)(int){twice}; out[t] = f(t);", lambda t: 2 * t),
        ("Of f = t % 3 ? twice : square; out[t] = f(t);", lambda t: 2 * t if t % 3 else t * t),
        ("Of f = t < 4 ? square : table[t % 3]; out[t] = f(t);",
         lambda t: t * t if t < 4 or t % 3 == 1 else 2 * t),
        ("out[t] = table[t % 3](t);", lambda t: t * t if t % 3 == 1 else 2 * t),
        ("out[t] = table[1](t) + alone(t);", lambda t: 2 * t * t),
        ("Of own[2] = {square, twice}; out[t] = own[t & 1](t);", lambda t: 2 * t if t % 2 else t * t),
        ("Combine<int> f = plus<int>; out[t] = apply(t, 1, f);", lambda t: t + 1),
        ("nvstd::function<int(int)> f = [=](int x) { return x + t; }; out[t] = f(3);", lambda t: t + 3),
        ("std::function<int(int)> f = twice; out[t] = f(t);", lambda t: 2 * t),
    ],
)  # fmt: skip
def test_a_call_through_a_pointer(body, expected):
    assert one(body, before=FUNCTIONS) == [expected(t) for t in range(32)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("Of f = twice; if (t > 3) f = square; out[t] = f(t);", "'f', a pointer to a function, is assigned to after"),
        ("Of f = (Of)out[0]; out[t] = f(t);", "which function this is cannot be told"),
    ],
)
def test_a_pointer_that_may_name_anything_is_told(body, reason):
    with pytest.raises(NotExpressibleError, match=reason):
        one(body, before=FUNCTIONS)


def test_a_function_that_the_launch_gives_is_told():
    with pytest.raises(NotExpressibleError, match="'f' points to a function, which only a run knows"):
        built(f"{FUNCTIONS} __global__ void k(int* y, Of f) {{ y[threadIdx.x] = f(3); }}")


def test_a_variable_that_is_set_elsewhere_is_no_constant():
    text = f"{FUNCTIONS} void set(Of f) {{ cudaMemcpyToSymbol(alone, &f, sizeof(f)); }}"
    with pytest.raises(NotExpressibleError):
        built(f"{text} __global__ void k(int* y) {{ y[threadIdx.x] = alone(3); }}")


def test_the_side_of_a_call_that_is_not_taken_does_nothing():
    text = "__device__ int marks(int* p) { p[0] = 7; return 1; } __device__ int leaves(int* p) { return 2; }"
    body = "int (*f)(int*) = t < 2 ? marks : leaves; int own[1] = {0}; out[t] = 10 * f(own) + own[0];"
    assert one(body, before=text) == [17 if t < 2 else 20 for t in range(32)]
