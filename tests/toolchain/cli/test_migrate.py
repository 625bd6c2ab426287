"""`porter migrate` from the outside: exit codes, output, files."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
KEYS = {
    *("source", "target", "outcome", "fidelity", "because", "warp_sizes", "entries"),
    *("workloads", "findings", "outputs", "timing", "baseline", "speedup", "times", "device", "seconds", "stages"),
    "written_by",
    "follows",
}

SUM = """\
__global__ void block_sum(const float* x, float* y) {
    __shared__ float partial[32];
    float v = x[blockIdx.x * 256 + threadIdx.x];
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; ++warp) v += partial[warp];
        y[blockIdx.x] = v;
    }
}

void launch_block_sum(const float* x, float* y, int blocks) { block_sum<<<blocks, 256>>>(x, y); }
"""


def test_a_maca_port_is_written_from_what_the_source_computes(porter, tmp_path):
    shutil.copy(EXAMPLES / "softmax.cu", tmp_path)
    sizes = ("--size", "input_size0=5", "--size", "input_size1=300")
    done = porter("migrate", "softmax.cu", "--target", "maca", "--follow", "formula", *sizes, "--json")
    assert (done.code, done.document["outcome"]) == (0, "verified"), done.stdout
    assert done.document["warp_sizes"] == [64, 32]
    (port,) = (tmp_path / "porter-out").glob("*.maca.c*")
    assert "scheduled by porter" in port.read_text()
    assert done.document["follows"]["what"] == "formula"


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.cu")), ids=lambda path: path.stem)
def test_every_example_is_verified_at_both_widths(porter, tmp_path, example):
    shutil.copy(example, tmp_path)
    done = porter("migrate", example.name, "--target", "maca", "--json")
    assert (done.code, done.stderr) == (0, ""), done.stdout
    document = done.document
    assert document.keys() == KEYS
    assert (document["outcome"], document["fidelity"], document["speedup"]) == ("verified", "emulated", None)
    assert set(document["warp_sizes"]) == {32, 64}
    assert document["workloads"]
    assert all(workload["passed"] for workload in document["workloads"])
    assert {finding["code"] for finding in document["findings"]} >= {"PORT1002", "PORT1003"}
    assert all((tmp_path / path).is_file() for path in document["outputs"])
    assert json.loads((tmp_path / "porter-out" / f"{example.stem}.maca.report.json").read_text()) == document


def test_people_are_told_in_plain_text_what_was_found_and_what_it_means(porter, write):
    done = porter("migrate", write("sum.cu", SUM), "--target", "maca", "--diff", "--verbose")
    assert done.code == 0
    assert re.fullmatch(r"(\[\d+ s\] .*\n)*", done.stderr)  # what is being done, where it takes long
    assert "\x1b" not in done.stdout
    assert "+++ sum.maca" in done.stdout
    assert re.search(r"^sum\.cu:4:\d+: warning: .*\[PORT1003\]$", done.stdout, re.MULTILINE)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("verified: sum.cu for maca")
    assert "emulated, 64 and 32 lanes on the CPU; no speed was measured" in last


def test_the_drafted_contract_can_be_passed_back(porter, write, tmp_path):
    write("sum.cu", SUM)
    assert porter("migrate", "sum.cu", "--target", "maca").code == 0
    contract = tmp_path / "porter-out" / "sum.contract.toml"
    kept = contract.read_text()
    done = porter("migrate", "sum.cu", "--target", "maca", "--contract", contract, "--json")
    assert done.code == 0, done.stdout
    assert contract.read_text() == kept
    assert str(contract) not in done.document["outputs"]


def test_a_directory_gives_one_document_with_a_migration_each(porter, write, tmp_path):
    write("ops/sum.cu", SUM)
    write("ops/broken/empty.cu", "")
    done = porter("migrate", "ops", "--target", "maca", "--json")
    assert done.code == 1
    broken, good = done.document["migrations"]
    assert (broken["source"], broken["error"]["exit_code"]) == ("ops/broken/empty.cu", 2)
    assert (good["source"], good["outcome"]) == ("ops/sum.cu", "verified")
    assert (tmp_path / "porter-out" / "sum.maca.report.md").is_file()
    text = porter("migrate", "ops", "--target", "maca")
    assert text.code == 1
    assert text.stdout.splitlines()[-1] == "1 of 2 verified"


def has_children(pid):
    """Whether the process has started another one: it is at work then."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended since
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                return True
    return False


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_run_and_leaves_no_output(write, tmp_path, cache):
    endless = SUM.replace("__syncthreads();", "volatile int go = 1; while (go) {}")
    write("sum.cu", endless)
    process = subprocess.Popen(
        [sys.executable, "-m", "porter", "migrate", "sum.cu", "--target", "maca"],
        cwd=tmp_path,
        env={**os.environ, "PORTER_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not has_children(process.pid):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert (process.returncode, stdout) == (130, "")
    assert stderr.startswith("error: interrupted\n  hint: the same command begins again")
    assert not (tmp_path / "porter-out").exists()


LOCKSTEP = """\
__device__ void tail(volatile float* s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

__global__ void total(const float* x, float* y) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) tail(s, t);
    if (t == 0) y[blockIdx.x] = s[0];
}

void totals(const float* x, float* y, int blocks) { total<<<blocks, 128>>>(x, y); }
"""


@pytest.mark.parametrize("apart", ["", "__global__", "void totals"], ids=["one file", "tail apart", "kernel apart"])
def test_lanes_trusted_to_run_in_lockstep_get_the_barriers_that_takes_and_the_verdict_says_so(porter, write, apart):
    at = LOCKSTEP.index(apart)
    write("part.cuh", "#pragma once\n" + LOCKSTEP[:at])
    name = write("total.cu", '#include "part.cuh"\n' + LOCKSTEP[at:])
    done = porter("migrate", name, "--target", "maca", "--json")
    assert (done.code, done.document["outcome"]) == (0, "verified"), done.stdout
    assert "lockstep" in done.document["entries"][0]["because"]
    assert "PORT1006" in {finding["code"] for finding in done.document["findings"]}


def test_an_original_that_trusts_in_lockstep_is_a_reference_for_triton_too(porter, write):
    done = porter("migrate", write("total.cu", LOCKSTEP), "--target", "triton", "--size", "blocks=3", "--json")
    assert (done.code, done.document["outcome"]) == (0, "verified"), done.stdout
    assert "lockstep" in done.document["entries"][0]["because"]
