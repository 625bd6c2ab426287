"""Drafts say what the source says."""

from pathlib import Path

import pytest

from porter.contract.contract import EntryKind, Role, ScalarArg, Values
from porter.contract.draft import draft, draft_each
from porter.contract.dtype import DType
from porter.contract.entries import launching
from porter.contract.questions import guessed_launch, unknown_bounds, unknown_extents, unknown_values
from porter.contract.toml import dumps, loads
from porter.contract.usage import Usage
from porter.errors import UsageError
from porter.source.parse import parse
from porter.source.text import Source


def drafted(text, **options):
    contracts = draft(parse(Source(Path("op.cu"), text)), **options)
    assert not contracts or loads(dumps(contracts), Path("op.toml")) == contracts
    return contracts


BARE = """
__global__ void scale(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
"""
TORCH = """
#include <torch/extension.h>
template <typename scalar_t>
__global__ void rows(const scalar_t* __restrict__ x, const scalar_t* __restrict__ w, scalar_t* out, int N) {
    extern __shared__ float partial[];
    for (int i = threadIdx.x; i < N; i += blockDim.x) out[blockIdx.x * N + i] = x[blockIdx.x * N + i] * w[i];
}
torch::Tensor weigh(torch::Tensor x, torch::Tensor w, double eps) {
    TORCH_CHECK(x.dim() == 2, "2-D");
    TORCH_CHECK(w.size(0) == x.size(1), "width");
    TORCH_CHECK(x.size(1) % 4 == 0);
    const auto B = x.size(0);
    const int N = x.size(1);
    auto out = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "weigh", ([&] {
        rows<scalar_t><<<B, 256, 256 * sizeof(float)>>>(
            x.data_ptr<scalar_t>(), w.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), N);
    }));
    return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("weigh", &weigh); }
"""
LAUNCHER = """
__global__ void gather(float* out, const int* ids, const float* table, int n, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * C) { int row = ids[i / C]; out[i] = table[row * C + i % C]; }
}
extern "C" void run_gather(
    float* out, const int* ids, const float* table, int n, int C, int block_size, cudaStream_t stream) {
    const int grid = (n * C + block_size - 1) / block_size;
    gather<<<grid, block_size, 0, stream>>>(out, ids, table, n, C);
}
"""


def test_a_bare_kernel_gets_a_launch_that_covers_its_guard():
    (contract,) = drafted(BARE)
    assert contract.entry.kind is EntryKind.KERNEL
    assert contract.entry.launch is not None
    assert contract.entry.launch.grid == ("cdiv(n, 256)", "1", "1")
    assert contract.symbols == ("n",)
    assert [t.role for t in contract.tensors] == [Role.IN, Role.OUT]
    assert [t.name for t in unknown_extents(contract)] == ["x", "y"]
    assert len(contract.workloads) == 4


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


@pytest.mark.parametrize("used", ["memory.get()[threadIdx.x] = n;", ""])
def test_a_bare_kernel_gets_dynamic_shared_memory_where_a_function_it_calls_has_some(used):
    memory = "struct Memory { __device__ float* get() { extern __shared__ float all[]; return all; } };\n"
    kernel = f"__global__ void k(float* y, int n) {{ Memory memory; {used} y[threadIdx.x] = n; }}"
    (contract,) = drafted(memory + kernel)
    assert contract.entry.launch is not None
    assert (int(contract.entry.launch.shared_bytes) > 0) == bool(used)


def test_a_guessed_launch_is_a_question():
    (guessed,) = drafted(BARE)
    assert guessed_launch(guessed) is not None
    launched, *_ = drafted(BARE + "int main() { scale<<<2, 256>>>(0, 0, 1.0f, 512); }", whole_program=False)
    assert guessed_launch(launched) is None


@pytest.mark.parametrize(
    ("body", "block"),
    [
        ("y[blockIdx.y * blockDim.y + threadIdx.y] = 1;", ("1", "16", "1")),
        ("y[threadIdx.x + 8 * threadIdx.y] = 1;", ("16", "16", "1")),
        ("y[0] = 1;", ("1", "1", "1")),
        ("y[place()] = 1;", ("256", "1", "1")),
    ],
)
def test_there_is_one_thread_along_an_axis_nobody_asks_for(body, block):
    place = "__device__ int place() { return threadIdx.x; }"
    (contract,) = drafted(f"{place}\n__global__ void k(float* y) {{ {body} }}")
    assert contract.entry.launch is not None
    assert contract.entry.launch.block == block


def test_torch_host_code_names_ranks_extents_and_conditions():
    (contract,) = drafted(TORCH)
    assert contract.entry.kind is EntryKind.TORCH
    x, w = contract.tensors
    assert x.shape == ("B", "N")
    assert w.shape == ("N",)
    assert "N % 4 == 0" in contract.conditions
    assert contract.questions == ()
    assert contract.arguments[2].value == "1e-5"
    assert {work.sizes["N"] % 4 for work in contract.workloads} == {0}


def test_what_a_callee_demands_of_tensors_is_known():
    inner = TORCH.replace("torch::Tensor weigh(torch::Tensor x, torch::Tensor w,", "Tensor inner(Tensor x, Tensor w,")
    outer = "Tensor weigh(Tensor a, Tensor b, double eps) { return inner(a, b, eps); } PYBIND"
    (contract,) = drafted(inner.replace("PYBIND", outer, 1))
    assert [t.shape for t in contract.tensors] == [("B", "N"), ("N",)]


@pytest.mark.parametrize("axis", ["-1", "x.dim() - 1", "x.ndimension() - 1"])
def test_the_last_axis_is_known_however_it_is_written(axis):
    (contract,) = drafted(TORCH.replace("const int N = x.size(1)", f"const int N = x.size({axis})"))
    assert contract.tensors[0].shape == ("B", "N")


def test_a_tensor_has_axes_around_the_one_that_its_caller_chooses():
    (contract,) = drafted(
        TORCH.replace("double eps", "int64_t dim")
        .replace('TORCH_CHECK(x.dim() == 2, "2-D");', "")
        .replace("x.size(1)", "x.size(dim)")
    )
    x, _ = contract.tensors
    (dim,) = [a for a in contract.arguments if isinstance(a, ScalarArg)]
    assert dim.value == "1"
    assert x.shape == ("B", "N", "x_size2")


def test_a_template_parameter_is_no_type_of_the_same_name_elsewhere():
    (contract,) = drafted("using scalar_t = at::BFloat16;" + TORCH.replace(".data_ptr<scalar_t>()", ".data_ptr()"))
    assert contract.tensors[0].dtype is DType.FLOAT32


def test_a_pointer_launcher_knows_blocks_streams_and_indices():
    (contract,) = drafted(LAUNCHER)
    assert contract.entry.kind is EntryKind.POINTER
    values = {a.name: getattr(a, "value", "") for a in contract.arguments}
    assert values["block_size"] == "256"
    assert values["stream"] == "0"
    out, ids, table = contract.tensors
    assert (out.role, ids.role, table.role) == (Role.OUT, Role.IN, Role.IN)
    assert ids.dtype is DType.INT32
    assert ids.values is Values.INDEX
    assert [t.name for t in unknown_bounds(contract)] == ["ids"]
    assert contract.symbols == ("n", "C")


def test_a_benchmark_that_takes_and_gives_nothing_is_looked_past():
    (contract,) = drafted(
        BARE
        + """
        void run(const float* x, float* y, int n) { scale<<<(n + 255) / 256, 256>>>(x, y, 2, n); }
        void benchmark() { float *x, *y; run(x, y, 100000000); }
        int main() { benchmark(); }
        """,
        whole_program=False,
    )
    assert contract.name == "run"


@pytest.mark.parametrize("head", ["void all(int argc, char** argv)", "int all(int argc, char *argv[])"])
def test_a_part_of_a_program_that_is_handed_its_words_is_looked_past(head):
    (contract,) = drafted(
        BARE
        + f"""
        {head} {{ float *x, *y; int n = atoi(argv[1]); scale<<<(n + 255) / 256, 256>>>(x, y, 2, n); }}
        int main(int argc, char** argv) {{ all(argc, argv); }}
        """,
        whole_program=False,
    )
    assert (contract.name, contract.entry.kind) == ("scale", EntryKind.KERNEL)


def test_main_makes_one_program():
    (contract,) = drafted(LAUNCHER + "\nint main() { run_gather(0, 0, 0, 1, 1, 256, 0); return 0; }")
    assert contract.entry.kind is EntryKind.PROGRAM
    assert contract.arguments == ()


def test_a_kernel_no_host_entry_reaches_gets_its_own_contract():
    names = {c.name: c.entry.kind for c in drafted(LAUNCHER + BARE)}
    assert names == {"run_gather": EntryKind.POINTER, "scale": EntryKind.KERNEL}


def test_kernels_can_be_chosen_and_must_exist():
    (contract,) = drafted(LAUNCHER + BARE, kernels=("scale",))
    assert contract.name == "scale"
    with pytest.raises(UsageError, match="no kernel 'nope'"):
        drafted(BARE, kernels=("nope",))


def test_a_chosen_kernel_of_an_extension_is_seen_through_the_function_bound_for_it():
    (contract,) = drafted(TORCH, kernels=("rows",))
    assert contract.name == "weigh"


def test_given_sizes_are_used():
    (contract,) = drafted(BARE, sizes={"n": 77})
    assert {w.sizes["n"] for w in contract.workloads} == {77}


@pytest.mark.parametrize(
    ("body", "block"),
    [
        ("__shared__ float t[16][17]; int r = blockIdx.y * 16 + threadIdx.y; int c = blockIdx.x * 16 + threadIdx.x;"
         " if (r < n && c < m) y[r * m + c] = x[c * n + r];", ("16", "16", "1")),
        ("__shared__ float t[128]; int c = blockIdx.x * blockDim.x + threadIdx.x; if (c < n) y[c] = x[c];",
         ("128", "1", "1")),
        ("int c = blockIdx.x * blockDim.x + threadIdx.x; if (c >= n) return; y[c] = x[c];", ("256", "1", "1")),
    ],
)  # fmt: skip
def test_blocks_follow_shared_arrays(body, block):
    (contract,) = drafted(f"__global__ void k(const float* x, float* y, int n, int m) {{ {body} }}")
    assert contract.entry.launch.block == block


def test_a_block_is_what_the_function_around_the_launch_says():
    text = """
    #define EDGE 128
    template <unsigned int size> __global__ void k(float* x) { __shared__ float t[32]; x[blockIdx.x * size] = t[0]; }
    int main() { float* x; dim3 Block(EDGE, 1); const int twice = 2 * EDGE; k<twice><<<4, Block>>>(x); }
    """
    (contract,) = drafted(text, whole_program=False)
    assert (contract.entry.launch.block, contract.entry.template) == (("128", "1", "1"), ("256",))


def test_a_kernel_that_nobody_launches_gets_the_block_of_its_variant():
    body = "(const float* in, float* out, int n) { __shared__ float t[32][32]; out[blockIdx.y * n + threadIdx.y] = 0; }"
    other = body.replace("const float* in", "const float* from")
    text = f"""
    __global__ void first{body} __global__ void second{body} __global__ void third{other}
    void run(const float* in, float* out, int n) {{ second<<<n, dim3(32, 8)>>>(in, out, n); }}"""
    blocks = {c.entry.name: c.entry.launch.block for c in drafted(text) if c.entry.launch}
    assert blocks == {"first": ("32", "8", "1"), "third": ("32", "32", "1")}


@pytest.mark.parametrize(
    ("place", "block"),
    [("threadIdx.x % warpSize", "32"), ("threadIdx.x & 31", "32"), ("threadIdx.x", "256"),
     ("threadIdx.x % 32 + threadIdx.x / 32", "256"), ("threadIdx.x % 64", "256")],
)  # fmt: skip
def test_threads_that_ask_for_their_lane_alone_are_a_warp(place, block):
    (contract,) = drafted(f"""
__global__ void top(const float* x, float* y, int n) {{
  __shared__ float most;
  int lane = {place};
  float v = -1e9f;
  for (int i = lane; i < n; i += 32) v = fmaxf(v, x[blockIdx.x * n + i]);
  for (int k = 16; k > 0; k /= 2) v = fmaxf(v, __shfl_down_sync(~0u, v, k));
  if (lane == 0) most = v;
  y[blockIdx.x] = most;
}}""")
    assert contract.entry.launch.block == (block, "1", "1")


def test_vectors_and_grids_of_rows_are_covered():
    text = """__global__ void k(const float4* x, float* y, int n) {
        int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); if (i >= n) return; y[i + blockIdx.y] = x[i / 4].x; }"""
    (contract,) = drafted(text)
    assert contract.entry.launch.grid == ("cdiv(n, 1024)", "rows_y", "1")
    assert contract.symbols == ("n", "rows_y")
    assert contract.tensors[0].dtype is DType.FLOAT32


def test_what_no_number_stands_for_becomes_a_question():
    (contract,) = drafted(
        "class P { public: int a; }; __global__ void k(float* y, P p, int n) { if (threadIdx.x < n) y[0] = p.a; }"
    )
    assert "p" in [q.about for q in contract.questions]
    assert all(q.flag for q in contract.questions)


@pytest.mark.parametrize("text", ["", "int f() { return 1; }", "__device__ float f(float x) { return x; }"])
def test_a_file_without_kernels_has_no_contract(text):
    assert drafted(text) == ()


@pytest.mark.parametrize(("mode", "dtype"), [("USE_BF16", DType.BFLOAT16), ("OTHER", DType.FLOAT32)])
def test_a_type_is_what_the_source_makes_its_header_say(mode, dtype):
    header = Source(
        Path("op.h"), "#ifdef USE_BF16\ntypedef __nv_bfloat16 floatX;\n#else\ntypedef float floatX;\n#endif\n"
    )
    kernel = "__global__ void k(floatX* x, int n) { if (threadIdx.x < n) x[0] = x[1]; }"
    text = f'#define {mode}\n#include "op.h"\n{kernel}'
    (contract,) = drafted(text, headers=(header,))
    assert contract.tensors[0].dtype is dtype


def test_a_launcher_may_reach_its_kernel_through_a_header():
    header = Source(
        Path("op.h"),
        "__global__ void scale(float* x, int n) { x[threadIdx.x] *= 2; }\n"
        "template <class T> void dispatch(T* x, int n) { scale<<<1, n>>>(x, n); }\n",
    )
    text = '#include "op.h"\nvoid run(float* x, int n) { dispatch<float>(x, n); }'
    assert [c.name for c in drafted(text, headers=(header,))] == ["run"]


def test_a_kernel_of_a_header_is_behind_the_main_that_launches_it():
    text = """
        __global__ void scale(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
        __global__ void unused(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 3; }
    """
    header = Source(Path("op.cuh"), text)
    main = '#include "op.cuh"\nint main() { float* x; cudaMalloc(&x, 128); scale<<<1, 32>>>(x, 32); }'
    assert [c.name for c in drafted(main, headers=(header,))] == ["main"]
    assert [c.name for c in drafted(main, headers=(header,), whole_program=False)] == ["scale"]


def test_template_arguments_of_a_launch_are_evaluated():
    (contract,) = drafted(
        """
        #define TOTAL 4*1024
        #define THREADS 128
        template <unsigned threads, int each> __global__ void sum(const float* in, float* out) {
            for (int i = 0; i < each; ++i) out[threadIdx.x] += in[i * threads + threadIdx.x];
        }
        int main() {
            float *in, *out;
            const int blocks = 8;
            const int a_block = TOTAL / blocks;
            const int each = a_block / THREADS;
            sum<THREADS, each><<<blocks, THREADS>>>(in, out);
        }
        """,
        whole_program=False,
    )
    assert contract.entry.template == ("128", "4")


def test_explicit_instantiations_name_the_template_arguments():
    text = (
        "enum class Kind { PLAIN };\n"
        "template <class T, Kind kind> __global__ void scale(T* x) { x[threadIdx.x] *= 2; }\n"
        "template <class T, Kind kind> void run(T* x, int n) { scale<T, kind><<<1, n>>>(x); }\n"
        "template void run<half, Kind::PLAIN>(half* x, int n);\n"
        "template void run<float, Kind::PLAIN>(float* x, int n);\n"
    )
    (contract,) = drafted(text)
    assert contract.entry.template == ("float", "Kind::PLAIN")


def test_the_cases_of_a_dispatch_decide_the_element_type():
    cases = "case at::ScalarType::Half: { using scalar_t = at::Half; __VA_ARGS__; break; }"
    text = (
        f"#define DISPATCH_HALF(TYPE, ...) switch (TYPE) {{ {cases} }}\n"
        "template <class T> __global__ void scale(T* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }\n"
        "void run(torch::Tensor x) { void* at = x.data_ptr();\n"
        "  DISPATCH_HALF(x.scalar_type(), scale<scalar_t><<<1, 64>>>((scalar_t*)at, x.numel())); }"
    )
    (contract,) = drafted(text)
    assert [t.dtype for t in contract.tensors] == [DType.FLOAT16]


def test_an_array_of_streams_holds_null_handles_and_is_no_buffer():
    (contract,) = drafted("""
__global__ void k(float* x) { x[threadIdx.x] = 1; }
void f(float* x, cudaStream_t streams[2]) { k<<<1, 32, 0, streams[0]>>>(x); k<<<1, 32, 0, streams[1]>>>(x); }
""")
    streams = contract.tensors[1]
    assert (streams.role, streams.dtype, streams.values) == (Role.IN, DType.UINT64, Values.ZEROS)
    assert [t.name for t in unknown_extents(contract)] == ["x"]


def test_a_binding_that_calls_its_overload_in_an_included_source_leads_to_the_launch():
    launcher = Source(
        Path("kernels.cu"),
        "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }\n"
        "void twice(float* x, int n) { k<<<1, 256>>>(x, n); }\n",
    )
    text = """
#include <torch/extension.h>
#include "kernels.cu"
void twice(torch::Tensor x) { twice(x.data_ptr<float>(), x.numel()); }
"""
    (contract,) = drafted(text, headers=(launcher,))
    assert (contract.name, contract.entry.kind) == ("twice", EntryKind.TORCH)


MEMBERS = """
template <typename F> __global__ void apply(F f, float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = f(1.0f); }
template <typename F, int N> struct Launch {
    void operator()(F f, float* x, int n) { apply<<<1, N>>>(f, x, n); }
};
template <typename F> void run(F f, float* x, int n) { Launch<F, 256>()(f, x, n); }
"""


def test_a_member_needs_an_object_and_is_no_entry_but_leads_to_the_launch():
    (run,) = drafted(MEMBERS)
    assert (run.name, [q.about for q in unknown_values(run)]) == ("run", ["f"])
    without = MEMBERS[: MEMBERS.index("template <typename F> void run")]
    assert [(c.name, c.entry.kind) for c in drafted(without)] == [("apply", EntryKind.KERNEL)]


@pytest.mark.parametrize(
    ("use", "asks"),
    [("x[threadIdx.x] = f(1.0f)", True), ("x[threadIdx.x] = f.load(n)", True), ("x[threadIdx.x] *= f", False)],
)
def test_a_template_parameter_that_is_called_is_no_number(use, asks):
    (contract,) = drafted(f"template <typename F> __global__ void k(F f, float* x, int n) {{ {use}; }}")
    assert bool(unknown_values(contract)) == asks


@pytest.mark.parametrize(
    ("type_", "use", "chosen"),
    [("SizeT", "n", "int"), ("E", "E i = threadIdx.x; i < n", "int"), ("F", "x[threadIdx.x] *= n", "float")],
)
def test_a_template_parameter_in_which_elements_are_numbered_is_an_integer(type_, use, chosen):
    text = f"template <typename {type_}> __global__ void k({type_} n, float* x) {{ {use}; x[threadIdx.x] = 1; }}"
    (contract,) = drafted(text)
    assert contract.entry.template == (chosen,)
    assert (contract.arguments[0].name in contract.symbols) == (chosen == "int")


def test_a_template_parameter_that_is_wrapped_to_be_called_is_no_number():
    text = "template <typename F> void run(F f, float* x, int n) { launch(Factory<F>(f), x, n); k<<<1, 32>>>(x); }"
    (contract,) = drafted(f"__global__ void k(float* x) {{ x[threadIdx.x] = 1; }}\n{text}")
    assert [q.about for q in unknown_values(contract)] == ["f"]


@pytest.mark.parametrize(
    ("call", "template"),
    [
        ("apply(Square<half>(), x, 4)", ("Square<half>", "half")), ("apply(Negate{}, x, 4)", ("Negate", "float")),
        ("apply(Scale(2.0f), x, 4)", ("float", "float")), ("apply(square(), x, 4)", ("float", "float")),
    ],
)  # fmt: skip
def test_a_function_object_is_what_the_file_hands_over_unless_it_holds_something(call, template):
    text = f"""
    template <typename T> struct Square {{ __device__ T operator()(T x) const {{ return x * x; }} }};
    struct Negate {{ __device__ float operator()(float x) const {{ return -x; }} }};
    struct Scale {{ float by; __device__ float operator()(float x) const {{ return by * x; }} }};
    template <typename F, typename T> __global__ void k(F f, T* x, int n) {{ x[threadIdx.x] = f(x[threadIdx.x]); }}
    template <typename F, typename T> void apply(F f, T* x, int n) {{ k<<<1, 32>>>(f, x, n); f(1.0f); }}
    int main() {{ half* x; {call}; }}
    """
    (contract,) = drafted(text, whole_program=False)
    assert contract.entry.template == template
    assert [q.about for q in unknown_values(contract)] == (["f"] if template[0] == "float" else [])
    assert contract.arguments[0] == ScalarArg("f", "F" if template[0] == "float" else template[0], "0")


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
    ("name", "loop", "category"),
    [
        ("k", "for (int j = i; j < n; j += 4) y[j] = tanhf(x[j]);", "activation"),
        ("k", "for (int j = i; j < n; j += 4) y[j] += x[j];", "other"),
        ("k", "float s = 0; for (int j = 0; j < n; j++) s += x[i * n + j]; y[i] = s;", "reduction"),
        ("row_mean", "float s = 0; for (int j = 0; j < n; j++) s += sqrtf(x[i * n + j]); y[i] = s;", "reduction"),
        ("k", "float s = 0; for (int j = 0; j < n; j++) s += x[i * n + j]; y[i] = rsqrtf(s);", "norm"),
    ],
)
def test_the_category_is_told_by_what_is_added_up_not_by_the_step_of_a_loop(name, loop, category):
    text = f"__global__ void {name}(const float* x, float* y, int n) {{ int i = threadIdx.x; {loop} }}"
    (contract,) = drafted(text)
    assert contract.category == category


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


@pytest.mark.parametrize(
    "handed_on",
    [
        "k<<<1, 64>>>((const __half*)x, n);",
        "k<<<1, 64>>>(static_cast<const __half*>(x), n);",
        "auto p = reinterpret_cast<const half*>(x); k<<<1, 64>>>(p, n);",
    ],
)
def test_what_is_behind_a_pointer_to_void_is_what_it_is_taken_for(handed_on):
    (contract,) = drafted(f"""
__global__ void k(const __half* x, int n) {{ if (threadIdx.x < n) *(__half*)(x + threadIdx.x) = __half(1.0f); }}
extern "C" void run(const void* x, int n) {{ {handed_on} }}""")
    assert contract.tensors[0].dtype is DType.FLOAT16


@pytest.mark.parametrize(
    ("host", "branches"),
    [
        ("if (n > 1024) { LAUNCH } else { LAUNCH }", ("n > 1024",)),
        ("int rows = n / 8; if (rows <= 16) { LAUNCH }", ("n / 8 <= 16",)),
        ("if (n % 4 == 0 && aligned(y)) { LAUNCH }", ("n % 4 == 0",)),
        ("const int wide = n >= 512 ? 256 : 64; LAUNCH", ("n >= 512",)),
        ("for (int i = 0; i < n; ++i) { LAUNCH }", ()),
        ("if (suits(n) == 1) { LAUNCH } if (y == nullptr) return;", ()),
        ("if (1024 / (n - 1) > 4) { LAUNCH }", ()),
    ],
)
def test_host_code_tells_which_sizes_it_chooses_by(host, branches):
    launch = "k<<<(n + 255) / 256, 256>>>(y, n);"
    text = "__global__ void k(float* y, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = 1; }"
    source = Source(Path("k.cu"), f"{text}\nvoid f(float* y, int n) {{ {host.replace('LAUNCH', launch)} }}")
    (contract,) = draft(parse(source))
    assert contract.branches == branches
    assert loads(dumps((contract,)), Path("k.toml")) == (contract,)


@pytest.mark.parametrize(
    ("call", "branches"),
    [
        ("few<half>(y, n)", ("n % 8 == 0",)),
        ("few(y, n)", ("n % 8 == 0",)),
        ("few<float, 64>((float*)y, n)", ("n % 4 == 0", "n > 64")),
        ("few<Unknown>((Unknown*)y, n)", ()),
    ],
)
def test_what_a_template_chooses_by_is_known_from_its_call(call, branches):
    text = """
template <typename T> __global__ void k(T* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = T(1); }
template <typename T, int MOST = 0> void few(T* y, int n) {
    constexpr int wide = 16 / sizeof(T);
    if (n % wide == 0) k<T><<<1, 32>>>(y, n); else k<T><<<1, 64>>>(y, n);
    if (n > MOST) k<T><<<1, 32>>>(y, n);
}
void f(half* y, int n) { CALL; }"""
    (contract,) = draft(parse(Source(Path("k.cu"), text.replace("CALL", call))))
    assert contract.branches == branches


def test_a_tensor_has_as_many_axes_as_it_has_to_have_at_least():
    text = TORCH.replace('TORCH_CHECK(x.dim() == 2, "2-D")', 'TORCH_CHECK(x.dim() >= 3, "planes")')
    (contract,) = drafted(text)
    assert len(contract.tensors[0].shape) == 3


DISPATCHED = """
template <typename scalar_t>
__global__ void halve(const scalar_t* x, scalar_t* y, int n) {{
    scalar_t v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x < n) y[threadIdx.x] = v / 2;
}}
torch::Tensor run(torch::Tensor x, torch::Tensor y) {{
    AT_DISPATCH_{types}(x.scalar_type(), "halve", [&] {{
        halve{given}<<<1, 256>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), (int)x.numel());
    }});
    return y;
}}
"""


@pytest.mark.parametrize("given", ["<scalar_t>", ""])
@pytest.mark.parametrize(
    ("types", "dtype"),
    [("FLOATING_TYPES", DType.FLOAT32), ("REDUCED_FLOATING_TYPES", DType.FLOAT16), ("INTEGRAL_TYPES", DType.UINT8)],
)
def test_a_bare_kernel_has_the_types_that_the_dispatch_around_its_launch_gives_it(given, types, dtype):
    program = parse(Source(Path("op.cu"), DISPATCHED.format(types=types, given=given)))
    (bare,) = draft_each(Usage(program), program.kernels)
    assert [tensor.dtype for tensor in bare.tensors] == [dtype, dtype]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ("x[blockIdx.x * 64 + threadIdx.x]", DType.FLOAT32),
        ("load(x, threadIdx.x)", DType.FLOAT32),
        ("blockIdx.x * 64 + threadIdx.x", DType.INT32),
        ("static_cast<T>(blockIdx.x) * 64 + threadIdx.x", DType.INT32),
    ],
)
def test_a_type_that_threads_are_numbered_in_is_an_integer_and_one_that_they_load_is_none(value, dtype):
    text = f"template <typename T> __global__ void k(const T* x, T* y) {{ T v = {value}; y[threadIdx.x] = v; }}"
    (contract,) = draft(parse(Source(Path("op.cu"), text)))
    assert [tensor.dtype for tensor in contract.tensors] == [dtype, dtype]


HEADER = Source(Path("op.cuh"), BARE + "inline void run(float* x, float* y) { scale<<<1, 1>>>(x, y, 1, 1); }\n")


@pytest.mark.parametrize("beside", ["", "inline int half(int n) { return n / 2; }\n"])
def test_the_kernels_of_its_headers_are_those_of_a_file_without_any(beside):
    text = '#include "op.cuh"\n' + beside
    assert [c.name for c in drafted(text, headers=(HEADER,))] == ["scale"]
    usage = Usage(parse(Source(Path("op.cu"), text)), (HEADER,))
    assert [f.name for f in launching(usage, "scale")] == ["run"]


def test_a_kernel_of_a_header_that_a_file_with_kernels_does_not_use_is_none_of_its():
    own = "__global__ void own(float* y) { y[0] = 1; }\nvoid go(float* y) { own<<<1, 1>>>(y); }\n"
    assert [c.name for c in drafted('#include "op.cuh"\n' + own, headers=(HEADER,))] == ["go"]


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


LAYER = """
struct Blob { float* data; int count; };
#define DECLARE(name) class Fast##name##Layer { public: void forward(Blob* blob); }
DECLARE(Twice);
__global__ void twice(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] *= 2; }
"""


def test_a_member_of_a_class_that_a_macro_makes_is_no_entry():
    text = f"{LAYER}void FastTwiceLayer::forward(Blob* blob) {{ twice<<<1, 64>>>(blob->data, blob->count); }}"
    assert [c.entry.name for c in drafted(text)] == ["twice"]


def test_a_function_of_a_namespace_is_an_entry_though_a_macro_makes_classes():
    text = f"""{LAYER}
    namespace Layers {{ void forward(float* y, int n); }}
    void Layers::forward(float* y, int n) {{ twice<<<1, 64>>>(y, n); }}"""
    assert [c.entry.name for c in drafted(text)] == ["Layers::forward"]
