"""Pointers to a struct of the caller: a launcher that only follows them takes the fields of the struct."""

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import translated

STRUCTS = """
struct Array { Array(size_t n); float* ptr; size_t size; size_t half() const { return size / 2; } };
static void grow(Array* a) { a->size += 1; }
struct Tensor { size_t rank; size_t shape[2]; float* data; };
"""


def test_a_pointer_that_is_only_followed_is_the_fields():
    found = translated(f"""{STRUCTS} void f(const Array& x, Array* y) {{
        add<<<(y->size + 63) / 64, 64>>>(y->ptr, x.ptr, y->half()); }}""")
    assert "def f(x_ptr, x_size, y_ptr, y_size):" in found
    assert "add[(triton.cdiv(y_size, 64),)](y_ptr, x_ptr, y_size // 2," in found


def test_an_array_among_the_fields_is_one_parameter_for_each_element():
    found = translated(f"{STRUCTS} void f(Tensor* y) {{ add<<<y->shape[1], 64>>>(y->data, y->data, y->shape[0]); }}")
    assert "def f(y_rank, y_shape_0, y_shape_1, y_data):" in found
    assert "add[(y_shape_1,)](y_data, y_data, y_shape_0," in found


def test_a_pointer_that_is_handed_to_a_function_that_only_follows_it_is_the_fields():
    found = translated(f"""{STRUCTS} typedef Array* Array_t;
        static size_t blocks(const Array* const a) {{ size_t n = (*a).size + 63; return n / 64; }}
        void f(Array_t y) {{ add<<<blocks(y), 64>>>(y->ptr, y->ptr, y->size); }}""")
    assert "def blocks(a_ptr, a_size):" in found
    assert "add[(blocks(y_ptr, y_size),)](y_ptr, y_ptr, y_size," in found


@pytest.mark.parametrize(
    "body",
    [
        "y->size = 3; add<<<1, 64>>>(y->ptr, y->ptr, y->size);",
        "grow(y); add<<<1, 64>>>(y->ptr, y->ptr, y->size);",
        "add<<<1, 64>>>(y[1].ptr, y->ptr, y->size);",
        "Array* other = y + 1; add<<<1, 64>>>(other->ptr, y->ptr, y->size);",
    ],
)
def test_a_pointer_that_is_more_than_followed_is_refused(body):
    with pytest.raises(Refusal, match=r"the member '(?:size|ptr)' is not known|no dtype for 'Array'"):
        translated(f"{STRUCTS} void f(Array* y) {{ {body} }}")


WHOLE = """
struct Step { int nx; float dt; };
__global__ void whole(float* y, Step s) { if (threadIdx.x < s.nx) y[threadIdx.x] *= s.dt; }
static int blocks(Step s) { return s.nx / 64; }
"""


@pytest.mark.parametrize(
    ("body", "launch"),
    [
        ("whole<<<s->nx, 64>>>(y, *s);", "whole[(s_nx,)](y, s_nx, s_dt"),
        ("whole<<<blocks(*s), 64>>>(y, *s);", "whole[(blocks(s_nx, s_dt),)](y, s_nx, s_dt"),
        ("Step t = *s; whole<<<t.nx, 64>>>(y, t);", "whole[(s_nx,)](y, s_nx, s_dt"),
    ],
)
def test_a_copy_of_what_it_points_to_is_handed_on_by_its_fields(body, launch):
    found = translated(f"{WHOLE} void f(float* y, const Step* s) {{ {body} }}")
    assert "def f(y, s_nx, s_dt):" in found
    assert launch in found


def test_a_pointer_that_only_a_callee_follows_has_no_fields_to_hand_on():
    with pytest.raises(Refusal, match="'halved' needs the fields of what 'a' points to"):
        translated("""struct Pair { float a, b; };
            static Pair halved(const Pair* a) { Pair r; r.a = a->a / 2; r.b = a->b / 2; return r; }
            void f(float* y, Pair* x) { *x = halved(x); add<<<1, 64>>>(y, y, 2); }""")


def test_a_tensor_behind_a_pointer_is_handed_on_as_one():
    found = translated("""static int rows(const torch::Tensor* x) { int n = x->size(0); return n / 2; }
        void f(const torch::Tensor* x) { add<<<rows(x), 64>>>(x->data_ptr<float>(), x->data_ptr<float>(), 2); }""")
    assert "add[(rows(x),)]" in found
