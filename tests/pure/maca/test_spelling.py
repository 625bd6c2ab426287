"""MACA's spelling of the executor's names: the committed header is what the table gives."""

import pytest

from porter.dialect import INCLUDE
from porter_maca.dialect import MACA
from porter_maca.spelling import HEADER, defined_names, header_text, load_spelling

HEADERS = INCLUDE / "porter"


def test_committed_header_is_current():
    assert HEADER.read_text() == header_text(HEADERS), "run `python -m porter_maca.spelling`"


@pytest.mark.parametrize(
    ("cuda", "maca"),
    [
        ("cudaMemcpyAsync", ("mcMemcpyAsync", "hcMemcpyAsync")),
        ("cudaDevAttrWarpSize", ("mcDeviceAttributeWarpSize", "hcDeviceAttributeWarpSize")),
        ("cudaDevAttrGlobalMemoryBusWidth", ("mcDeviceAttributeMemoryBusWidth", "hcDeviceAttributeMemoryBusWidth")),
        ("cudaHostAllocMapped", ("mcMallocHostMapped", "hcMallocHostMapped")),
        ("CUDART_INF_F", ("MACART_INF_F", "HPCCRT_INF_F")),
        ("__nv_bfloat162", ("__maca_bfloat162", "__hpcc_bfloat162")),
        ("CUDA_R_16F", ("MACA_R_16F", "HPCC_R_16F")),
        ("make_cuFloatComplex", ("make_mcFloatComplex", "make_hcFloatComplex")),
        ("curand_init", ("mcrand_init", "hcrand_init")),
    ],
)
def test_both_brands_spell_a_name(cuda, maca):
    assert load_spelling().spellings(cuda) == maca


def test_names_that_macros_make_are_found():
    names = defined_names(HEADERS, load_spelling())
    assert {"cudaErrorInvalidValue", "cudaDevAttrWarpSize", "cudaMalloc", "curand_uniform4"} <= set(names)
    assert not any(name.startswith(("mc", "hc")) for name in names)


def test_every_name_and_header_the_port_writes_is_known_here():
    porter_maca_api = pytest.importorskip("porter_maca.api")
    table = porter_maca_api.api_table()
    known = set(HEADER.read_text().split())
    for name in defined_names(HEADERS, load_spelling()):
        maca = getattr(table.look_up(name), "maca", name)
        assert maca == name or maca in known, f"the port writes {maca} for {name}"
    for header in (
        "cuda_runtime.h",
        "cuda.h",
        "cuda_fp16.h",
        "cuda_bf16.h",
        "cooperative_groups/reduce.h",
        "cublas_v2.h",
        "mma.h",
    ):
        maca = table.header(header).maca
        assert (MACA.headers / maca).exists(), f"the port includes {maca} for {header}"
