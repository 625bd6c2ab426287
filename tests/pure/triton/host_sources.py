"""Host functions to translate: a text in C++, and the launcher in Python."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.read import read_unit
from porter_triton.host import Hosts
from porter_triton.kernels import Kernels

KERNEL = """
template <typename T> __global__ void scale(T* y, const T* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * a;
}
__global__ void add(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
"""


def translated(text: str, name: str = "f") -> str:
    """All launchers that `f` needs, in order."""
    program = parse(Source(Path("op.cu"), KERNEL + dedent(text)))
    unit = read_unit(program)
    hosts = Hosts(program, unit, Kernels(unit))
    hosts.named(name)
    return "\n\n".join(hosts.texts())


def body(text: str) -> str:
    """The body of `f(float* y, const float* x, int n)` around `text`, without head and comment."""
    head = "void f(float* y, float* x, int n, int m) {\n"
    lines = translated(f"{head}{text}\n}}").split("\n")
    return dedent("\n".join(lines[2:]))
