"""Sources to draft contracts of, and their drafts, which survive being written and read."""

from pathlib import Path

from porter.contract.infer.draft import draft
from porter.contract.model.toml import dumps, loads
from porter.source.parse import parse
from porter.source_text import Source


def drafted(text, **options):
    contracts = draft(parse(Source(Path("op.cu"), text)), **options)
    assert not contracts or loads(dumps(contracts), Path("op.toml")) == contracts
    return contracts


BARE = """
__global__ void scale(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
"""
TORCH = """
#include <torch/extension.h>
template <typename scalar_t>
__global__ void rows(const scalar_t* __restrict__ x, const scalar_t* __restrict__ w, scalar_t* out, int N) {
    extern __shared__ float partial[];
    for (int i = threadIdx.x; i < N; i += blockDim.x) out[blockIdx.x * N + i] = x[blockIdx.x * N + i] * w[i];
}
torch::Tensor weigh(torch::Tensor x, torch::Tensor w, double eps) {
    TORCH_CHECK(x.dim() == 2, "2-D");
    TORCH_CHECK(w.size(0) == x.size(1), "width");
    TORCH_CHECK(x.size(1) % 4 == 0);
    const auto B = x.size(0);
    const int N = x.size(1);
    auto out = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "weigh", ([&] {
        rows<scalar_t><<<B, 256, 256 * sizeof(float)>>>(
            x.data_ptr<scalar_t>(), w.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), N);
    }));
    return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("weigh", &weigh); }
"""
LAUNCHER = """
__global__ void gather(float* out, const int* ids, const float* table, int n, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * C) { int row = ids[i / C]; out[i] = table[row * C + i % C]; }
}
extern "C" void run_gather(
    float* out, const int* ids, const float* table, int n, int C, int block_size, cudaStream_t stream) {
    const int grid = (n * C + block_size - 1) / block_size;
    gather<<<grid, block_size, 0, stream>>>(out, ids, table, n, C);
}
"""
