// y[0] = sum over i with x[i] > 0 of x[i]; count[0] = number of i with x[i] > 0
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cgroups = cooperative_groups;

__global__ void positive_sum(const float* x, float* y, int* count, int n)
{
    const int step = gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const float v = x[i];
        if (v > 0.f) {
            // the lanes that came here together add once
            cgroups::coalesced_group g = cgroups::coalesced_threads();
            const float s = cgroups::reduce(g, v, cgroups::plus<float>{});
            if (g.thread_rank() == 0) {
                atomicAdd(y, s);
                atomicAdd(count, (int)g.size());
            }
        }
    }
}

void run_positive_sum_coalesced(const float* x, float* y, int* count, int n)
{
    cudaMemsetAsync(y, 0, sizeof(float));
    cudaMemsetAsync(count, 0, sizeof(int));
    int blocks = (n - 1) / 256 + 1;
    if (blocks > 1024) blocks = 1024;
    positive_sum<<<blocks, 256>>>(x, y, count, n);
}
