"""`porter verify`: an edited port held to its original."""

import shutil
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "rmsnorm.cu"
SIZES = ("--size", "rows=5", "--size", "columns=300")  # drafted ones take three times as long


@pytest.fixture
def port(porter, tmp_path):
    """The example's port as porter writes it, not proven."""
    shutil.copy(EXAMPLE, tmp_path)
    (file,) = porter("inspect", "rmsnorm.cu", "--as", "candidate", "--target", "maca", "--json").document["candidate"]
    path = tmp_path / file["name"]
    path.write_text(file["text"])
    return path


def test_a_port_is_verified_as_it_stands_and_nothing_is_written(porter, port, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    done = porter("verify", port, "--against", "rmsnorm.cu", "--seed", "7", "--json")
    assert (done.code, done.document["outcome"], done.document["seed"]) == (0, "verified", 7)
    assert {"ties", "infinite", "one row"} <= {workload["name"] for workload in done.document["workloads"]}
    assert set(done.document["warp_sizes"]) == {32, 64}
    assert sorted(tmp_path.rglob("*")) == before


def test_an_edit_that_changes_the_answer_is_found(porter, port):
    text = port.read_text()
    assert text.count("total / columns") == 1
    port.write_text(text.replace("total / columns", "total / (columns + 1)"))
    done = porter("verify", port, "--against", "rmsnorm.cu", *SIZES, "--json")
    assert (done.code, done.document["outcome"]) == (1, "wrong")
    assert not all(workload["passed"] for workload in done.document["workloads"])


def test_the_plain_rename_does_not_hold(porter, tmp_path):
    shutil.copy(EXAMPLE, tmp_path)
    renamed = EXAMPLE.read_text().replace("cuda_fp16.h", "maca_fp16.h").replace("cuda_runtime.h", "mc_runtime.h")
    (tmp_path / "renamed.maca.cpp").write_text(renamed.replace("cudaStream_t", "mcStream_t"))
    done = porter("verify", "renamed.maca.cpp", "--against", "rmsnorm.cu", *SIZES, "--json")
    assert (done.code, done.document["outcome"]) in ((1, "wrong"), (1, "crashed"))


ADD = """\
#include <cuda_runtime.h>
// Adds; cudaMalloc is only named.
__global__ void add(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + 1.0f;
}
extern "C" void launch_add(const float* a, float* c, int n, cudaStream_t stream) {
    const char* const cudaName = "cudaLaunchKernel";
    if (cudaName != nullptr) add<<<(n + 255) / 256, 256, 0, stream>>>(a, c, n);
}
"""


def test_cuda_is_no_candidate_for_maca(porter, write):
    write("add.cu", ADD)
    ported = ADD.replace("<cuda_runtime.h>", "<mc_runtime.h>").replace("cudaStream_t", "mcStream_t")
    write("unported.cu", ADD)
    write("type.cpp", ported.replace("mcStream_t", "cudaStream_t"))
    write("header.cpp", ported.replace("<mc_runtime.h>", "<mc_runtime.h>\n#include <cuda_runtime.h>"))
    write("ported.cpp", ported)
    command = ("--against", "add.cu", "--target", "maca", "--json")
    for candidate in ("unported.cu", "type.cpp", "header.cpp"):
        done = porter("verify", candidate, *command)
        assert (done.code, done.document["outcome"]) == (1, "refused")
        assert {rule["id"] for rule in done.document["rules"]} == {"PORT1191"}
    done = porter("verify", "ported.cpp", *command)
    assert (done.code, done.document["outcome"]) == (0, "verified")


REMEMBERING = """\
__device__ float bias = 0.0f;
__global__ void shift(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + bias;
}
__global__ void bump() { bias += 1.0f; }
void shifted(const float* x, float* y, int n) {
    shift<<<(n + 127) / 128, 128>>>(x, y, n);
    bump<<<1, 1>>>();
}
"""


def test_what_the_original_keeps_between_calls_its_port_may_keep_and_no_other(porter, write):
    write("count.cu", REMEMBERING)
    write("pure.cu", REMEMBERING.replace("bias += 1.0f", "bias = 0.0f"))
    write("port.maca.cpp", "#include <mc_runtime.h>\n" + REMEMBERING)
    done = porter("verify", "port.maca.cpp", "--against", "count.cu", "--json")
    assert (done.code, done.document["outcome"]) == (0, "verified")
    done = porter("verify", "port.maca.cpp", "--against", "pure.cu", "--json")
    assert (done.code, done.document["outcome"], done.document["rules"][0]["id"]) == (1, "refused", "PORT6004")


def test_an_edit_that_does_not_compile_is_shown_at_its_line(porter, port):
    lines = port.read_text().splitlines()
    port.write_text("\n".join([*lines, "int broken = ;"]))
    done = porter("verify", port, "--against", "rmsnorm.cu", *SIZES)
    assert done.code == 1
    assert f"{port.name}:{len(lines) + 1}" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(f"not built: {port.name} for maca")


def test_a_candidate_that_is_not_there_is_named(porter, tmp_path):
    shutil.copy(EXAMPLE, tmp_path)
    done = porter("verify", "gone.maca.cpp", "--against", "rmsnorm.cu")
    assert (done.code, done.stdout) == (2, "")
    assert "gone.maca.cpp: no such file" in done.stderr
