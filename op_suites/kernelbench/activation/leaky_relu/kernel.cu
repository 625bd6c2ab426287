// Leaky ReLU as a grid-stride loop: any grid covers any size, and a block does several tiles of a large tensor.
#include <torch/extension.h>

#include <algorithm>

#define CHECK_INPUT(x)                                       \
    TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor");   \
    TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")

__global__ void leaky_relu_kernel(const float* input, float* output, float slope, size_t n) {
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float v = input[i];
        output[i] = v > 0.0f ? v : v * slope;
    }
}

torch::Tensor forward(torch::Tensor x, double negative_slope) {
    CHECK_INPUT(x);
    auto out = torch::empty_like(x);
    const size_t n = x.numel();
    if (n == 0) return out;

    const int threads = 512;
    const int blocks = static_cast<int>(std::min<size_t>((n + threads - 1) / threads, 65535));
    leaky_relu_kernel<<<blocks, threads>>>(x.data_ptr<float>(), out.data_ptr<float>(),
                                           static_cast<float>(negative_slope), n);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Leaky ReLU forward", py::arg("x"), py::arg("negative_slope"));
}
