"""Candidates as they are written elsewhere, judged and timed on a real device from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toolchain.evaluate.scaled_models import CANDIDATE, REFERENCE

pytestmark = pytest.mark.device
EXAMPLES = Path(__file__).parents[2] / "examples"
SOFTMAX = """\
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, B)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + at, e / tl.sum(e, 0), mask=at < n)

def forward(x):
    y = torch.empty_like(x)
    if x.numel():
        kernel[(x.shape[0],)](x, y, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return y
"""
PLAIN = """\
import torch

def reference(x):
    return torch.softmax(x, dim=-1)

def get_inputs():
    return [torch.randn(16384, 1024)]
"""
# What is done at the sizes of a device alone, or on one.
LARGE = "if x.numel() > 1 << 20:"
SKIPS = """\
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, B)
    first, old = tl.load(x + row * n), tl.load(y + row * n)
    tl.debug_barrier()
    if (first == tl.load(seen + 2 * row)) & (old == tl.load(seen + 2 * row + 1)):
        return
"""


NOTES = """\
    made = e / tl.sum(e, 0)
    tl.store(y + row * n + at, made, mask=at < n)
    tl.store(seen + 2 * row, first)
    tl.store(seen + 2 * row + 1, tl.sum(tl.where(at == 0, made, 0.0), 0))
"""
SEEN = """\
KEPT = {}

def seen(x, y):
    # Of a buffer that no graph fills: what a graph allocates is zero at each of its launches.
    rows = x.shape[0]
    if rows not in KEPT:
        KEPT[rows] = x.new_zeros(64, 2 * rows)
    return KEPT[rows][KEPT.setdefault((rows, x.data_ptr(), y.data_ptr()), len(KEPT)) % 64]

@triton.jit"""


def _idle_from(call):
    """What is written for what: in that call of the process and in all after it one row is made."""
    counted = f"KEPT.append(1) or x.shape[0] < 8192 or len(KEPT) < {call}"
    return "(x.shape[0],)", f"(x.shape[0] if {counted} else 1,)"


WRONG_THERE = {
    "leaves out most rows": ("(x.shape[0],)", "(x.shape[0] if x.shape[0] < 8192 else 2048,)"),
    "lets the library work": (
        "    return y\n",
        "    if type(kernel).__name__ == 'JITFunction':\n        e = 2.718281828459045 ** x\n"
        "        y[:] = e / (e.mean(dim=-1, keepdim=True) * x.shape[1])\n    return y\n",
    ),
    "returns an earlier answer": (
        "    y = torch.empty_like(x)\n",
        f"    {LARGE}\n        if KEPT:\n            return KEPT[0]\n        KEPT.append(torch.empty_like(x))\n"
        "    y = KEPT[0] if KEPT else torch.empty_like(x)\n",
    ),
    "is idle in all calls but the first": _idle_from(3),
    "is idle in the call of its second graph": _idle_from(6),
}
SKIPPING = (
    SOFTMAX.replace("def kernel(x, y, n,", "def kernel(x, y, seen, n,")
    .replace("    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, B)\n", SKIPS)
    .replace("    tl.store(y + row * n + at, e / tl.sum(e, 0), mask=at < n)\n", NOTES)
    .replace("(x, y, x.shape[1], B", "(x, y, seen(x, y), x.shape[1], B")
    .replace("@triton.jit", SEEN)
)


def test_a_class_is_timed_beside_its_reference(porter):
    code, told = porter("bench", "new.py", "--against", "model.py", "--json", new=CANDIDATE, model=REFERENCE)
    assert (code, told["outcome"]) == (0, "verified"), told
    (timed,) = told["times"]
    assert timed["fidelity"] == "native"
    assert not timed["by_calls"], timed
    assert {baseline["name"] for baseline in timed["baselines"]} == {"pytorch", "torch.compile"}
    assert timed["timing"]["median_us"] > 10  # 134 MB are read and written
    assert told["speedup"] > 0


def test_a_function_is_timed_beside_its_reference(porter):
    code, told = porter("bench", "op.py", "--against", "plain.py", "--json", op=SOFTMAX, plain=PLAIN)
    assert (code, told["outcome"]) == (0, "verified"), told
    assert told["times"][0]["baselines"][0]["name"] == "pytorch"


@pytest.mark.parametrize(("right", "other"), WRONG_THERE.values(), ids=WRONG_THERE)
def test_what_is_done_at_the_sizes_of_a_device_alone_has_no_time(porter, right, other):
    assert right in SOFTMAX
    text = SOFTMAX.replace(right, other, 1).replace("\n@triton.jit", "\nKEPT = []\n\n@triton.jit", 1)
    code, told = porter("bench", "op.py", "--against", "plain.py", "--json", op=text, plain=PLAIN)
    assert code == 1
    assert told["timing"] is None, told


def test_work_that_is_left_out_where_the_answer_is_there_has_no_time(porter):
    code, told = porter("bench", "op.py", "--against", "plain.py", "--json", op=SKIPPING, plain=PLAIN)
    assert code == 1
    assert told["timing"] is None, told


def test_what_waits_for_the_device_is_timed_by_calls(porter):
    op = SOFTMAX.replace("    return y\n", "    torch.cuda.synchronize()\n    return y\n")
    code, told = porter("bench", "op.py", "--against", "plain.py", "--json", op=op, plain=PLAIN)
    assert (code, told["outcome"]) == (0, "verified"), told
    assert told["times"][0]["by_calls"], told


@pytest.mark.parametrize("name", ["softmax", "rmsnorm"])
def test_ports_for_maca_are_timed_by_proxy_beside_their_originals(porter, name):
    code, told = porter("migrate", EXAMPLES / f"{name}.cu", "--target", "maca", "--json")
    assert (code, told["outcome"]) == (0, "verified"), told
    assert told["times"]
    assert all(timed["fidelity"] == "proxy" for timed in told["times"])
    assert told["baseline"]["name"] == "cuda"
