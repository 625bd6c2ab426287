"""Compare-and-swap loops: reads they begin with, and words around narrower elements, are no faults by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from porter.execution.job import FaultKind

LOOP = """
__device__ {type} add({type}* address, {type} value) {{
    {word}* p = ({word}*)address;
    {word} old = *p, assumed;
    do {{
        assumed = old;
        {type} sum;
        memcpy(&sum, &assumed, sizeof sum);
        sum += value;
        memcpy(&old, &sum, sizeof sum);
        old = atomicCAS(p, assumed, old);
    }} while (assumed != old);
    return value;
}}
__global__ void k({type}* x) {{ add(x + threadIdx.x % 3, ({type})1); }}
"""

# A byte lives in a word of four.
BYTES = """
__global__ void k(unsigned char* x, int n, unsigned spill) {{
    int i = threadIdx.x % n;
    unsigned* word = (unsigned*)((size_t)(x + i) / 4 * 4);
    int shift = (size_t)(x + i) % 4 * 8;
    unsigned old = *word, assumed;
    do {{
        assumed = old;
        unsigned sum = (old >> shift & 255) + 1;
        old = {swap}
    }} while (assumed != old);
}}
"""
SWAP = "atomicCAS(word, assumed, (old & ~(255u << shift) | sum << shift) + spill);"


def kinds(run):
    return {fault.kind for fault in run.faults}


@pytest.mark.parametrize(("kind", "word"), [("double", "unsigned long long"), ("float", "int")])
def test_the_read_before_a_swap_races_with_nothing(execute, kind, word):
    x = np.zeros(3, np.float64 if kind == "double" else np.float32)
    run = execute(LOOP.format(type=kind, word=word), [x], grid=(4, 1, 1), block=(96, 1, 1))
    assert run.faults == ()
    assert run.outputs[0].storage.tolist() == [128.0] * 3


def test_a_read_that_no_swap_follows_races(execute):
    text = """
    __global__ void k(int* x) {
        int old = *x;
        atomicExch(x, old + 1);
    }"""
    assert kinds(execute(text, [np.zeros(1, np.int32)], block=(64, 1, 1))) == {FaultKind.RACE}


def test_a_swap_that_expects_something_else_excuses_no_read(execute):
    text = """
    __global__ void k(int* x, int* y) {
        y[threadIdx.x] = *x;
        atomicCAS(x, 1000 + threadIdx.x, 7);
    }"""
    run = execute(text, [np.zeros(1, np.int32), np.zeros(64, np.int32)], block=(64, 1, 1))
    assert kinds(run) == {FaultKind.RACE}


def test_a_swap_of_the_word_around_the_last_element_stays_in_bounds(execute):
    run = execute(BYTES.format(swap=SWAP), [np.zeros(5, np.uint8), 5, 0], block=(100, 1, 1))
    assert run.faults == ()
    assert run.outputs[0].storage.tolist() == [20] * 5


def test_a_swap_that_changes_what_lies_behind_the_last_element_does_not(execute):
    run = execute(BYTES.format(swap=SWAP), [np.zeros(5, np.uint8), 5, 1 << 16], block=(1, 1, 1))
    assert run.faults == ()
    run = execute(BYTES.format(swap=SWAP), [np.zeros(5, np.uint8), 5, 1 << 16], block=(5, 1, 1))
    assert FaultKind.OUT_OF_BOUNDS in kinds(run)


def test_a_read_of_the_word_around_the_last_element_alone_is_out_of_bounds(execute):
    text = "__global__ void k(unsigned char* x) { x[0] = *(unsigned*)(x + 4) & 255; }"
    assert kinds(execute(text, [np.zeros(5, np.uint8)])) == {FaultKind.OUT_OF_BOUNDS}
