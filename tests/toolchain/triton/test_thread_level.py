"""Kernels printed from the SIMT IR compute what the IR's interpreter does."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

PROGRAMS = 120


def test_random_programs_give_the_results_of_the_interpreter(tmp_path):
    script = Path(__file__).with_name("thread_level_programs.py")
    root = Path(__file__).parents[3]
    child = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), str(PROGRAMS), str(tmp_path)],
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    assert json.loads(child.stdout) == {}


SOURCE = """
struct Steps { int by[2]; float scale[1][2]; };
__global__ void moved(float* y, const float* x, Steps s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * s.scale[0][1] + s.by[threadIdx.x % 2];
}
struct Edge { int to; float weight; };
__global__ void weigh(const Edge* edges, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + edges[i].to, edges[i].weight);
}
__global__ void put(float* x, const float* y, float* before, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) before[i] = atomicExch(x + i, y[i] * 2.0f);
  if (i < n) atomicExch(x + n, -0.5f);
}
void put_all(float* x, const float* y, float* before, int n) { put<<<(n + 31) / 32, 32>>>(x, y, before, n); }
void weigh_all(const Edge* edges, float* out, int n) { weigh<<<(n + 31) / 32, 32>>>(edges, out, n); }
void move(float* y, const float* x, Steps s, int n) { moved<<<(n + 31) / 32, 32>>>(y, x, s, n); }
"""


def test_what_the_lowering_refuses_is_ported_thread_by_thread(ported):
    x = np.arange(70, dtype=np.float32)
    done = ported("move", np.zeros_like(x), x, 3, -8, 0.5, 2.0, len(x))
    assert np.array_equal(done.outputs[0].storage, x * 2 + np.where(np.arange(70) % 2, -8, 3))


def test_an_array_of_structs_is_read_by_its_bytes(ported):
    edges = np.empty((50, 2), np.int32)
    edges[:, 0] = np.arange(50) % 7
    edges[:, 1] = np.arange(50, dtype=np.float32).view(np.int32)
    done = ported("weigh_all", edges, np.zeros(7, np.float32), 50)
    expected = [sum(range(to, 50, 7)) for to in range(7)]
    assert done.outputs[1].storage.tolist() == expected


def test_floats_are_exchanged(ported):
    x, y = np.arange(71, dtype=np.float32) - 3.25, np.arange(70, dtype=np.float32) + 0.5
    done = ported("put_all", x, y, np.zeros_like(y), 70)
    assert np.array_equal(done.outputs[0].storage, np.append(2 * y, np.float32(-0.5)))
    assert np.array_equal(done.outputs[2].storage, x[:70])
