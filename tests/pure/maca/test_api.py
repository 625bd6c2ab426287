"""The table of names: what it says, that it agrees with itself, and that its page is current."""

from pathlib import Path

import pytest

from porter_maca.api import Renamed, Unsupported, api_table, read_table
from porter_maca.api_docs import page

ROOT = Path(__file__).parents[3]
TABLE = api_table()


@pytest.mark.parametrize(
    ("cuda", "maca"),
    [
        ("cudaMalloc", "mcMalloc"),
        ("cudaDeviceProp", "mcDeviceProp_t"),
        ("cudaHostAlloc", "mcMallocHost"),
        ("cudaDevAttrGlobalMemoryBusWidth", "mcDeviceAttributeMemoryBusWidth"),
        ("cudaDevAttrMaxBlocksPerMultiprocessor", "mcDeviceAttributeMaxBlocksPerMultiprocessor"),
        ("cudaMemcpy2DAsync", "mcMemcpy2DAsync"),
        ("cuLaunchKernel", "mcModuleLaunchKernel"),
        ("CUresult", "mcError_t"),
        ("cudaErrorInvalidPtx", "mcErrorInvalidKernelFile"),
        ("cublasLtMatmul", "mcblasLtMatmul"),
        ("curand_init", "mcrand_init"),
        ("CUDART_PI_F", "MACART_PI_F"),
        ("__nv_bfloat162", "__maca_bfloat162"),
        ("ncclUnhandledCudaError", "mcclUnhandledMacaError"),
        ("hcStream_t", "mcStream_t"),
    ],
)
def test_names_that_a_prefix_alone_would_get_wrong_and_ones_it_would_not(cuda, maca):
    found = TABLE.look_up(cuda)
    assert isinstance(found, Renamed)
    assert found.maca == maca


@pytest.mark.parametrize(
    ("cuda", "kind"),
    [
        ("cudaBindTexture", "texture"),
        ("cudaMemcpy2DToArray", "texture"),
        ("cuTensorMapEncodeTiled", "tensor memory"),
        ("cudaGraphicsMapResources", "graphics"),
        ("__cluster_dims__", "cluster"),
        ("cuda::pipeline", "async copy"),
    ],
)
def test_what_maca_lacks_is_in_the_table_with_a_reason(cuda, kind):
    found = TABLE.look_up(cuda)
    assert isinstance(found, Unsupported)
    assert found.kind == kind
    assert found.reason


@pytest.mark.parametrize(
    "name", ["cudaCheck", "CUDA_CHECK", "cuda", "cudaFoo", "cuSeqlens", "current", "cudacpp", "hcore", "ncclassify"]
)
def test_names_that_only_look_like_cudas_are_not_in_the_table(name):
    assert TABLE.look_up(name) is None


def test_no_maca_name_is_a_cuda_name_of_the_table():
    again = {row.maca for row in TABLE.names.values() if isinstance(row, Renamed)} & TABLE.names.keys()
    assert again == set()


@pytest.mark.parametrize(
    ("path", "maca"),
    [
        ("cuda_runtime.h", "mc_runtime.h"),
        ("cooperative_groups/reduce.h", "maca_cooperative_groups/reduce.h"),
        ("cutlass/gemm/device/gemm.h", "mctlass/gemm/device/gemm.h"),
        ("cuda/std/cstdint", "mc/std/cstdint"),
    ],
)
def test_headers_by_path_and_by_folder(path, maca):
    found = TABLE.header(path)
    assert isinstance(found, Renamed)
    assert found.maca == maca


@pytest.mark.parametrize(
    "path", ["cub/cub.cuh", "thrust/sort.h", "torch/extension.h", "ATen/cuda/CUDAContext.h", "vector"]
)
def test_headers_that_keep_their_names(path):
    assert TABLE.header(path) is None


def test_two_rows_that_claim_one_name_are_refused():
    row = '[[names]]\nkind = "runtime"\nsource = "{}"\n[names.maca]\ncudaMalloc = "mcMalloc"\n'
    rest = "header = []\nrule = []\nunsupported = []\nunchanged = []\ncaution = []\n"
    with pytest.raises(ValueError, match="claimed by two rows: cudaMalloc"):
        read_table(rest + row.format("a") + row.format("b"))


def test_the_page_is_current(golden):
    golden(ROOT / "docs" / "tables" / "maca-api.md", page(TABLE))
