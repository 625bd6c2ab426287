"""Structs that an entry is handed: their fields are given one by one, and a port that mixes them up is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from porter.backend import Follow
from porter.contract.model.contract import Role
from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified, Wrong
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler

SOURCE = """\
struct Window { int begin, count; };
struct Params { const float* x; float* __restrict__ y; float by; int n; Window window; };
__global__ void part(Params p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool inside = i >= p.window.begin && i < p.window.begin + p.window.count;
    if (i < p.n) p.y[i] = inside ? p.x[i] * p.by : 0.f;
}
__global__ void between(float* y, const float* x, float2 range, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * (range.y - range.x) + range.x;
}
struct Steps { int by[2]; float scale[1][2]; };
__global__ void stepped(float* y, const float* x, Steps s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int total = 0;
    for (int k = 0; k < 2; ++k) total += s.by[k] * (k + 1);
    if (i < n) y[i] = x[i] * s.scale[0][1] + total;
}
void windowed(const Params& p, cudaStream_t stream) { part<<<(p.n + 1023) / 1024, 1024, 0, stream>>>(p); }
void ranged(float* y, const float* x, const float2& range, int n) {
    between<<<(n + 1023) / 1024, 1024>>>(y, x, range, n);
}
void step(float* y, const float* x, const Steps* s, int n) { stepped<<<(n + 1023) / 1024, 1024>>>(y, x, *s, n); }
"""


@pytest.fixture
def options(build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    return MigrateOptions(target="maca", cache=build_cache, follow=Follow.KERNELS)  # a formula takes longer


def silent(_: str) -> None:
    """Nobody watches."""


@pytest.mark.parametrize("target", ["maca", "triton"])
def test_entries_that_take_structs_are_verified(tmp_path, options, target):
    path = tmp_path / "op.cu"
    path.write_text(SOURCE)
    (migration,) = migrate(path, replace(options, target=target), silent)
    assert [(e.contract.name, type(e.outcome)) for e in migration.entries] == [
        ("windowed", Verified),
        ("ranged", Verified),
        ("step", Verified),
    ]


def test_a_port_that_takes_one_field_for_another_is_wrong(tmp_path, options):
    path, candidate = tmp_path / "op.cu", tmp_path / "op.maca.cpp"
    path.write_text(SOURCE)
    text = "#include <mc_runtime.h>\n" + SOURCE.replace("cuda", "mc")
    text = text.replace("p.window.begin + p.window.count", "p.window.count").replace("s.by[k]", "s.by[1 - k]")
    candidate.write_text(text)
    outcomes = {e.contract.name: type(e.outcome) for e in verify(candidate, path, options, silent).entries}
    assert outcomes == {"windowed": Wrong, "ranged": Verified, "step": Wrong}


@pytest.mark.parametrize("target", ["maca", "triton"])
def test_a_struct_with_a_formula_keeps_the_port_of_its_kernels(tmp_path, options, target):
    """A method stores the output, though no text of the kernel says so."""
    (tmp_path / "op.cu").write_text("""
struct View { float* data; int n; __device__ void add(int i, float v) { data[i] += v; } };
__global__ void bump(View v, const float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.n) v.add(i, x[i]);
}
void run(View v, const float* x) { bump<<<(v.n + 1023) / 1024, 1024>>>(v, x); }
""")
    (migration,) = migrate(tmp_path / "op.cu", replace(options, target=target, follow=Follow.FORMULA), silent)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified), entry.outcome
    assert migration.followed is not None
    assert "takes a struct" in migration.followed.because
    assert [(t.name, t.role) for t in entry.contract.tensors] == [("v.data", Role.INOUT), ("x", Role.IN)]


@pytest.mark.parametrize("target", ["maca", "triton"])
def test_a_launcher_that_is_handed_extents_is_verified_and_says_which(tmp_path, options, target):
    (tmp_path / "op.cu").write_text("""
__global__ void grow(float* y, const float* x, float by, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < columns && j < rows) y[j * columns + i] = x[j * columns + i] * by;
}
void run(const dim3& grid, dim3 threads, float* y, const float* x, const float& by, const int& rows, int columns) {
    grow<<<grid, threads>>>(y, x, by, rows, columns);
}
""")
    sizes = {"rows": 20, "columns": 33}  # several blocks along each, the last of which has threads to spare
    (migration,) = migrate(tmp_path / "op.cu", replace(options, target=target, sizes=sizes), silent)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified), entry.outcome
    words = "launched with a 'grid' of (cdiv(columns, 16), cdiv(rows, 16), 1) and a 'threads' of (16, 16, 1), a guess"
    assert words in entry.outcome.caveat


CLASS = """
struct Shaped { int rows, cols; int numel() const { return rows * cols; } };
struct Tensor : Shaped {
    static constexpr int kThreads = 1024;
    float* data;
    int strides[2];
    bool turned;
    int stride(int i) const { return strides[i]; }
    int wide() const { if (turned) return rows; return cols; }
    int span() const { int most = 0; for (int i = 0; i < 2; ++i) if (stride(i) > most) most = stride(i); return most; }
    int blocks() const { return (numel() + kThreads - 1) / kThreads; }
    int shrink() { rows -= 1; return numel(); }
};
__global__ void scale(float* y, const float* x, int wide, int span, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * wide + span;
}
void scaled(const Tensor& x, const Tensor& y) {
    scale<<<x.blocks(), Tensor::kThreads>>>(y.data, x.data, x.wide(), y.span(), x.numel());
}
"""


def test_a_launcher_calls_the_methods_of_the_objects_that_it_is_given(tmp_path, options):
    path = tmp_path / "op.cu"
    path.write_text(CLASS)
    (migration,) = migrate(path, replace(options, target="triton"), silent)
    assert [(e.contract.name, type(e.outcome)) for e in migration.entries] == [("scaled", Verified)]
    assert any("def Tensor_span(" in file.text for file in migration.files)


def test_a_launcher_whose_method_shrinks_its_object_is_not_ported(tmp_path, options):
    path = tmp_path / "op.cu"
    path.write_text(CLASS.replace("const Tensor& y", "Tensor y").replace("x.numel());", "y.shrink());"))
    (migration,) = migrate(path, replace(options, target="triton"), silent)
    assert not any(e.contract.name == "scaled" and isinstance(e.outcome, Verified) for e in migration.entries)
    assert "'shrink' changes its object" in " ".join(finding.message for finding in migration.findings)


@pytest.mark.parametrize("target", ["maca", "triton"])
def test_a_struct_by_a_reference_through_which_nothing_is_set_may_hold_a_stream(tmp_path, options, target):
    source = SOURCE[: SOURCE.index("void windowed")].replace(
        "Window window; }", "Window window; cudaStream_t stream; }"
    )
    path = tmp_path / "op.cu"
    run = "void run(Params& p) { part<<<(p.n + 255) / 256, 256, 0, p.stream>>>(p); }"
    path.write_text(f"{source} template <int> {run.replace('run', 'inner')} void run(Params& p) {{ inner<3>(p); }}")
    (migration,) = migrate(path, replace(options, target=target), silent)
    assert ("run", Verified) in [(e.contract.name, type(e.outcome)) for e in migration.entries]


ARRAY = """
struct Edge { int source; unsigned char used; float weight; double length; };
__global__ void relax(Edge* edges, const float* nodes, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Edge edge = edges[i];
    if (edge.used) {
        edge.weight += nodes[edge.source];
        edge.length = 0.5 * edge.weight;
    }
    edges[i] = edge;
}
void run(Edge* edges, const float* nodes, int count) { relax<<<(count + 63) / 64, 64>>>(edges, nodes, count); }
"""


@pytest.mark.parametrize("target", ["maca", "triton"])
def test_an_array_of_structs_of_several_types_is_compared_by_its_fields(tmp_path, options, target):
    (tmp_path / "op.cu").write_text(ARRAY)
    (migration,) = migrate(tmp_path / "op.cu", replace(options, target=target), silent)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified), entry.outcome
    assert "taken to be" not in entry.outcome.caveat
    edges = entry.contract.tensors[0]
    assert (edges.shape, edges.group, edges.fields[0].bound) == (("24 * count",), 24, "edges_source_bound")


@pytest.mark.parametrize(
    ("old", "new"), [("+= nodes", "-= nodes"), ("nodes[edge.source]", "nodes[0]"), ("edge.used)", "!edge.used)")]
)
def test_a_port_that_errs_in_one_field_is_wrong(tmp_path, options, old, new):
    path, candidate = tmp_path / "op.cu", tmp_path / "op.maca.cpp"
    path.write_text(ARRAY)
    candidate.write_text("#include <mc_runtime.h>\n" + ARRAY.replace(old, new))
    (entry,) = verify(candidate, path, options, silent).entries
    assert isinstance(entry.outcome, Wrong), entry.outcome


ROWS = """
#define WIDTH 32
__device__ int around(int cells[WIDTH][WIDTH], int x, int y) {
    int sum = 0;
    for (int i = -1; i < 2; ++i)
        if (x + i >= 0 && x + i < WIDTH) sum += cells[x + i][y];
    return sum;
}
__global__ void step(int cells[][WIDTH], int next[][WIDTH]) {
    int x = threadIdx.x, y = threadIdx.y;
    next[x][y] = around(cells, x, y);
    __syncthreads();
    cells[x][y] = next[x][y];
}
void run(int cells[][WIDTH], int next[][WIDTH]) { step<<<1, dim3(WIDTH, WIDTH)>>>(cells, next); }
"""


@pytest.mark.parametrize("target", ["maca", "triton"])
def test_a_pointer_to_rows_of_a_known_length_is_one_array(tmp_path, options, target):
    (tmp_path / "op.cu").write_text(ROWS)
    (migration,) = migrate(tmp_path / "op.cu", replace(options, target=target), silent)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified), entry.outcome
    assert [tensor.shape for tensor in entry.contract.tensors] == [("1024",), ("1024",)]


def test_fields_that_no_code_reads_may_be_of_any_type(tmp_path, options):
    (tmp_path / "op.cu").write_text("""
#include <string>
struct Config { std::string name; std::string paths[2]; int width; float scale; };
__global__ void scaled(const Config config, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < config.width) y[i] = config.scale * x[i];
}
void run(const Config config, const float* x, float* y) { scaled<<<(config.width + 63) / 64, 64>>>(config, x, y); }
""")
    (migration,) = migrate(tmp_path / "op.cu", options, silent)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified), entry.outcome
    assert [argument.name for argument in entry.contract.arguments] == ["config.width", "config.scale", "x", "y"]


@pytest.mark.parametrize("target", ["maca", "triton"])
def test_a_tensor_that_is_not_defined_is_no_result_but_keeps_its_place(tmp_path, options, target):
    (tmp_path / "op.cu").write_text("""
#include <torch/extension.h>
__global__ void doubled(const float* w, float* g, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) g[i] = w[i] * 2.f;
}
std::vector<torch::Tensor> backward(torch::Tensor w) {
    auto g = torch::zeros_like(w);
    doubled<<<(w.numel() + 255) / 256, 256>>>(w.data_ptr<float>(), g.data_ptr<float>(), w.numel());
    return {torch::Tensor(), g};
}
""")
    (migration,) = migrate(tmp_path / "op.cu", replace(options, target=target), silent)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified), entry.outcome
    assert target != "triton" or "return [None, g]" in migration.files[0].text


SET = """
__global__ void largest(const float* x, float* out, int n) {
    float most = x[0];
    for (int i = 1; i < n; ++i) most = fmaxf(most, x[i]);
    *out = most;
}
__global__ void shifted(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.f;
}
void run(const float* x, float* y, float& top, float& other, int& count, int n) {
    float* out;
    cudaMalloc(&out, sizeof(float));
    largest<<<1, 1>>>(x, out, n);
    cudaMemcpy(&top, out, sizeof(float), cudaMemcpyDeviceToHost);
    shifted<<<(n + 63) / 64, 64>>>(x, y, n);
    cudaFree(out);
}
"""


COPIED = "    cudaMemcpy(&top, out, sizeof(float), cudaMemcpyDeviceToHost);\n"


@pytest.mark.parametrize(
    ("old", "new"), [("fmaxf", "fminf"), (COPIED, ""), ("cudaFree(out);", "count = 7;"), ("&top, out", "&other, out")]
)
def test_a_number_that_a_launcher_sets_by_reference_is_a_result(tmp_path, options, old, new):
    path, candidate = tmp_path / "op.cu", tmp_path / "op.maca.cpp"
    path.write_text(SET)
    for text, expected in ((SET, Verified), (SET.replace(old, new), Wrong)):
        candidate.write_text("#include <mc_runtime.h>\\n" + text.replace("cuda", "mc"))
        (entry,) = verify(candidate, path, options, silent).entries
        assert isinstance(entry.outcome, expected), entry.outcome
