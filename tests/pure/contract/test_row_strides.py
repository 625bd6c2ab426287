"""Parameters called `stride`: distances between rows are sizes, steps of windows are small numbers."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.source.parse import parse
from porter.source_text import Source


def value_of(name, text):
    (contract,) = draft(parse(Source(Path("op.cu"), text)))
    return next(a.value for a in contract.arguments if a.name == name)


def copied(statements):
    return f"""
        __global__ void copy(float* y, const float* x, long stride, int n) {{
            for (int c = threadIdx.x; c < n; c += blockDim.x) {{ {statements} }}
        }}
        void run(float* y, const float* x, int rows, long stride, int n) {{ copy<<<rows, 64>>>(y, x, stride, n); }}"""


@pytest.mark.parametrize(
    "statements",
    [
        "y[blockIdx.x * stride + c] = x[blockIdx.x * n + c];",
        "const long begin = (long)blockIdx.x * stride; y[begin + c] = x[c];",
        "float* row = y + (blockIdx.y * gridDim.x + blockIdx.x) * stride; row[c] = x[c];",
        "const float* row = x; row += blockIdx.x * stride; y[blockIdx.x * n + c] = row[c];",
    ],
)
def test_the_distance_between_rows_is_a_size(statements):
    assert value_of("stride", copied(statements)) == "stride"


@pytest.mark.parametrize(
    "statements",
    [
        "y[c] = x[(blockIdx.x * stride + 1) * n + c * stride];",
        "int row = blockIdx.x * stride - 1; int column = c * stride; y[c] = x[row * n + column];",
        "for (int i = c; i < n; i += stride) y[i * stride] = x[i];",
        "y[c] = x[c + stride];",
    ],
)
def test_the_step_of_a_window_or_loop_is_a_small_number(statements):
    assert value_of("stride", copied(statements)) == "2"


def test_the_distance_may_be_a_field_and_conditions_name_fields():
    (contract,) = draft(parse(Source(Path("op.cu"), """
        #include <stdexcept>
        struct View { float* data; int rows, columns; long stride; };
        __global__ void copy(View y, View x) {
            for (int c = threadIdx.x; c < x.columns; c += blockDim.x)
                y.data[blockIdx.x * y.stride + c] = x.data[blockIdx.x * x.stride + c];
        }
        void run(const View& y, const View& x) {
            if (y.rows != x.rows || y.columns < x.columns) throw std::invalid_argument("shapes");
            copy<<<x.rows, 64>>>(y, x);
        }""")))  # fmt: skip
    values = {a.name: getattr(a, "value", "") for a in contract.arguments}
    assert (values["x.stride"], values["y.stride"]) == ("x_stride", "y_stride")
    assert contract.conditions == ("y_rows == x_rows", "y_columns >= x_columns")


@pytest.mark.parametrize(
    "filled", ["Rows r{y, x, n, stride};", "Rows r; r.y = y; r.x = x; r.n = n; r.stride = stride;"]
)
def test_the_distance_may_be_handed_on_in_a_struct(filled):
    kernel = """
        struct Rows { float* y; const float* x; int n; long stride; };
        __global__ void copy(Rows r) {
            for (int c = threadIdx.x; c < r.n; c += blockDim.x) r.y[blockIdx.x * r.stride + c] = r.x[c];
        }"""
    run = f"void run(float* y, const float* x, int rows, int n, long stride) {{ {filled} copy<<<rows, 64>>>(r); }}"
    assert value_of("stride", kernel + run) == "stride"


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return data[r * stride + c];", "v_stride"),
        ("return (data + this->stride * r)[c];", "v_stride"),
        ("return data[(r * stride + c) * columns];", "2"),
        ("return data[r / stride + c];", "2"),
    ],
)
def test_the_distance_may_be_multiplied_by_a_method(body, value):
    text = f"""
        struct View {{ float* data; int columns; int stride;
                       __device__ float& at(int r, int c) const {{ {body} }} }};
        __global__ void twice(View v) {{
            for (int c = threadIdx.x; c < v.columns; c += blockDim.x) v.at(blockIdx.x, c) *= 2;
        }}
        void run(View v, int rows) {{ twice<<<rows, 64>>>(v); }}"""
    assert value_of("v.stride", text) == value
