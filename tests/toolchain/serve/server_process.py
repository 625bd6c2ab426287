"""A real server in a process of its own, and small problems for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from porter.agent.secret import Secret
from porter.evaluate.model.outcome import Fidelity
from porter.evolve.candidate import File
from porter.evolve.scoring.evaluation import EvaluationRequest, Problem, Program, content_of, digest_of
from porter.serve.access import TOKEN
from porter.serve.client import Server

SECRET = "not-a-secret-but-long"
SOURCE = """\
__global__ void scale_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
void scale(const float* x, float* y, int n) { scale_kernel<<<(n + 127) / 128, 128>>>(x, y, n); }
"""
CONTRACT = """\
[[contract]]
name = "scale"
category = "elementwise"
symbols = ["n"]
conditions = []
entry = { kind = "pointer", name = "scale" }
argument = [
    { tensor = "x", role = "in", dtype = "float32", shape = ["n"], values = "normal" },
    { tensor = "y", role = "out", dtype = "float32", shape = ["n"], values = "normal" },
    { scalar = "n", type = "int", value = "n" },
]
workload = [{ name = "odd", sizes = { n = 103 }, seed = 1 }]
tolerance = { float32 = { rtol = 1e-5, atol = 1e-6 } }
"""
PORT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, 2.0 * x, mask=i < n)


def scale(x, y, n):
    scale_kernel[(triton.cdiv(n, 128),)](x, y, n, BLOCK=128)
"""


def program(text: str) -> Program:
    return Program((File("scale_triton.py", text),))


PROBLEM = Problem("scale.cu", (File("scale.cu", SOURCE),), CONTRACT, "triton", "", (), "", True, program(PORT), 20.0)


def request(candidate: str, problem: Problem = PROBLEM, **changed: object) -> EvaluationRequest:
    """A question about a program with the text `candidate`."""
    named = {"problem": digest_of(content_of(problem)), "candidate": digest_of(content_of(program(candidate)))}
    asked = {"seed": 7, "fidelity": Fidelity.EMULATED, "deadline_s": 300.0}
    return EvaluationRequest(**{**named, **asked, **changed})


@dataclass
class ServerProcess:
    """`porter serve` on a free port of this machine, with its state in a folder."""

    process: subprocess.Popen[str]
    url: str
    state: Path = Path()

    @classmethod
    def begin(cls, state: Path, *words: str) -> ServerProcess:
        process = subprocess.Popen(
            [sys.executable, "-m", "porter", "serve", "--port", "0", "--state", str(state), *words],
            env={**os.environ, TOKEN: SECRET},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        line = process.stdout.readline()
        assert line.startswith("serving on "), line
        return cls(process, line.split()[-1], state)

    @property
    def client(self) -> Server:
        return Server(self.url, Secret(SECRET))

    def kill(self) -> None:
        """As a machine that loses its power does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
