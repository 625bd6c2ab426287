// launcher.cu ported to MACA xcore1000 by porter 0.1.0, source 961879c9156dab6a
#include <mc_runtime.h>
#include <mc_runtime_api.h>
#include <mcrand/mcrand_kernel.h>
#include <maca_cooperative_groups.h>
#include <cub/block/block_reduce.cuh>

namespace cg = cooperative_groups;

__global__ void noise(float* out, int n, unsigned long long seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mcrandStatePhilox4_32_10_t state;
    mcrand_init(seed, i, 0, &state);
    if (i < n) out[i] = mcrand_uniform(&state);
    cg::this_thread_block().sync();
}

extern "C" int fill_noise(float* out, int n, unsigned long long seed, mcStream_t stream) {
    noise<<<(n + 127) / 128, 128, 0, stream>>>(out, n, seed);
    return mcPeekAtLastError() == mcSuccess ? 0 : 1;
}
