"""Launches in drafts: blocks, grids and shared memory of kernels that nobody launches, and what host code chooses."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import EntryKind, Role, ScalarArg, Values
from porter.contract.model.dtype import DType
from porter.contract.model.questions import few_blocks_question, guessed_launch, unknown_extents
from porter.contract.model.toml import dumps, loads
from porter.source.parse import parse
from porter.source_text import Source
from tests.pure.contract.draft_sources import BARE, drafted


def test_a_bare_kernel_gets_a_launch_that_covers_its_guard():
    (contract,) = drafted(BARE)
    assert contract.entry.kind is EntryKind.KERNEL
    assert contract.entry.launch is not None
    assert contract.entry.launch.grid == ("cdiv(n, 256)", "1", "1")
    assert contract.symbols == ("n",)
    assert [t.role for t in contract.tensors] == [Role.IN, Role.OUT]
    assert [t.name for t in unknown_extents(contract)] == ["x", "y"]
    assert len(contract.workloads) == 4


def test_a_grid_covers_the_size_that_indices_stay_below_and_not_the_border_that_they_stay_behind():
    inner = "if (i >= 1 && i < n - 1) y[i] = x[i - 1] + x[i + 1];"
    (contract,) = drafted(
        f"__global__ void k(const float* x, float* y, int n) {{ int i = blockIdx.x * 128 + threadIdx.x; {inner} }}"
    )
    assert contract.entry.launch.grid[0] == "cdiv(n - 1, 128)"


@pytest.mark.parametrize("used", ["memory.get()[threadIdx.x] = n;", ""])
def test_a_bare_kernel_gets_dynamic_shared_memory_where_a_function_it_calls_has_some(used):
    memory = "struct Memory { __device__ float* get() { extern __shared__ float all[]; return all; } };\n"
    kernel = f"__global__ void k(float* y, int n) {{ Memory memory; {used} y[threadIdx.x] = n; }}"
    (contract,) = drafted(memory + kernel)
    assert contract.entry.launch is not None
    assert (int(contract.entry.launch.shared_bytes) > 0) == bool(used)


@pytest.mark.parametrize(
    ("outside", "param", "used", "has_memory"),
    [
        ("extern __shared__ float all[];", "int n", "all[threadIdx.x] = n;", True),
        ("extern __shared__ float all[];", "int n", "helped(n);", True),
        ("extern __shared__ float all[];", "int n", "", False),
        ("extern __shared__ float all[];", "float* all", "all[threadIdx.x] = 1;", False),
        ("__shared__ float all[256];", "int n", "all[threadIdx.x] = n;", False),
        ("__global__ void other() { extern __shared__ float all[]; }", "int n", "y[all] = n;", False),
    ],
)
def test_a_bare_kernel_gets_dynamic_shared_memory_where_it_names_some_of_the_file(outside, param, used, has_memory):
    helper = "__device__ void helped(int n) { all[threadIdx.x] = n; }" if "helped" in used else ""
    kernel = f"__global__ void k(float* y, {param}) {{ {used} y[threadIdx.x] = 1; }}"
    contract = next(c for c in drafted(f"{outside}\n{helper}\n{kernel}") if c.name == "k")
    assert contract.entry.launch is not None
    assert (int(contract.entry.launch.shared_bytes) > 0) == has_memory


@pytest.mark.parametrize(
    ("instantiated", "launched", "block"),
    [
        ("template void run<64>(dim3, dim3, const float*, float*, int);", "EDGE", "64"),
        ("template void run<64>(dim3, dim3, const float*, float*, int);", "2 * EDGE", "128"),
        ("template void run<64>(dim3, dim3, const float*, float*, int);", "512", "512"),
        ("template void other<64>(dim3, dim3, const float*, float*, int);", "EDGE", "256"),
    ],
)
def test_blocks_that_a_launcher_is_handed_are_those_of_the_kernel_that_it_is_instantiated_with(
    instantiated, launched, block
):
    kernel = """
    template <int BLOCK> __global__ void k(const float* x, float* y, int n) {
        __shared__ float own[BLOCK];
        own[threadIdx.x] = x[blockIdx.x * n + threadIdx.x];
        y[blockIdx.x * n + threadIdx.x] = own[threadIdx.x];
    }
    template <int EDGE> void run(dim3 grid, dim3 block, const float* x, float* y, int n) {
        k<LAUNCHED><<<grid, block>>>(x, y, n);
    }
    """
    (contract,) = drafted(kernel.replace("LAUNCHED", launched) + instantiated)
    values = {a.name: a.value for a in contract.arguments if isinstance(a, ScalarArg)}
    assert values["block.x"] == block


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


_SPAN = """
__global__ void shift(float* y, const float* x, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * 4;
    if (i >= columns) return;
    for (int k = 0; k < 4 && j + k < rows; ++k) y[(j + k) * columns + i] = x[(j + k) * columns + i] + 1;
}
"""


def test_extents_that_a_launcher_is_handed_cover_what_its_kernel_compares_with():
    (contract,) = drafted(
        _SPAN
        + """
        struct Shape { int height, width; };
        static void inner(const dim3& g, dim3 b, float* y, const float* x, Shape s) {
            shift<<<g, b>>>(y, x, s.height, s.width * 2);
        }
        void run(const dim3& grid, const dim3 threads, float* y, const float* x, Shape shape) {
            inner(grid, threads, y, x, shape);
        }"""
    )
    given = {a.name: a.value for a in contract.arguments if isinstance(a, ScalarArg)}
    assert [given[f"grid.{axis}"] for axis in "xyz"] == ["cdiv(shape_width * 2, 256)", "cdiv(shape_height, 4)", "1"]
    assert [given[f"threads.{axis}"] for axis in "xyz"] == ["256", "1", "1"]
    assert contract.symbols == ("shape_height", "shape_width")
    assert guessed_launch(contract) is not None


@pytest.mark.parametrize(
    ("head", "launch", "blocks"),
    [
        ("int blocks, int threads", "<<<blocks, threads>>>(y, x, n)", "cdiv(n, 256)"),
        ("int blocks", "<<<dim3(blocks, 1), 64>>>(y, x, n)", "cdiv(n, 64)"),
        ("int blocks", "<<<blocks, 64>>>(y, x, blocks)", "blocks"),
        ("int blocks", "<<<blocks, (n + 3) / 4>>>(y, x, n)", "blocks"),
    ],
)
def test_a_number_of_blocks_covers_what_a_kernel_compares_with_unless_it_is_a_size(head, launch, blocks):
    kernel = BARE.replace("float factor, ", "").replace("factor", "2")
    (contract,) = drafted(f"{kernel} void f({head}, float* y, const float* x, int n) {{ scale{launch}; }}")
    assert next(a.value for a in contract.arguments if isinstance(a, ScalarArg)) == blocks


def test_a_number_of_blocks_that_kernels_ask_for_is_a_size():
    (contract,) = drafted("""
        __global__ void k(float* y, const float* x, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
        }
        void f(int blocks, float* y, const float* x, int n) { k<<<blocks, 64>>>(y, x, n); }""")
    assert contract.symbols == ("blocks", "n")


EVERY = """
KERNEL
int launch_it(float* y, const float* x, int n, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
              unsigned bz, unsigned bytes, void* queue) {
    dim3 grid(gx, gy, gz);
    dim3 block(bx, by, bz);
    k<<<grid, block, bytes, (cudaStream_t)queue>>>(y, x, n);
    return cudaGetLastError();
}"""
ALONG_X = (
    "__global__ void k(float* y, const float* x, int n) { MEMORY int i = blockIdx.x * blockDim.x + threadIdx.x; AT }"
)


@pytest.mark.parametrize(
    ("memory", "at", "ones", "bytes_"),
    [
        ("", "if (i < n) y[i] = x[i];", ["gy", "gz", "by", "bz"], "0"),
        ("extern __shared__ float m[];", "m[0] = i; if (i < n) y[i] = x[i];", ["gy", "gz", "by", "bz"], None),
        ("", "if (i < n && threadIdx.y == 0) y[i] = x[i];", ["gy", "gz", "bz"], "0"),
        ("const dim3 t(threadIdx);", "if (i < n && t.z == 0) y[i] = x[i];", ["gy", "gz"], "0"),
    ],
)
def test_a_launcher_is_given_one_of_what_its_kernel_never_asks_for(memory, at, ones, bytes_):
    kernel = ALONG_X.replace("MEMORY", memory).replace("AT", at)
    (contract,) = drafted(EVERY.replace("KERNEL", kernel))
    given = {a.name: a.value for a in contract.arguments if isinstance(a, ScalarArg)}
    assert [name for name in ("gx", "gy", "gz", "bx", "by", "bz") if given[name] == "1"] == ones
    assert (given["bytes"] == "0") == (bytes_ == "0")
    assert {tensor.name for tensor in contract.tensors if tensor.values is Values.NULL} == {"queue"}


@pytest.mark.parametrize(("many", "grid"), [("64 * 1024", "cdiv(65536, 256)"), ("32 * 1024 * 1024", "rows")])
def test_so_many_threads_as_a_constant_says_are_too_many_to_run_all_of_them(many, grid):
    (contract,) = drafted(f"""
        #define MANY ({many})
        __global__ void k(float* y, const float* x) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < MANY) y[i] = x[i];
        }}""")
    assert contract.entry.launch is not None
    assert contract.entry.launch.grid[0] == grid
    assert contract.symbols == (("rows",) if grid == "rows" else ())


def test_blocks_that_are_left_out_of_a_launch_are_told():
    text = """
        #define MANY (32 * 1024 * 1024)
        __global__ void k(float* y) { int i = blockIdx.x * 512 + threadIdx.x; if (i < LIMIT) y[i] = 1; }
        int main() { k<<<MANY / 512, 512>>>(0); }"""
    few, every = (drafted(text.replace("LIMIT", n), whole_program=False)[0] for n in ("MANY", "1024"))
    assert guessed_launch(few) == few_blocks_question("k")
    assert guessed_launch(every) is None
