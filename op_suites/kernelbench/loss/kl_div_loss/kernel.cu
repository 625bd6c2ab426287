// KL divergence of rows of probabilities, summed over a row and averaged over the batch. One block a row; the rows meet
// in a double, in which the order of the atomics changes nothing that a float would keep.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <int BLOCK>
__global__ void kl_div_kernel(const float* __restrict__ predictions, const float* __restrict__ targets,
                              double* __restrict__ total, int cols) {
    __shared__ float warp_sums[BLOCK / 32];
    const size_t row = (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += BLOCK) {
        const float target = targets[row + col];
        // 0 log 0 is 0
        if (target > 0.0f) sum += target * (logf(target) - logf(predictions[row + col]));
    }

    const unsigned lane = threadIdx.x & 31u;
    for (int offset = 16; offset; offset >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) warp_sums[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double row_sum = 0.0;
#pragma unroll
        for (int w = 0; w < BLOCK / 32; ++w) row_sum += warp_sums[w];
        atomicAdd(total, row_sum);
    }
}

__global__ void batchmean_kernel(const double* total, float* loss, int rows) {
    *loss = static_cast<float>(*total / rows);
}

torch::Tensor forward(torch::Tensor predictions, torch::Tensor targets) {
    TORCH_CHECK(predictions.is_cuda() && targets.is_cuda(), "inputs must be CUDA tensors");
    TORCH_CHECK(predictions.dim() == 2 && predictions.sizes() == targets.sizes(), "inputs must be equal matrices");
    auto p = predictions.contiguous();
    auto t = targets.contiguous();
    const int rows = p.size(0), cols = p.size(1);
    auto total = torch::zeros({1}, p.options().dtype(torch::kFloat64));
    auto loss = torch::empty({}, p.options());
    auto stream = at::cuda::getCurrentCUDAStream();
    kl_div_kernel<256><<<rows, 256, 0, stream>>>(p.data_ptr<float>(), t.data_ptr<float>(), total.data_ptr<double>(),
                                                 cols);
    batchmean_kernel<<<1, 1, 0, stream>>>(total.data_ptr<double>(), loss.data_ptr<float>(), rows);
    return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "kl_div(log(predictions), targets), batch mean");
}
