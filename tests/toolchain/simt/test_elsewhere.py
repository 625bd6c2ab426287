"""A source is one file of a program: what its entry does not reach may be defined in another."""

from __future__ import annotations

import numpy as np

from porter.contract.contract import EntryKind


def test_what_the_entry_does_not_reach_may_be_defined_elsewhere(execute):
    text = """
    void other_file(int* x);
    void unused(int* x) { other_file(x); }
    __global__ void k(int* x) { x[threadIdx.x] = 7; }
    void f(int* x) { k<<<1, 2>>>(x); }"""
    run = execute(text, [np.zeros(2, np.int32)], name="f", kind=EntryKind.POINTER)
    assert run.faults == ()
    assert run.outputs[0].storage.tolist() == [7, 7]
