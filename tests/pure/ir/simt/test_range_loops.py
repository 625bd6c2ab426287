"""Loops over ranges, and structs that are followed and moved on like pointers, built and executed."""

import numpy as np
import pytest

from porter.ir.simt.builder.errors import NotExpressibleError
from tests.pure.ir.simt.test_builder import built, one, run

STRIDED = """
struct Strided {
  struct iterator {
    int at, step;
    __device__ int operator*() const { return at; }
    __device__ iterator& operator++() { at += step; return *this; }
    __device__ bool operator!=(const iterator& other) const { return at < other.at; }
  };
  int first, last, step;
  __device__ iterator begin() const { iterator i; i.at = first; i.step = step; return i; }
  __device__ iterator end() const { iterator i; i.at = last; i.step = step; return i; }
};
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int a[3] = {4, 5, t}; for (int v : a) out[t] = out[t] * 10 + v;", lambda t: 450 + t),
        ("int a[3] = {4, 5, t}; for (auto& v : a) v *= 2; out[t] = a[0] + a[2];", lambda t: 8 + 2 * t),
        ("int a[3] = {4, t, 6}; for (int v : a) { if (v > 5) break; out[t] += v; }", lambda t: 4 + t * (t <= 5)),
        ("int a[2][2] = {{1, 2}, {3, t}}; for (auto& r : a) for (int v : r) out[t] += v;", lambda t: 6 + t),
        ("for (int i : Strided{t, 64, 8}) { if (i % 16 > 7) continue; out[t] += i; }",
         lambda t: sum(i for i in range(t, 64, 8) if i % 16 <= 7)),
        ("Strided s{t, 40, 7}; for (auto i : s) for (auto j : Strided{0, i, 9}) out[t] += j;",
         lambda t: sum(j for i in range(t, 40, 7) for j in range(0, i, 9))),
    ],
)  # fmt: skip
def test_a_loop_over_a_range(body, expected):
    assert one(body, before=STRIDED) == [expected(t) for t in range(32)]


def test_a_range_without_iterators_is_told():
    with pytest.raises(NotExpressibleError, match=r"a loop over what is no array and has no begin\(\) and end\(\)"):
        one("int3 a = make_int3(1, 2, 3); for (int v : a) out[t] += v;")


FOLLOWED = """
struct Row {
  int* p;
  __device__ int& operator*() const { return *p; }
  __device__ int* operator->() const { return p; }
  __device__ Row operator++(int) { Row before = *this; p += 1; return before; }
  __device__ Row& operator--() { p -= 1; return *this; }
};
struct Pair { int a, b; };
struct Held { Pair* p; __device__ Pair* operator->() const { return p; } };
"""


def test_structs_are_followed_like_pointers():
    made = built(f"""{FOLLOWED} __global__ void k(int* x) {{
        Row row{{x}};
        *row = 7;
        *row++ += 1;
        *row = 9;
        --row;
        x[2] = *row;
        Held held{{(Pair*)x + 2}};
        held->b = 5;
    }}""")
    assert run(made, np.zeros(8, np.int32), block=1)[0].tolist() == [8, 9, 8, 0, 0, 5, 0, 0]


@pytest.mark.parametrize("cast", ["reinterpret_cast<int (*)[3]>(bytes)", "(int (*)[3])bytes"])
def test_memory_is_seen_as_rows(cast):
    body = f"unsigned char bytes[24]; int (*rows)[3] = {cast}; rows[1][2] = t; rows[0][1] = 4; out[t] = rows[1][2] + 4;"
    assert one(body) == [t + 4 for t in range(32)]


def test_a_long_double_is_a_double():
    assert one("long double half = 0.5L; out[t] = half * t;", result=np.float64) == [t / 2 for t in range(32)]
