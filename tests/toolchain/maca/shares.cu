// An original whose host code computes with tensors around its kernel.
#include <torch/extension.h>

#include <tuple>

__global__ void exponentials(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = expf(x[i]);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> shares(at::Tensor x) {
    at::Tensor turned = x.flip({1}), y = at::empty_like(turned);
    exponentials<<<(x.numel() + 63) / 64, 64>>>(turned.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    at::Tensor large = (y > 1).nonzero();
    at::Tensor kept = y.index({y > 1}).sum();
    return {y / y.sum(1, true), std::get<0>(y.sort(1)), kept * large.size(0)};
}
