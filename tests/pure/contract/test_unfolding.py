"""The fields of structs are variables of their own: what is done with them is known wherever structs are handed to."""

import pytest

from porter.contract.model.contract import Role, Values
from tests.pure.contract.draft_sources import drafted

KERNEL = """
struct Rows { const int* starts; const int* columns; float* values; int count; };
struct Out { float* y; float scale; };
__device__ float total(const Rows& m, const float* x, int row) {
    float sum = 0;
    for (int k = m.starts[row]; k < m.starts[row + 1]; ++k) sum += m.values[k] * x[m.columns[k]];
    return sum;
}
__global__ void multiply(Rows m, const float* x, Out out) {
    const Rows rows = m;
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows.count) out.y[row] = out.scale * total(rows, x, row);
}
"""
LAUNCH = "multiply<<<(m.count + 127) / 128, 128>>>(m, x, out);"


@pytest.mark.parametrize(
    "filled", ["Out out; out.y = y; out.scale = scale;", "Out out = {y, scale};", "Out out{y, scale};"]
)
def test_what_a_kernel_does_with_fields_is_known_of_what_fills_them(filled):
    (contract,) = drafted(f"{KERNEL} void run(Rows m, const float* x, float* y, float scale) {{ {filled} {LAUNCH} }}")
    by_name = {t.name: t for t in contract.tensors}
    assert (by_name["m.starts"].values, by_name["m.columns"].values) == (Values.SORTED, Values.INDEX)
    assert by_name["m.values"].role is Role.IN
    assert by_name["y"].role is Role.OUT


def test_fields_of_two_structs_are_told_apart():
    (contract,) = drafted("""
    struct Pair { float* a; float* b; };
    __global__ void swap(Pair from, Pair to, int n) { if (threadIdx.x < n) to.a[threadIdx.x] = from.b[threadIdx.x]; }
    void run(Pair from, Pair to, int n) { swap<<<1, 64>>>(from, to, n); }""")
    assert {t.name: t.role for t in contract.tensors} == {
        "from.a": Role.INOUT,
        "from.b": Role.IN,
        "to.a": Role.OUT,
        "to.b": Role.INOUT,
    }


def test_enumerations_within_namespaces_are_numbers_of_structs():
    (contract,) = drafted("""
    namespace image { enum class Mode : int { Plain, Half }; struct Norm { float mean[3]; Mode mode = Mode::Plain; }; }
    __global__ void shift(float* y, int n, image::Norm norm) {
        if (threadIdx.x < n) y[threadIdx.x] -= norm.mean[0] * (norm.mode == image::Mode::Half ? 0.5f : 1.0f);
    }
    void run(float* y, int n, const image::Norm& norm) { shift<<<1, 64>>>(y, n, norm); }""")
    mode = next(a for a in contract.arguments if a.name == "norm.mode")
    assert mode.choices == ("0", "1")


@pytest.mark.parametrize("loaded", ["int4 four = *(int4*)(a + i);", "int4 four; four = *(int4*)(a + i);"])
def test_the_fields_of_what_is_loaded_at_once_are_elements_of_the_tensor(loaded):
    (contract,) = drafted(f"""
    __global__ void count(const int* a, int* bins, int n) {{
        int i = 4 * threadIdx.x;
        if (i >= n) return;
        {loaded}
        atomicAdd(bins + four.x, 1);
        atomicAdd(bins + four.w, 1);
    }}
    void run(const int* a, int* bins, int n) {{ count<<<1, 64>>>(a, bins, n); }}""")
    assert {t.name: t.values for t in contract.tensors}["a"] is Values.INDEX
