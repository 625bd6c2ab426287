// n = 1024: cub's warp collectives with their default size
#include <cub/cub.cuh>

__global__ void warp_sums(const float* in, float* out)
{
    typedef cub::WarpReduce<float> WarpReduce;
    __shared__ typename WarpReduce::TempStorage storage[4];
    const int warp = threadIdx.x / 32;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float sum = WarpReduce(storage[warp]).Sum(in[i]);
    if (threadIdx.x % 32 == 0) out[i / 32] = sum;
}

extern "C" void run(const float* in, float* out, int n) { warp_sums<<<n / 128, 128>>>(in, out); }
