// Maximum over the middle axis. The rows are split over blocks, which combine their results with atomicMax on a key that
// orders as the floats do: the bits of a positive float grow with it, those of a negative one shrink.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <climits>

namespace {

constexpr int kThreads = 128;
constexpr int kRowsPerBlock = 16;

__device__ __forceinline__ int key_of(float value) {
    const int bits = __float_as_int(value);
    return bits >= 0 ? bits : bits ^ 0x7fffffff;
}

__device__ __forceinline__ float value_of(int key) {
    return __int_as_float(key >= 0 ? key : key ^ 0x7fffffff);
}

__global__ void max_rows_kernel(const float* __restrict__ x, int* __restrict__ keys, int rows, int cols) {
    const int col = blockIdx.x * kThreads + threadIdx.x;
    if (col >= cols) return;
    const int begin = blockIdx.y * kRowsPerBlock;
    const int end = min(begin + kRowsPerBlock, rows);
    const float* column = x + static_cast<size_t>(blockIdx.z) * rows * cols + col;

    float largest = -INFINITY;
    for (int row = begin; row < end; ++row) largest = fmaxf(largest, column[static_cast<size_t>(row) * cols]);
    atomicMax(&keys[static_cast<size_t>(blockIdx.z) * cols + col], key_of(largest));
}

__global__ void decode_kernel(const int* __restrict__ keys, float* __restrict__ out, int count) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < count) out[i] = value_of(keys[i]);
}

}  // namespace

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
    TORCH_CHECK(x.dim() == 3 && x.size(1) > 0, "x must be [batch, rows, columns] with at least one row");
    const int batch = x.size(0), rows = x.size(1), cols = x.size(2);
    auto out = torch::empty({batch, cols}, x.options());
    if (out.numel() == 0) return out;

    // The smallest int is below the key of every float.
    auto keys = torch::full({batch, cols}, INT_MIN, x.options().dtype(torch::kInt32));
    const auto stream = at::cuda::getCurrentCUDAStream();
    const dim3 grid((cols + kThreads - 1) / kThreads, (rows + kRowsPerBlock - 1) / kRowsPerBlock, batch);
    max_rows_kernel<<<grid, kThreads, 0, stream>>>(x.data_ptr<float>(), keys.data_ptr<int>(), rows, cols);
    const int count = batch * cols;
    decode_kernel<<<(count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(keys.data_ptr<int>(),
                                                                             out.data_ptr<float>(), count);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "max(dim=1).values");
}
