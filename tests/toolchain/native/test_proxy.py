"""MACA ports through nvcc: what porter writes in MACA's names compiles with CUDA's by the proxy's header."""

from __future__ import annotations

from pathlib import Path

from porter.contract.infer.draft import draft
from porter.native.headers import unpacked
from porter.native.original import build_originals
from porter.native.requests import LibraryEntry
from porter.registry import find_backend, find_target
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit, ported_unit
from porter_maca.dialect import MACA
from porter_maca.proxy import flags, port_headers

WARPS = """\
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
__global__ void count_kernel(const float* x, int* y, __nv_bfloat16* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.f;
    unsigned positive = __ballot_sync(0xffffffffu, v > 0.f);
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    v = warp.shfl_down(v, 1);
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if ((threadIdx.x & 31) == 0 && i < n) {
        atomicAdd(y, __popc(positive));
        z[i / 32] = __float2bfloat16(v);
    }
}
void count(const float* x, int* y, __nv_bfloat16* z, int n) {
    cudaMemset(y, 0, sizeof(int));
    count_kernel<<<(n + 255) / 256, 256>>>(x, y, z, n);
    if (cudaGetLastError() != cudaSuccess) cudaDeviceSynchronize();
}
"""


def test_a_port_compiles_for_an_nvidia_device(nvcc, cache):
    program = parse(Source(Path("warps.cu"), WARPS))
    original = original_unit(program, (), ())
    backend = find_backend("maca")
    port = backend.port(program, (), find_target(backend, ""))
    assert "cudaMemset" not in port.files[0].text
    contracts = draft(program, whole_program=False)
    built = build_originals(
        ported_unit(port, original, MACA), contracts, nvcc, cache, flags(unpacked(port_headers(port), cache))
    )
    assert len(built) == len(contracts) > 0
    assert all(isinstance(entry, LibraryEntry) for entry in built), built
