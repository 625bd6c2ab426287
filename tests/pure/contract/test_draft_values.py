"""What stands in buffers of drafts: indices, sizes, counters, handles and objects."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Role, ScalarArg, Values
from porter.contract.model.dtype import DType
from porter.contract.model.questions import unknown_bounds, unknown_extents
from porter.source.parse import parse
from porter.source_text import Source
from tests.pure.contract.draft_sources import BARE, drafted


@pytest.mark.parametrize(
    "copied", ["", "std::vector<size_t> host(ndim); cudaMemcpy(host.data(), shape, ndim * 8, cudaMemcpyDeviceToHost);"]
)
def test_an_array_of_sizes_that_host_code_reads_holds_symbols(copied):
    host = "host" if copied else "shape"
    (contract,) = drafted(
        "__global__ void k(const float* x, float* y, size_t n) { if (threadIdx.x < n) y[threadIdx.x] = x[0]; }"
        "void solve(const float* x, int dim, float* y, size_t* shape, size_t ndim) {"
        f"{copied} size_t n = {host}[dim];"
        f"for (int i = 0; i < dim; ++i) n *= {host}[i];"
        f"for (int i = dim + 1; i < (int)ndim; ++i) n *= {host}[i];"
        "k<<<1, n>>>(x, y, n); }"
    )
    _, dim, _, shape, ndim = contract.arguments
    assert contract.symbols == ("shape_0", "shape_1", "shape_2")
    assert (shape.shape, shape.elements, shape.role) == (("3",), contract.symbols, Role.IN)
    assert (dim.value, ndim.value) == ("1", "3")


def test_what_no_number_stands_for_becomes_a_question():
    (contract,) = drafted(
        "class P { public: int a; }; __global__ void k(float* y, P p, int n) { if (threadIdx.x < n) y[0] = p.a; }"
    )
    assert "p" in [q.about for q in contract.questions]
    assert all(q.flag for q in contract.questions)


def test_an_array_of_streams_holds_null_handles_and_is_no_buffer():
    (contract,) = drafted("""
__global__ void k(float* x) { x[threadIdx.x] = 1; }
void f(float* x, cudaStream_t streams[2]) { k<<<1, 32, 0, streams[0]>>>(x); k<<<1, 32, 0, streams[1]>>>(x); }
""")
    streams = contract.tensors[1]
    assert (streams.role, streams.dtype, streams.values) == (Role.IN, DType.UINT64, Values.ZEROS)
    assert [t.name for t in unknown_extents(contract)] == ["x"]


CLASSES = """
#include <torch/extension.h>
#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
template <typename T>
__global__ void classes(const int count, const T* x, const T* box, T* out, const int C, const int W) {
    KERNEL_LOOP(i, count) {
        int c = (i / W) % C;
        int n = i / W / C;
        int batch = box[n * 5];
        out[i] = x[batch * C + c];
    }
}
void run(torch::Tensor x, torch::Tensor box, torch::Tensor out, int W) {
    int count = out.numel();
    int C = x.size(1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "classes", [&] {
        classes<scalar_t><<<64, 256>>>(
            count, x.data_ptr<scalar_t>(), box.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), C, W);
    });
}
"""


def test_a_count_has_the_axes_its_kernel_takes_it_apart_by():
    (contract,) = drafted(CLASSES)
    assert next(t for t in contract.tensors if t.name == "out").shape == ("count", "C", "W")


GATHER = """
template <typename T> __global__ void gathered(
    torch::PackedTensorAccessor32<T, 3> y, const torch::PackedTensorAccessor32<T, 2> x, const PLACES place) {
  int at = place[blockIdx.x][threadIdx.x][0];
  for (int c = 0; c < x.size(0); ++c) y[blockIdx.x][c][threadIdx.x] = at < 0 ? 0 : x[c][at];
}
torch::Tensor gather(torch::Tensor x, torch::Tensor place) {
  auto y = torch::zeros({place.size(0), x.size(0), place.size(1)}, x.options());
  gathered<float><<<place.size(0), place.size(1)>>>(y.packed_accessor32<float, 3>(), x.packed_accessor32<float, 2>(),
      place.packed_accessor64<int64_t, 3, torch::RestrictPtrTraits>());
  return y;
}
"""
PLACES = "torch::PackedTensorAccessor64<int64_t, 3, torch::RestrictPtrTraits>"


@pytest.mark.parametrize("source", [GATHER.replace("PLACES", PLACES), f"typedef {PLACES} PLACES;{GATHER}"])
def test_elements_of_an_accessor_select_behind_its_first_axis(source):
    (contract,) = drafted(source)
    x, place = contract.tensors
    assert (x.values, place.values, place.dtype) == (Values.NORMAL, Values.INDEX, DType.INT64)


SHARED_PLACES = """
__global__ void pooled(float* y, const float* x, const int* place, int rows, int n) {
  __shared__ int kept[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) kept[threadIdx.x] = place[i];
  __syncthreads();
  for (int j = threadIdx.y; j < 64 && blockIdx.x * 64 + j < n; j += 4) {
    int row = kept[j];
    if (row < 0 || row >= rows) continue;
    atomicAdd(&y[row], x[blockIdx.x * 64 + j]);
  }
}
"""


def test_what_a_block_shares_before_it_follows_it_selects():
    (contract,) = drafted(SHARED_PLACES)
    assert {t.name: t.values for t in contract.tensors} == {
        "y": Values.NORMAL, "x": Values.NORMAL, "place": Values.INDEX,
    }  # fmt: skip


def test_a_float_that_an_integer_takes_as_it_is_selects():
    (contract,) = drafted(CLASSES)
    x, box, _ = contract.tensors
    assert (box.dtype, box.values, x.values) == (DType.FLOAT32, Values.INDEX, Values.NORMAL)
    assert unknown_bounds(contract) == (box,)


def test_a_float_that_is_rounded_first_does_not_select():
    (contract,) = drafted(CLASSES.replace("int batch = box[n * 5]", "int batch = floorf(box[n * 5] * 0.5f)"))
    assert unknown_bounds(contract) == ()


@pytest.mark.parametrize(
    ("use", "values"),
    [
        ("int at = atomicAdd(count, 1); out[at] = 1;", Values.ZEROS),
        ("if (atomicInc(&count[0], gridDim.x - 1) == gridDim.x - 1) out[0] = 1;", Values.ZEROS),
        ("while (atomicCAS(&count[threadIdx.x], 0, 1) != 0) {} out[0] = 1;", Values.ZEROS),
        ("atomicAdd(&count[threadIdx.x], 1); out[0] = 1;", Values.NORMAL),
        ("if (threadIdx.x) atomicAdd(&count[threadIdx.x], 1); out[0] = 1;", Values.NORMAL),
    ],
)
def test_counters_and_locks_begin_at_zero(use, values):
    (contract,) = draft(parse(Source(Path("k.cu"), f"__global__ void k(int* count, int* out) {{ {use} }}")))
    assert contract.tensors[0].values is values


RECORDER = "class Recorder { public: void note(int label); int count; };\n"


def test_an_object_that_host_code_asks_for_is_null():
    (contract,) = drafted(f"""{RECORDER}{BARE}
    void launch(const float* x, float* y, int n, Recorder* recorder) {{
        scale<<<(n + 255) / 256, 256>>>(x, y, 2.0f, n);
        if (recorder) recorder->note(n);
    }}""")
    assert contract.tensors[-1].values is Values.NULL
    assert all(q.about != "recorder" for q in contract.questions)


def test_a_struct_of_which_a_kernel_reads_elements_is_not_null_though_it_may_be():
    (contract,) = drafted("""
    struct Shift { float by; };
    __global__ void move(float* y, const Shift* shift) { y[threadIdx.x] += shift ? shift[0].by : 1.0f; }
    void launch(float* y, const Shift* shift) { move<<<1, 64>>>(y, shift); }""")
    assert contract.tensors[-1].values is not Values.NULL
    assert any(q.about == "shift" for q in contract.questions)


def test_a_number_of_blocks_numbers_no_bit():
    kernel = "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[blockIdx.x * n + threadIdx.x] *= 2; }"
    (run,) = drafted(kernel + "void run(float* x, int rows, int n) { k<<<rows, 64>>>(x, n); }")
    assert run.symbols == ("rows", "n")


def test_what_a_device_shifts_by_is_no_size_whatever_else_is_done_with_it():
    (contract,) = drafted("""
    __global__ void cut(float* x, int bits, long n) {
        int mask = ~(0xff >> bits), left = (1 << (23 - bits)) + bits;
        if (threadIdx.x < n) x[threadIdx.x] *= mask + left;
    }
    void run(float* x, int bits, long n) { std::cout << n; cut<<<1, 64>>>(x, bits, n); }""")
    assert contract.symbols == ("n",)


def test_an_integer_that_numbers_a_bit_or_a_device_is_no_size():
    kernel = "__global__ void flip(float* x, int bit, long n) { if (threadIdx.x < n) x[threadIdx.x ^ 1 << bit] *= -1; }"
    host = "void run(float* x, int bit, long n, int device) { cudaSetDevice(device); flip<<<1, 64>>>(x, bit, n); }"
    (contract,) = drafted(f"{kernel}\n{host}")
    assert contract.symbols == ("n",)
    assert {a.name: a.value for a in contract.arguments if isinstance(a, ScalarArg)} == {
        "bit": "2",
        "n": "n",
        "device": "0",
    }


_PICKED = """
#include <torch/extension.h>
template <typename T, typename place_t>
__global__ void picked(const T* x, const place_t* at, T* y, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    place_t from = at[i];
    ASSERTED
    y[i] = x[from];
}
at::Tensor pick(at::Tensor x, at::Tensor at, int rows) {
    auto y = at::empty_like(at, x.options());
    const int n = at.numel();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "pick", ([&] {
        picked<EXPLICIT><<<(n + 127) / 128, 128>>>(
            x.data_ptr<scalar_t>(), at.data_ptr<int64_t>(), y.data_ptr<scalar_t>(), n, rows);
    }));
    return y;
}
"""


@pytest.mark.parametrize("explicit", ["scalar_t, int64_t", "scalar_t"])
def test_integers_of_a_type_that_a_template_leaves_open_select(explicit):
    (contract,) = drafted(_PICKED.replace("EXPLICIT", explicit).replace("ASSERTED", ""))
    assert {t.name: t.values for t in contract.tensors} == {"x": Values.NORMAL, "at": Values.INDEX}
    assert [t.name for t in unknown_bounds(contract)] == ["at"]


def test_an_assertion_says_below_what_an_index_lies():
    (contract,) = drafted(
        _PICKED.replace("ASSERTED", "assert(from >= 0 && from < rows);").replace("EXPLICIT", "scalar_t")
    )
    assert [t.bound for t in contract.tensors] == ["", "rows"]
    (floats,) = drafted(
        _PICKED.replace("int64_t>", "scalar_t>").replace("EXPLICIT", "scalar_t").replace("ASSERTED", "")
    )
    assert [t.values for t in floats.tensors] == [Values.NORMAL, Values.NORMAL]


_COUNTED = """
#define BINS 64
__global__ void counted(const TYPE* letters, unsigned* total, int n, int many) {
    SHARED
    int t = threadIdx.x;
    if (t < many) bins[t] = 0;
    __syncthreads();
    if (t < n) { const int letter = letters[t]; COUNT }
    __syncthreads();
    if (t < many) atomicAdd(total + t, bins[t]);
}
"""


def _counted(shared, count, type_="int"):
    text = _COUNTED.replace("SHARED", shared).replace("COUNT", count).replace("TYPE", type_)
    (contract,) = drafted(text)
    return contract.tensors[0], unknown_bounds(contract)


@pytest.mark.parametrize("count", ["atomicAdd(&bins[letter], 1u);", "atomicAdd(bins + letters[t], 1u);"])
def test_what_indexes_an_array_of_the_block_selects(count):
    letters, asked = _counted("extern __shared__ unsigned bins[];", count)
    assert (letters.values, asked) == (Values.INDEX, (letters,))
    letters, asked = _counted("__shared__ unsigned bins[BINS];", count)
    assert (letters.values, letters.bound, asked) == (Values.INDEX, "64", ())


@pytest.mark.parametrize(
    ("count", "type_"),
    [
        ("atomicAdd(&bins[letter & 63], 1u);", "int"),
        ("atomicAdd(&bins[t], (unsigned)letter);", "int"),
        ("atomicAdd(&bins[letter], 1u);", "unsigned char"),
    ],
)
def test_what_is_made_an_index_or_counts_all_bytes_may_be_any_number(count, type_):
    letters, _ = _counted("__shared__ unsigned bins[BINS];", count, type_)
    assert letters.values is Values.NORMAL


@pytest.mark.parametrize(
    ("asked", "left", "bound"),
    [
        ("at < 0 || at >= rows", "return;", "rows"),
        ("at < 0 || at >= rows", "{ return; }", "rows"),
        ("at > 7 && at < rows", "out[i] = 0;", "rows"),
        ("at >= half || at < rows", "return;", "rows"),
        ("at >= rows", "out[i] = 0;", "1"),
    ],
)
def test_what_code_leaves_when_an_index_reaches_it_is_its_bound(asked, left, bound):
    (contract,) = drafted(f"""
__global__ void pick(const float* x, const int* box, float* out, int n, int rows, int half) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int at = box[i];
    if ({asked}) {left}
    out[i] = x[at * half];
}}
void run(const float* x, const int* box, float* out, int n, int rows, int half) {{
    pick<<<(n + 63) / 64, 64>>>(x, box, out, n, rows, half);
}}""")
    (box,) = (tensor for tensor in contract.tensors if tensor.name == "box")
    assert (box.values, box.bound) == (Values.INDEX, bound)
