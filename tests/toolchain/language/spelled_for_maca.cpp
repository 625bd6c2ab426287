// The same language in MACA's words, at 64 lanes.
#include <maca_bfloat16.h>
#include <maca_cooperative_groups.h>
#include <mc/std/type_traits>
#include <mc_runtime.h>
#include <mccub/block/block_reduce.cuh>

static_assert(mc::std::is_same_v<mcStream_t, cudaStream_t>);

__global__ void row_sum(const __maca_bfloat16* x, float* y) {
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage storage;
    const float sum = Reduce(storage).Sum(__bfloat162float(x[threadIdx.x]));
    if (threadIdx.x == 0) y[0] = sum;
    if (threadIdx.x == 0) y[1] = MACART_INF_F;
    const unsigned long long votes = __ballot_sync(0xffffffffffffffffull, __lane_id() % 2);
    if (threadIdx.x == 64) y[2] = float(__popcll(votes));
}

int main() {
    __maca_bfloat16 ones[128], *x;
    float *y, result[3];
    for (auto& one : ones) one = __float2bfloat16(1.0f);
    if (mcMalloc((void**)&x, sizeof ones) != mcSuccess) return 1;
    mcMalloc((void**)&y, sizeof result);
    mcMemcpy(x, ones, sizeof ones, mcMemcpyHostToDevice);
    mcStream_t stream;
    mcStreamCreate(&stream);
    row_sum<<<1, 128, 0, stream>>>(x, y);
    mcMemcpy(result, y, sizeof result, mcMemcpyDeviceToHost);
    mcDeviceProp_t properties;
    mcGetDeviceProperties(&properties, 0);
    printf("%g %g %g %d %s\n", result[0], result[1], result[2], properties.warpSize, mcGetErrorString(mcGetLastError()));
    return 0;
}
