// Hinge loss, mean(max(1 - predictions * targets, 0)), with a target for each column. A single launch: the block that
// finishes last, as a ticket tells, adds up what all blocks have left in global memory.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <algorithm>

constexpr int kThreads = 256;

__device__ float block_sum(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int s = kThreads / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    return shared[0];
}

__global__ void hinge_loss_kernel(const float* __restrict__ predictions, const float* __restrict__ targets,
                                  volatile float* partial, unsigned int* ticket, float* loss, int64_t size,
                                  int64_t columns) {
    __shared__ float shared[kThreads];
    __shared__ bool is_last;

    float sum = 0.0f;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < size; i += stride) {
        sum += fmaxf(1.0f - predictions[i] * targets[i % columns], 0.0f);
    }
    sum = block_sum(sum, shared);

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // the partial sum is visible before the ticket is
        is_last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    __threadfence();  // no partial sum is read before the ticket was
    sum = 0.0f;
    for (int block = threadIdx.x; block < gridDim.x; block += kThreads) sum += partial[block];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0) *loss = sum / size;
}

torch::Tensor forward(torch::Tensor predictions, torch::Tensor targets) {
    TORCH_CHECK(predictions.is_cuda() && targets.is_cuda(), "predictions and targets must be CUDA tensors");
    TORCH_CHECK(predictions.is_contiguous() && targets.is_contiguous(), "predictions and targets must be contiguous");
    TORCH_CHECK(targets.numel() == predictions.size(-1), "targets must be as long as the last axis of predictions");
    const int64_t size = predictions.numel();
    TORCH_CHECK(size > 0, "the mean of nothing is not defined");

    const int blocks = static_cast<int>(std::min<int64_t>((size + kThreads - 1) / kThreads, 1024));
    auto partial = torch::empty({blocks}, predictions.options());
    auto ticket = torch::zeros({1}, predictions.options().dtype(torch::kInt32));
    auto loss = torch::empty({}, predictions.options());
    hinge_loss_kernel<<<blocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        predictions.data_ptr<float>(), targets.data_ptr<float>(), partial.data_ptr<float>(),
        reinterpret_cast<unsigned int*>(ticket.data_ptr<int>()), loss.data_ptr<float>(), size, targets.numel());
    return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Hinge loss");
}
