// extension.cu ported to MACA xcore1000 by porter 0.1.0, source 28f1cefe7456f2db
#include <mc_runtime.h>
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <maca_fp16.h>
#include <maca_bfloat16.h>
#include <mcr/maca.h>

template <typename scalar_t>
__global__ void double_kernel(const scalar_t* x, scalar_t* y, int64_t n) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        y[i] = x[i] + x[i];
}

__global__ void negate_kernel(const __maca_bfloat162* x, __maca_bfloat162* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hneg2(x[i]);
}

torch::Tensor twice(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    auto y = torch::empty_like(x);
    mcStream_t stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "twice", [&] {
        double_kernel<scalar_t><<<128, 256, 0, stream>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    AT_CUDA_CHECK(mcGetLastError());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
