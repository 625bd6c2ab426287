"""Shared variables at namespace scope: each block has its own, and they are watched."""

from __future__ import annotations

import numpy as np

from porter.execution.job import FaultKind


def test_a_variable_shared_at_namespace_scope_is_each_blocks_own(execute):
    text = """
    static __shared__ int last[64], count;
    __global__ void k(int* x) {
        if (threadIdx.x == 0) count = blockIdx.x;
        last[threadIdx.x] = threadIdx.x;
        __syncthreads();
        x[blockIdx.x * 64 + threadIdx.x] = last[63 - threadIdx.x] + 100 * count;
        if (x == nullptr) x[0] = last[64];
    }"""
    run = execute(text, [np.zeros(128, np.int32)], grid=(2, 1, 1), block=(64, 1, 1))
    assert run.faults == ()
    assert run.outputs[0].storage[[0, 63, 64, 127]].tolist() == [63, 0, 163, 100]


def test_a_variable_shared_at_namespace_scope_is_watched(execute):
    text = "__shared__ int s[32];\n__global__ void k(int* x) { x[threadIdx.x] = s[threadIdx.x]; }"
    run = execute(text, [np.zeros(32, np.int32)], block=(32, 1, 1))
    assert {fault.kind for fault in run.faults} == {FaultKind.UNINITIALISED}


def test_a_dynamic_array_is_declared_again_in_its_block_and_in_one_within(execute):
    text = """
    __global__ void k(int* x) {
        extern __shared__ int all[];
        all[threadIdx.x] = x[threadIdx.x];
        {
            extern __shared__ char all[];
            if (threadIdx.x == 0) all[0] = 7;
        }
        __syncthreads();
        extern __shared__ int all[];
        x[threadIdx.x] = all[threadIdx.x] + 1;
    }"""
    run = execute(text, [np.zeros(32, np.int32)], block=(32, 1, 1), shared_bytes=128)
    assert run.faults == ()
    assert run.outputs[0].storage[:3].tolist() == [8, 1, 1]
