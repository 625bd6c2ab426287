"""Speed of the executor: barriers, threads, builds. Writes benchmarks/results/simt_speed.json.

python benchmarks/simt_speed.py [CACHE]
"""

from __future__ import annotations

import json
import platform
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.dialect import CUDA
from porter.execution.job import BuildRequest, Callee, Executable, Job, ScalarValue, TensorValue
from porter.simt.build import build, prepare_executor, prepare_header
from porter.simt.compiler import compiler
from porter.simt.run import run
from porter.source_text import Source

KERNELS = """
__global__ void barriers(int* out, int rounds) {
    for (int i = 0; i < rounds; ++i) __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = rounds;
}
__global__ void shuffles(int* out, int rounds) {
    int v = threadIdx.x;
    for (int i = 0; i < rounds; ++i) v = __shfl_xor_sync(0xffffffff, v, 1);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
__global__ void elementwise(int* out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rounds) out[i] = i * 3;
}
"""
ROUNDS = 40_000
BLOCKS = 16384


def request(kernel: str, watched: bool, salt: str = "") -> BuildRequest:
    source = Source(Path("speed.cu"), KERNELS + salt)
    return BuildRequest(source, (), CUDA, (Callee(Entry(EntryKind.KERNEL, kernel)),), 32, watched=watched)


def seconds(built: Executable, job: Job, repeats: int = 3) -> float:
    """Processor time of the child, the least of several runs: a busy machine changes it little."""
    times = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = run(built, job)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert result.finished, result.faults
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def measure(kernel: str, watched: bool, grid: int, rounds: int, cache: Path) -> float:
    """Seconds of a run without those of one that launches a single round: start-up and files cancel."""
    (built,) = build(request(kernel, watched), cache)
    assert isinstance(built, Executable), built.log
    out = TensorValue(DType.INT32, (grid * 256,), np.zeros(grid * 256, np.int32))
    jobs = [Job((out, ScalarValue(n)), grid=(g, 1, 1), block=(256, 1, 1)) for g, n in ((grid, rounds), (1, 1))]
    full, empty = (seconds(built, job) for job in jobs)
    return full - empty


def build_seconds(watched: bool, cache: Path) -> tuple[float, float]:
    """The first build of a machine's shared parts, and a source's build after it."""
    base = request("elementwise", watched)
    started = time.perf_counter()
    prepare_header(base, cache)
    prepare_executor(base, cache)
    parts = time.perf_counter() - started
    times = []
    for i in range(3):
        started = time.perf_counter()
        build(request("elementwise", watched, f"\n// {time.time_ns()} {i}\n"), cache)
        times.append(time.perf_counter() - started)
    return parts, min(times)


def main() -> None:
    found = compiler()
    assert found is not None
    with tempfile.TemporaryDirectory() as scratch:
        cache = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        results: dict[str, object] = {"compiler": found.version, "machine": platform.processor() or platform.machine()}
        for watched in (False, True):
            parts, source = build_seconds(watched, cache)
            name = "watched" if watched else "plain"
            elements = measure("elementwise", watched, BLOCKS, BLOCKS * 256, cache)
            results[name] = {
                "parts_build_s": round(parts, 2),
                "source_build_s": round(source, 2),
                "barrier_of_256_threads_us": round(measure("barriers", watched, 1, ROUNDS, cache) / ROUNDS * 1e6, 2),
                "shuffle_of_256_threads_us": round(measure("shuffles", watched, 1, ROUNDS, cache) / ROUNDS * 1e6, 2),
                "elementwise_million_threads_per_s": round(BLOCKS * 256 / elements / 1e6, 1),
            }
        text = json.dumps(results, indent=2)
        (Path(__file__).parent / "results" / "simt_speed.json").write_text(text + "\n")
        print(text)


if __name__ == "__main__":
    main()
