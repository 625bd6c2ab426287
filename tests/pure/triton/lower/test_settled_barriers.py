"""Barriers stand between accesses to memory, one at a place."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter_triton.lower.barriers import settle_barriers
from porter_triton.lower.emit import Branch, Line, Loop, Suite
from porter_triton.lower.independent import BARRIER
from porter_triton.port import port


def made(text: str) -> Suite:
    """`b` a barrier, `s` a store, `l` a load, `x` arithmetic, `( )` a loop, `[ ]` a branch with one side."""
    nodes = {
        "b": lambda: Line(BARRIER, effect=True),
        "s": lambda: Line("tl.store(p, v)", effect=True),
        "l": lambda: Line("tl.load(p)", "v", loads=True),
        "x": lambda: Line("v + 1", "w"),
    }
    stack = [Suite()]
    for letter in text:
        if letter in "([":
            stack.append(Suite())
        elif letter in ")]":
            body = stack.pop()
            inner = Loop("", "while v:", body) if letter == ")" else Branch("v", "not v", body, Suite())
            stack[-1].nodes.append(inner)
        else:
            stack[-1].nodes.append(nodes[letter]())
    return stack[0]


def told(suite: Suite) -> str:
    found = ""
    for node in suite.nodes:
        if isinstance(node, Loop):
            found += f"({told(node.body)})"
        elif isinstance(node, Branch):
            found += f"[{told(node.yes)}]"
        else:
            assert isinstance(node, Line)
            found += "b" if node.text == BARRIER else node.text[3:4] if node.text.startswith("tl.") else "x"
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bsblb", "sbl"),
        ("sbxbbl", "sbxl"),
        ("b(sb)l", "(sb)l"),
        ("xb(lbs)b", "x(lbs)"),
        ("s(xb)l", "s(xb)l"),
        ("(xb)l", "(x)l"),
        ("sb[l]bs", "sb[l]bs"),
        ("s[b]bl", "s[b]bl"),
        ("[s]bxb[x]b", "[s]x[x]"),
        ("sb(bx)bl", "sb(x)l"),
    ],
)
def test_what_orders_nothing_goes(before, after):
    suite = made(before)
    settle_barriers(suite)
    assert told(suite) == after


def test_a_row_that_is_written_and_read_again_has_one_barrier_between():
    kernel = """__global__ void k(float* x, const float* w, int n) {
      float sum = 0;
      for (int i = threadIdx.x; i < n; i += 128) { x[i] *= 2; sum += x[i]; }
      __shared__ float total;
      if (threadIdx.x == 0) total = n;
      __syncthreads();
      for (int i = threadIdx.x; i < n; i += 128) x[i] = x[i] / total + w[i] + sum;
    }
    void f(float* x, const float* w, int n) { k<<<1, 128>>>(x, w, n); }"""
    text = port(parse(Source(Path("op.cu"), kernel)), ()).files[0].text
    assert text.count(BARRIER) == 1
