"""What no workload executes is in the verdict, and workloads are found that execute it."""

import json

import pytest

from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import NotVerified, Verified, Wrong
from porter.evaluate.verify import verify
from porter.report.migration.document import migration_document
from porter.report.migration.verdict import reason
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

CAPPED = """
__global__ void twice(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = 2.f * x[i];
}
void run(const float* x, float* y, int n) {
    int blocks = (n + 255) / 256;
    if (blocks > 4096) blocks = 4096;
    twice<<<blocks, 256>>>(x, y, n);
}
"""
LIMITED = CAPPED.replace("(n + 255) / 256;", "min((n + 255) / 256, 4096);").replace(
    "    if (blocks > 4096) blocks = 4096;\n", ""
)
VECTORS = """
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n % 4 == 0) {
        if (i < n / 4) {
            float4 v = reinterpret_cast<const float4*>(x)[i];
            reinterpret_cast<float4*>(y)[i] = make_float4(2.f * v.x, 2.f * v.y, 2.f * v.z, 2.f * v.w);
        }
    } else if (i < n) {
        y[i] = 2.f * x[i];
    }
}
void run(const float* x, float* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }
"""
DISPATCHED = """
#include <torch/extension.h>
template <typename scalar_t>
__global__ void twice(const scalar_t* x, scalar_t* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i];
}
torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "twice", [&] {
        twice<scalar_t><<<(n + 255) / 256, 256>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
    });
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run, "twice"); }
"""
COARSE = """
__device__ int first(int rows) { return blockIdx.x * rows * blockDim.x + threadIdx.x; }
__global__ void twice(const float* x, float* y, int n) {
    for (int i = first(4096), k = 0; i < n && k < 4096; i += blockDim.x, ++k) y[i] = 2.f * x[i];
}
void run(const float* x, float* y, int n) { twice<<<(n + 1048575) / 1048576, 256>>>(x, y, n); }
"""
IDLE = """
__global__ void twice(const float* x, float* y, int n, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1.f;
    for (int k = first; k < -7; ++k) y[i] = 2.f * x[i];
}
void run(const float* x, float* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n, 0); }
"""

OVERLOADED = """
#include <cuda_fp16.h>
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i];
}
__global__ void twice(const __half* x, __half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hadd(x[i], x[i]);
}
template <typename T> void run(const T* x, T* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }
template void run<float>(const float*, float*, int);
"""
UNNAMED = """
template <typename T, int kBlock> __global__ void twice(const T* x, T* y, int n) {
    int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i];
}
"""

DECIDED = """
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_large = x[min(i, n - 1)] < -1e30f || x[min(i, n - 1)] > 0.f;
    if (i < n && is_large && x[i] < 1e30f) y[i] = 2.f * x[i];
    else if (i < n) y[i] = x[i];
}
void run(const float* x, float* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }
"""


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


@pytest.fixture
def migrated(tmp_path, build_cache):
    """`migrated(text)`: the migration of a source to MACA."""

    def run(text, **options):
        source = tmp_path / "op.cu"
        source.write_text(text)
        (migration,) = migrate(source, MigrateOptions("maca", build_cache, **options), lambda _: None)
        return migration

    return run


@pytest.fixture
def verified(tmp_path, build_cache):
    """`verified(text, old, new)`: the verdict on the source's MACA port, in which `old` became `new`."""

    def run(text, old, new):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(text)
        port = maca_port(text)
        assert old in port
        candidate.write_text(port.replace(old, new))
        return verify(candidate, source, MigrateOptions("maca", build_cache, seed=7), lambda _: None)

    return run


def test_a_side_for_which_no_workload_is_found_is_named(migrated):
    """Grids beyond a cap take more elements than a CPU has time for."""
    migration = migrated(CAPPED)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified)
    assert "not executed by any workload: op.cu:7: `blocks > 4096` is never true" in reason(entry.outcome)
    document = json.loads(json.dumps(migration_document(migration, [])))["entries"][0]
    assert document["not_executed"][0] == {"file": "op.cu", "line": 3, "branch": "i < n", "never": "run twice"}
    assert document["not_executed"][1] == {"file": "op.cu", "line": 7, "branch": "blocks > 4096", "never": "true"}
    assert document["branch_coverage"]["original"] < 1.0


def test_what_is_wrong_there_is_named_too(verified):
    (entry,) = verified(CAPPED, "blocks = 4096;", "blocks = 0;").entries
    assert isinstance(entry.outcome, Verified)
    assert "`blocks > 4096` is never true" in reason(entry.outcome)


def test_a_loop_that_never_ran_twice_and_the_limit_that_makes_it_are_named(migrated):
    (entry,) = migrated(LIMITED).entries
    assert isinstance(entry.outcome, Verified)
    assert "the loop at op.cu:3 never ran twice" in reason(entry.outcome)
    assert "`min((n + 255) / 256, 4096)` is never 4096" in reason(entry.outcome)


def test_what_is_wrong_in_the_second_turn_alone_is_found_beyond_the_limit(verified):
    """A judgement goes there, since host code asks for as many blocks at every larger size."""
    (entry,) = verified(LIMITED, "i += blockDim.x * gridDim.x", "i += n").entries
    assert isinstance(entry.outcome, Wrong)


def test_that_only_the_first_block_ever_ran_is_said(migrated, verified):
    """What is wrong in the blocks behind it is not seen, and the verdict says so, not where several ran."""
    (entry,) = migrated(COARSE).entries
    assert isinstance(entry.outcome, Verified)
    assert "`blockIdx.x` is never above 0 at op.cu:2" in reason(entry.outcome)
    (entry,) = verified(COARSE, "blockIdx.x * rows", "2 * blockIdx.x * rows").entries
    assert isinstance(entry.outcome, Verified)
    assert "`blockIdx.x` is never above 0 at" in reason(entry.outcome)
    (entry,) = migrated(COARSE.replace("4096", "4").replace("1048575", "1023").replace("1048576", "1024")).entries
    assert isinstance(entry.outcome, Verified)
    assert "blockIdx" not in reason(entry.outcome)


def test_a_limit_within_reach_is_reached(migrated, verified):
    source = LIMITED.replace("4096", "16")
    (entry,) = migrated(source).entries
    assert isinstance(entry.outcome, Verified)
    assert entry.outcome.caveat == ""
    (entry,) = verified(source, "i += blockDim.x * gridDim.x", "i += n").entries
    assert isinstance(entry.outcome, Wrong)


def test_both_sides_of_a_condition_in_a_kernel_are_run(migrated):
    (entry,) = migrated(VECTORS).entries
    assert isinstance(entry.outcome, Verified)
    assert "not executed" not in reason(entry.outcome)


@pytest.mark.parametrize("old", ["2.f * v.z", "y[i] = 2.f * x[i]"])
def test_either_side_is_compared(verified, old):
    (entry,) = verified(VECTORS, old, old.replace("2.f", "3.f")).entries
    assert isinstance(entry.outcome, Wrong)


def test_each_type_of_a_dispatch_is_run(migrated):
    (entry,) = migrated(DISPATCHED).entries
    assert isinstance(entry.outcome, Verified)
    assert {"float64", "float16"} <= {workload.name for workload in entry.contract.workloads}
    assert "not executed" not in reason(entry.outcome)


def test_an_error_in_one_type_is_wrong(verified):
    verdict = verified(DISPATCHED, "y[i] = x[i] + x[i];", "y[i] = sizeof(scalar_t) == 2 ? x[i] - x[i] : x[i] + x[i];")
    assert isinstance(verdict.outcome, Wrong)
    assert "float16" in reason(verdict.outcome)


def test_the_instance_of_a_template_that_was_not_called_is_named(verified):
    """What is wrong in a kernel for another type is not seen, and the verdict says that this was not called."""
    source = OVERLOADED + "template void run<__half>(const __half*, __half*, int);\n"
    (entry,) = verified(source, "__hadd(x[i], x[i])", "__hsub(x[i], x[i])").entries
    assert isinstance(entry.outcome, Verified)
    assert "not executed by any workload: op.cu:11: `run<__half>` is never called" in reason(entry.outcome)


def test_the_one_instance_that_a_source_asks_for_is_the_whole(migrated):
    (entry,) = migrated(OVERLOADED).entries
    assert isinstance(entry.outcome, Verified)
    assert "not executed" not in reason(entry.outcome)


def test_an_instance_that_porter_chose_is_named(migrated):
    (entry,) = migrated(UNNAMED).entries
    assert "`twice other than twice<float, 256>` is never launched" in reason(entry.outcome)


def test_operands_that_never_decided_are_named_and_no_others(migrated):
    (entry,) = migrated(DECIDED).entries
    assert isinstance(entry.outcome, Verified)
    assert "op.cu:5: `x[i] < 1e30f` is never false" in reason(entry.outcome)
    assert "op.cu:4: `x[min(i, n - 1)] < -1e30f` is never true" in reason(entry.outcome)
    assert reason(entry.outcome).count("is never") == 2


def test_where_no_branch_can_be_counted_the_verdict_says_so(migrated):
    source = """
    template <bool wide> __global__ void twice(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = x[i] + x[i];
    }
    constexpr int N = 4;
    void run(const float* x, float* y, int n) {
        auto chosen = twice<(N > 4) ? true : false>;
        chosen<<<(n + 255) / 256, 256>>>(x, y, n);
    }
    """
    (entry,) = migrated(source).entries
    assert isinstance(entry.outcome, Verified)
    assert "it is not known which branches were executed" in reason(entry.outcome)


def test_outputs_that_no_input_changes_prove_nothing(migrated):
    (entry,) = migrated(IDLE).entries
    assert isinstance(entry.outcome, NotVerified)
    assert "no output depends on the inputs" in reason(entry.outcome)


def test_what_has_no_inputs_proves_what_it_writes(migrated):
    kernel = """
    __global__ void fill(float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = 3.f;
    }
    void run(float* y, int n) { fill<<<(n + 255) / 256, 256>>>(y, n); }
    """
    (entry,) = migrated(kernel).entries
    assert isinstance(entry.outcome, Verified)


def test_an_original_that_changes_nothing_proves_nothing(migrated):
    (entry,) = migrated("__global__ void blur(unsigned char* to, unsigned char* from, int width) {}").entries
    assert isinstance(entry.outcome, NotVerified)
    assert "the original changes nothing in any workload" in reason(entry.outcome)
