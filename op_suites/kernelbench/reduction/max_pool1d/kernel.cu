// Max pooling over the last axis of [batch, channels, length], with stride, padding and dilation.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void max_pool1d_kernel(
    const float* __restrict__ input,
    float* __restrict__ output,
    int64_t planes,
    int length,
    int output_length,
    int kernel_size,
    int stride,
    int padding,
    int dilation) {
    const int64_t index = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (index >= planes * output_length) return;

    const float* plane = input + index / output_length * length;
    const int start = static_cast<int>(index % output_length) * stride - padding;
    float best = -INFINITY;
    for (int k = 0; k < kernel_size; ++k) {
        const int at = start + k * dilation;
        if (at < 0 || at >= length) continue;  // padding never wins
        best = fmaxf(best, plane[at]);
    }
    output[index] = best;
}

torch::Tensor forward(torch::Tensor x, int64_t kernel_size, int64_t stride, int64_t padding, int64_t dilation) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(x.dim() == 3, "x must be [batch, channels, length]");
    TORCH_CHECK(2 * padding <= kernel_size, "padding must be at most half of the kernel size");
    x = x.contiguous();
    const int64_t length = x.size(2);
    const int64_t output_length = (length + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1;
    TORCH_CHECK(output_length > 0, "the window is longer than the input");
    auto output = torch::empty({x.size(0), x.size(1), output_length}, x.options());

    const int64_t planes = x.size(0) * x.size(1);
    const int threads = 256;
    const int64_t blocks = (planes * output_length + threads - 1) / threads;
    if (blocks == 0) return output;
    max_pool1d_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), output.data_ptr<float>(), planes, length, output_length, kernel_size, stride, padding,
        dilation);
    return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "MaxPool1d");
}
