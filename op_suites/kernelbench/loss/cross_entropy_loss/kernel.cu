// Cross-entropy of logits [rows, classes] with class indices: log-sum-exp of a row by one block, then the mean over the
// rows by another kernel, in the same order every time.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <cfloat>

namespace {

constexpr int kThreads = 256;

struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// `value` combined over the block, for every thread. `shared` holds a value a thread.
template <typename Op>
__device__ float block_reduce(float value, float* shared, Op op) {
    const int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
#pragma unroll
    for (int s = kThreads / 2; s >= 1; s >>= 1) {
        if (t < s) shared[t] = op(shared[t], shared[t + s]);
        __syncthreads();
    }
    const float result = shared[0];
    __syncthreads();
    return result;
}

__global__ void row_loss_kernel(const float* __restrict__ logits, const int64_t* __restrict__ targets,
                                float* __restrict__ losses, int classes) {
    __shared__ float shared[kThreads];
    const float* row = logits + static_cast<int64_t>(blockIdx.x) * classes;

    float largest = -FLT_MAX;
    for (int c = threadIdx.x; c < classes; c += kThreads) largest = fmaxf(largest, row[c]);
    largest = block_reduce(largest, shared, Max());

    float sum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += kThreads) sum += __expf(row[c] - largest);
    sum = block_reduce(sum, shared, Add());

    if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) + largest - row[targets[blockIdx.x]];
}

__global__ void mean_kernel(const float* __restrict__ losses, float* __restrict__ mean, int rows) {
    __shared__ float shared[kThreads];
    float sum = 0.0f;
    for (int r = threadIdx.x; r < rows; r += kThreads) sum += losses[r];
    sum = block_reduce(sum, shared, Add());
    if (threadIdx.x == 0) mean[0] = sum / rows;
}

}  // namespace

torch::Tensor forward(torch::Tensor predictions, torch::Tensor targets) {
    TORCH_CHECK(predictions.is_cuda() && targets.is_cuda(), "predictions and targets must be CUDA tensors");
    TORCH_CHECK(predictions.dim() == 2, "predictions must be [rows, classes]");
    TORCH_CHECK(targets.scalar_type() == torch::kInt64, "targets must be int64");
    TORCH_CHECK(targets.numel() == predictions.size(0), "one target a row");
    predictions = predictions.contiguous();
    targets = targets.contiguous();
    const int rows = predictions.size(0), classes = predictions.size(1);
    auto losses = torch::empty({rows}, predictions.options());
    auto mean = torch::empty({}, predictions.options());
    const auto stream = at::cuda::getCurrentCUDAStream();
    row_loss_kernel<<<rows, kThreads, 0, stream>>>(predictions.data_ptr<float>(), targets.data_ptr<int64_t>(),
                                                   losses.data_ptr<float>(), classes);
    mean_kernel<<<1, kThreads, 0, stream>>>(losses.data_ptr<float>(), mean.data_ptr<float>(), rows);
    return mean;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Cross-entropy, mean over rows");
}
