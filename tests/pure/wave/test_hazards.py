import pytest

from porter.diagnostics.findings import Severity


@pytest.mark.parametrize(
    "expression",
    ["threadIdx.x / 32", "t % W", "t & (W - 1)", "t >> 5", "t & 0x1f", "t / kWarp", "t % LANES"],
)
def test_arithmetic_on_the_warp_is_found_under_any_name(expression, codes):
    text = (
        "#define W 32\nconstexpr int kWarp = 1 << 5;\nenum WARPS { LANES = 32 };\n"
        f"__global__ void k(int* out) {{ const unsigned t = threadIdx.x; out[t] = {expression}; __syncwarp(~0u); }}"
    )
    assert codes(text)[0] == "PORT1001"


def test_arithmetic_alone_is_no_danger(codes):
    assert codes("__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x / 32; }") == []


@pytest.mark.parametrize("expression", ["n / 32", "n % 32 == 0", "t / 16", "blockDim.x / 32", "data[t] % 32"])
def test_arithmetic_on_other_things_is_not(expression, codes):
    body = f"int t = threadIdx.x; out[t] = {expression}; __activemask();"
    text = f"__global__ void k(int* out, int n, int* data) {{ {body} }}"
    assert codes(text) == ["PORT1004"]


def test_the_thread_index_is_followed_through_a_call(codes):
    text = (
        "__device__ int lane_of(int i) { return i & 31; }\n"
        "__global__ void k(int* out) { int t = threadIdx.x; out[t] = lane_of(t); __activemask(); }"
    )
    assert codes(text) == ["PORT1001", "PORT1004"]


def test_partials_of_warps_are_noted(codes):
    text = (
        "__global__ void k(int* out) { __shared__ int part[32]; const int w = threadIdx.x / 32;\n"
        "  part[w] = __any(out[w]); __syncthreads(); out[w] = part[threadIdx.x]; }"
    )
    assert codes(text) == ["PORT1001", "PORT1005", "PORT1012"]


def test_barrier_that_only_some_warps_reach_is_a_warning(rewritten):
    text = "__global__ void k() { int w = threadIdx.x / 32;\n if (w == 0) { __syncthreads(); } }"
    assert [(f.code, f.span.line, f.severity) for f in rewritten(text).findings] == [("PORT1017", 2, Severity.WARNING)]


def test_warp_that_spins_is_a_warning(codes):
    text = (
        "__global__ void k(int* flag) { const int w = threadIdx.x >> 5;\n"
        " if (w == 1) { while (atomicAdd(flag, 0) == 0) {} } }"
    )
    assert "PORT1018" in codes(text)


def test_one_thread_that_spins_is_none(codes):
    text = "__global__ void k(int* flag) { if (threadIdx.x == 0) { while (atomicAdd(flag, 0) == 0); } }"
    assert codes(text) == []


@pytest.mark.parametrize(
    ("block", "finds"),
    [("32", True), ("dim3(32, 3)", True), ("threads", True), ("256", False), ("dim3(32, 8)", False), ("n", False)],
)
def test_block_of_partial_waves_is_noted(block, finds, codes):
    text = f"__global__ void k() {{}}\nvoid go(int n) {{ const int threads = 96; k<<<n, {block}>>>(); }}"
    assert ("PORT1013" in codes(text)) is finds


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("auto g = cooperative_groups::coalesced_threads();", "PORT1015"),
        ("nvcuda::wmma::fill_fragment(c, 0.0f);", "PORT1016"),
    ],
)
def test_library_groups_and_fragments_are_found(line, code, codes):
    assert codes(f"__global__ void k() {{ {line} }}") == [code]


def test_collectives_of_cub_are_given_their_32_lanes(ported):
    text = "__global__ void k() { using R = cub::WarpReduce<Pair<int, float>>; cub::WarpScan<int, 16> s; }"
    assert "cub::WarpReduce<Pair<int, float>, 32>" in ported(text)
    assert "cub::WarpScan<int, 16> s" in ported(text)


@pytest.mark.parametrize(
    "names",
    [
        "using namespace cub; template <class T> using R = WarpReduce<T>;",
        "using cub::WarpReduce; template <class T> using R = WarpReduce<T>;",
        "namespace c = cub; template <class T> using R = c::WarpReduce<T>;",
    ],
)
def test_collectives_of_cub_are_found_however_they_are_named(names, ported):
    assert "WarpReduce<T, 32>" in ported(f"{names} __global__ void k() {{ R<int>::TempStorage t; }}")


def test_a_class_of_the_users_is_not_taken_for_cubs(ported):
    text = (
        "template <class T> struct WarpReduce {}; __global__ void k() { WarpReduce<int> r; mine::WarpReduce<int> s; }"
    )
    assert ported(text) == text


def test_the_lane_of_cub_is_found_without_its_namespace(ported):
    text = "using namespace cub; __global__ void k(int* x) { x[0] = LaneId() + cub::LaneId(); }"
    assert "x[0] = warp32::lane() + warp32::lane();" in ported(text)
