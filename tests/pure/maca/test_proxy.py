"""MACA's names read backwards: what a proxy compiles under CUDA's."""

from __future__ import annotations

import pytest

from porter_maca.api import api_table
from porter_maca.proxy import Backwards, proxy_headers


@pytest.fixture(scope="module")
def table() -> Backwards:
    return Backwards(api_table())


@pytest.mark.parametrize(
    ("maca", "cuda"),
    [
        ("mcMalloc", "cudaMalloc"),
        ("mcDeviceSynchronize", "cudaDeviceSynchronize"),
        ("mcDeviceProp_t", "cudaDeviceProp"),
        ("mcStream_t", "cudaStream_t"),
        ("mcSuccess", "cudaSuccess"),
        ("__maca_bfloat16", "__nv_bfloat16"),
        ("mcblasSgemm", "cublasSgemm"),
        ("half", ""),
        ("__syncthreads", ""),
        ("mcq", ""),
    ],
)
def test_a_name_is_cudas_again(table, maca, cuda):
    assert table.name(maca) == cuda


@pytest.mark.parametrize(
    ("maca", "cuda"),
    [
        ("mc_runtime.h", "cuda_runtime.h"),
        ("mcr/mc_runtime.h", "cuda_runtime.h"),
        ("maca_fp16.h", "cuda_fp16.h"),
        ("maca_cooperative_groups/reduce.h", "cooperative_groups/reduce.h"),
        ("my_helpers.h", ""),
    ],
)
def test_a_header_is_cudas_again(table, maca, cuda):
    assert table.header(maca) == cuda


def test_names_in_code_and_macros_are_defined_and_those_in_texts_are_not():
    headers = proxy_headers(['#define CHECK(x) mcGetLastError()\nconst char* s = "mcFree";  // mcMemcpy\n'])
    (text,) = headers.values()
    assert "#define mcGetLastError cudaGetLastError\n" in text
    assert "mcFree" not in text
    assert "mcMemcpy" not in text
