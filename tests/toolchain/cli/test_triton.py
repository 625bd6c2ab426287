"""`porter migrate --target triton` and `porter verify` from the outside."""

import json
import shutil
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "rmsnorm.cu"
SIZES = ("--size", "rows=5", "--size", "columns=300")  # drafted ones take three times as long


def test_a_source_becomes_a_module_that_was_executed_and_compiled(porter, tmp_path):
    shutil.copy(EXAMPLE, tmp_path)
    done = porter("migrate", "rmsnorm.cu", "--target", "triton", *SIZES[2:], "--json")
    assert (done.code, done.stderr) == (0, ""), done.stdout
    document = done.document
    assert (document["outcome"], document["fidelity"], document["warp_sizes"]) == ("verified", "emulated", [])
    (entry,) = document["entries"]
    assert (entry["name"], entry["compiled_for"]) == ("rmsnorm_fp16", ["sm_90", "gfx942"])
    assert document["workloads"]
    assert all(workload["passed"] for workload in document["workloads"])
    assert (tmp_path / "porter-out" / "rmsnorm_triton.py").is_file()
    assert json.loads((tmp_path / "porter-out" / "rmsnorm.triton.report.json").read_text()) == document


@pytest.fixture
def module(porter, tmp_path):
    """The example's module, not proven."""
    shutil.copy(EXAMPLE, tmp_path)
    (file,) = porter("inspect", "rmsnorm.cu", "--as", "candidate", "--target", "triton", "--json").document["candidate"]
    path = tmp_path / file["name"]
    path.write_text(file["text"])
    return path


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("div_rn(total, columns", "div_rn(total, (columns + 1)", "wrong"),
        ("def rmsnorm_fp16(", "def rmsnorm(", "not_built"),
        ("[(rows,)]", "[(rows + 1,)]", "crashed"),
    ],
)
def test_an_edit_that_breaks_the_module_is_found(module, porter, before, after, outcome):
    text = module.read_text()
    assert text.count(before) == 1
    module.write_text(text.replace(before, after))
    done = porter("verify", module, "--against", "rmsnorm.cu", *SIZES, "--json")
    assert (done.code, done.document["outcome"]) == (1, outcome)


def test_only_what_main_calls_is_compared(porter, write):
    source = write(
        "program.cu",
        "#include <cstdio>\n"
        "__global__ void twice(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2.0f; }\n"
        "int main() {\n"
        "    float* x;\n"
        "    cudaMalloc(&x, 32 * sizeof(float));\n"
        "    cudaMemset(x, 0, 32 * sizeof(float));\n"
        "    twice<<<1, 32>>>(x, 32);\n"
        '    printf("done\\n");\n'
        "}\n",
    )
    done = porter("migrate", source, "--target", "triton", "--json")
    assert done.code == 1, done.stdout
    (entry,) = done.document["entries"]
    assert (entry["name"], entry["kind"], entry["outcome"]) == ("twice", "kernel", "kernels_verified")
    assert "main itself was not ported" in entry["because"]
    asked_for = porter("migrate", source, "--target", "triton", "--kernel", "twice", "--force", "--json")
    assert (asked_for.code, asked_for.document["entries"][0]["outcome"]) == (0, "verified")


def test_a_pointer_that_may_be_null_is_none_in_one_workload(porter, write):
    source = write(
        "act.cu",
        "__global__ void act(const float* x, const float* rest, float* y, int n, bool add) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i >= n) return;\n"
        "    y[i] = add ? x[i] + rest[i] : fmaxf(x[i], 0.f);\n"
        "}\n"
        "void relu(const float* x, const float* rest, float* y, int n) {\n"
        "    act<<<(n + 1023) / 1024, 1024>>>(x, rest, y, n, rest != nullptr);\n"
        "}\n",
    )
    done = porter("migrate", source, "--target", "triton", "--json")
    assert done.code == 0, done.stdout
    assert "rest = 0" in [workload["name"] for workload in done.document["workloads"]]


OF_A_LIBRARY = """\
#include <thrust/sort.h>
#include <thrust/device_ptr.h>
void sort_them(int* x, int n) { thrust::device_ptr<int> p(x); thrust::sort(p, p + n); }
"""


def test_a_source_whose_kernels_a_library_makes_is_refused_and_no_empty_module_is_written(porter, write, tmp_path):
    done = porter("migrate", write("op.cu", OF_A_LIBRARY), "--target", "triton")
    assert done.code == 1
    assert "refused: op.cu for triton sm_90: PORT2007: line 3: only thrust works on the device here: use the" in (
        done.stdout.replace("\n", " ")
    )
    assert not list(tmp_path.rglob("*_triton.py"))


def test_a_module_with_a_kernel_is_written_although_others_are_refused(porter, write, tmp_path):
    text = "__global__ void good(float* x) { x[threadIdx.x] = 1; }\n__global__ void bad(other_t* x) { x->fill(); }\n"
    porter("migrate", write("op.cu", text), "--target", "triton")
    (module,) = tmp_path.rglob("*_triton.py")
    assert "def good" in module.read_text()


def test_an_operator_is_printed_as_a_tensor_program_with_its_verdict(porter, tmp_path):
    shutil.copy(EXAMPLE.with_name("softmax.cu"), tmp_path)
    done = porter("inspect", "softmax.cu", "--as", "tensor", "--json")
    (one,) = done.document["tensor"]
    (program,) = one["programs"]
    assert (done.code, one["outcome"], program["program"]["is"]) == (0, "verified", "TensorProgram")
    assert "out[i, j] = exp(input[i, j] - m[i]) / sum[k < input_size1](exp(input[i, k] - m[i]))" in program["text"]


def test_a_tensor_program_in_plain_text_ends_with_its_verdict(porter, write):
    text = (
        "__global__ void twice(const float* x, float* y, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) y[i] = 2.f * x[i];\n"
        "}\n"
        "void run(const float* x, float* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }\n"
    )
    done = porter("inspect", write("twice.cu", text), "--as", "tensor")
    assert "y[i] = 2 * x[i]" in done.stdout
    assert done.stdout.rstrip().endswith("equal to twice.cu")


def test_a_port_is_written_from_what_the_source_computes(porter, tmp_path):
    shutil.copy(EXAMPLE.with_name("softmax.cu"), tmp_path)
    sizes = ("--size", "input_size0=5", "--size", "input_size1=300")
    done = porter("migrate", "softmax.cu", "--target", "triton", "--follow", "formula", *sizes, "--json")
    assert done.code == 0, done.stdout
    assert (done.document["outcome"], done.document["follows"]["what"]) == ("verified", "formula")
    assert done.document["follows"]["because"] == "a port that follows its kernels was not needed"
    text = (tmp_path / "porter-out" / "softmax_triton.py").read_text()
    assert "scheduled by porter" in text
    (assumed,) = [finding["message"] for finding in done.document["findings"] if finding["code"] == "PORT5003"]
    assert "assumes: " in assumed
    assert "for start in range" in text or "held" in text


def test_what_has_no_formula_follows_the_kernels_and_says_why(porter, tmp_path):
    (tmp_path / "first.cu").write_text(
        "__global__ void first(const float* x, int* found, int n) {\n"
        "    for (int i = 0; i < n; ++i)\n"
        "        if (x[i] > 0.5f) { found[0] = i; return; }\n"
        "    found[0] = n;\n"
        "}\n"
        "void run(const float* x, int* found, int n) { first<<<1, 1>>>(x, found, n); }\n"
    )
    done = porter("migrate", "first.cu", "--target", "triton", "--follow", "formula", "--json")
    assert done.document["follows"]["what"] == "kernels"
    assert "run was not lifted" in done.document["follows"]["because"]
    assert "scheduled by porter" not in (tmp_path / "porter-out" / "first_triton.py").read_text()


def test_a_kernel_by_itself_keeps_its_grid(porter, tmp_path):
    (tmp_path / "twice.cu").write_text(
        "__global__ void twice(const float* x, float* y, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) y[i] = 2 * x[i];\n"
        "}\n"
    )
    done = porter("migrate", "twice.cu", "--target", "triton", "--follow", "formula", "--json")
    assert (done.document["outcome"], done.document["follows"]["what"]) == ("verified", "kernels")
    assert "twice is a kernel by itself, whose caller chooses the grid" in done.document["follows"]["because"]
