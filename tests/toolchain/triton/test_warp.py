"""Shuffles, votes and reductions of warps, wide accesses and ordered sums against loops over threads."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.toolchain.triton import warp_kernels

_TARGETS = (GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("warp") / "results.npz"
    script = Path(__file__).parent / "warp_kernels.py"
    done = subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return np.load(path)


def _source(kind, lane, operand, width):
    """The lane that a lane of a warp reads, by the letter of CUDA's manual; None where it keeps its own value."""
    first = lane - lane % width
    found = {"": first + operand % width, "up": lane - operand, "down": lane + operand, "xor": lane ^ operand}[kind]
    low = 0 if kind == "xor" else first
    return found if low <= found < first + width else None


@pytest.mark.parametrize(
    ("threads", "width"), [(t, w) for t in warp_kernels.SIZES for w in warp_kernels.WIDTHS if w <= t]
)
def test_shuffles_read_the_lanes_that_cuda_names(results, threads, width):
    values, operands, _ = warp_kernels.inputs(threads)
    found = results[f"shuffles_{threads}_{width}"].reshape(5, threads)
    for row, kind in enumerate(("", "up", "down", "xor", "xor")):
        for thread in range(threads):
            base, lane = thread - thread % 32, thread % 32
            source = _source(kind, lane, 1 if row == 4 else int(operands[thread]), width)
            exists = source is not None and base + source < threads
            assert found[row, thread] == values[base + source if exists else thread], (kind, thread)


@pytest.mark.parametrize("threads", warp_kernels.SIZES)
def test_votes_and_reductions_ask_the_active_lanes(results, threads):
    values, _, active = warp_kernels.inputs(threads)
    found = results[f"votes_{threads}"].reshape(6, threads)
    for thread in range(threads):
        warp = range(thread - thread % 32, min(thread - thread % 32 + 32, threads))
        taking = [t for t in warp if active[t] and t % 32 != 31]
        if not taking:
            continue
        held = values[taking].astype(np.int64)
        bits = [(t % 32, int(values[t])) for t in taking]
        expected = [
            sum(1 << lane for lane, value in bits if value > 0),
            any(held > 0),
            all(held > 0),
            held.sum(),
            held.max(),
            held.min(),
        ]
        assert list(found[:, thread]) == expected


@pytest.mark.parametrize("threads", warp_kernels.SIZES)
def test_wide_accesses_take_neighbours_in_order(results, threads):
    held = np.arange(4.0 * threads).reshape(threads, 4)
    held[1] = 0
    expected = held[:, ::-1].copy()
    expected[2] = -1
    pairs = np.arange(2.0 * threads).reshape(threads, 2)
    pairs[1] = 0
    twos = pairs[:, ::-1].copy()
    twos[2] = -1
    assert np.array_equal(results[f"wide_{threads}"], np.concatenate([expected.ravel(), twos.ravel()]))
    eights = np.arange(8 * threads, dtype=np.float16).reshape(threads, 8)
    assert np.array_equal(results[f"eights_{threads}"], eights[:, ::-1].ravel())


def _compiled(kernel, signature, constants, target, attrs=None):
    return triton.compile(ASTSource(kernel, signature, constants, attrs), target=target)


@pytest.mark.parametrize("target", _TARGETS, ids=lambda t: str(t.arch))
def test_warp_helpers_compile(target):
    of = {"values": "*i32", "operands": "*i32", "out": "*i32", "width": "constexpr", "threads": "constexpr"}
    _compiled(warp_kernels.shuffles, of, {"width": 32, "threads": 256}, target)
    of = {"values": "*i32", "actives": "*i32", "out": "*i64", "threads": "constexpr"}
    _compiled(warp_kernels.votes, of, {"threads": 64}, target)


@pytest.mark.parametrize(("kernel", "element"), [(warp_kernels.wide, "*fp32"), (warp_kernels.reversed_eights, "*fp16")])
def test_sixteen_bytes_of_neighbours_are_one_access_on_sm_90(kernel, element):
    aligned = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}
    of = {"values": element, "out": element, "threads": "constexpr"}
    ptx = _compiled(kernel, of, {"threads": 128}, _TARGETS[0], aligned).asm["ptx"]
    assert re.findall(r"ld\.global\.v4", ptx)
    assert re.findall(r"st\.global\.v4", ptx)
    assert "bar.sync" not in ptx
