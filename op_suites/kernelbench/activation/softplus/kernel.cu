// Softplus, log(1 + exp(beta x)) / beta, linear beyond the threshold, where exp would overflow before the log is taken.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename T, int ITEMS_PER_THREAD>
__global__ void softplus_kernel(const T* __restrict__ input, T* __restrict__ output, T beta, T threshold, int64_t numel) {
    // A thread's items are neighbours; the tile of a block is contiguous.
    const int64_t base = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * ITEMS_PER_THREAD;
#pragma unroll
    for (int k = 0; k < ITEMS_PER_THREAD; ++k) {
        if (base + k >= numel) return;
        const T x = input[base + k];
        const T scaled = x * beta;
        output[base + k] = scaled > threshold ? x : log1p(exp(scaled)) / beta;
    }
}

torch::Tensor forward(torch::Tensor x, double beta, double threshold) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(beta > 0.0, "beta must be positive, is ", beta);
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t numel = x.numel();
    if (numel == 0) return out;

    constexpr int threads = 256, items = 2;
    const unsigned blocks = (numel + threads * items - 1) / (threads * items);
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    softplus_kernel<float, items><<<blocks, threads, 0, stream>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), static_cast<float>(beta), static_cast<float>(threshold), numel);
    TORCH_CHECK(cudaGetLastError() == cudaSuccess, "softplus_kernel could not be launched");
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Softplus", py::arg("x"), py::arg("beta") = 1.0, py::arg("threshold") = 20.0);
}
