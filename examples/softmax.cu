// Softmax over the rows of a matrix, as a PyTorch extension. One block a row; partial results meet by warp shuffles.
#include <torch/extension.h>

#include <cfloat>

constexpr int kThreads = 256;

__device__ __forceinline__ float warp_max(float value) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
    }
    return value;
}

__device__ __forceinline__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

// The maximum over the block, known to every thread.
__device__ float block_max(float value, float* shared) {
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    value = warp_max(value);
    if (lane == 0) shared[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / 32 ? shared[lane] : -FLT_MAX;
    value = warp_max(value);
    __syncthreads();
    return value;
}

// The sum over the block, known to every thread.
__device__ float block_sum(float value, float* shared) {
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    value = warp_sum(value);
    if (lane == 0) shared[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / 32 ? shared[lane] : 0.0f;
    value = warp_sum(value);
    __syncthreads();
    return value;
}

__global__ void softmax_kernel(const float* __restrict__ input, float* __restrict__ output, int columns) {
    __shared__ float shared[32];
    const float* x = input + static_cast<size_t>(blockIdx.x) * columns;
    float* y = output + static_cast<size_t>(blockIdx.x) * columns;

    float largest = -FLT_MAX;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, x[i]);
    largest = block_max(largest, shared);

    float total = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) total += expf(x[i] - largest);
    total = block_sum(total, shared);

    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[i] = expf(x[i] - largest) / total;
}

torch::Tensor softmax(torch::Tensor input) {
    TORCH_CHECK(input.is_cuda(), "input must be on the device");
    TORCH_CHECK(input.dim() == 2, "input must be a matrix");
    TORCH_CHECK(input.scalar_type() == torch::kFloat32, "input must be float32");
    input = input.contiguous();
    auto output = torch::empty_like(input);
    softmax_kernel<<<input.size(0), kThreads>>>(input.data_ptr<float>(), output.data_ptr<float>(), input.size(1));
    return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("softmax", &softmax, "Softmax over the rows of a matrix");
}
