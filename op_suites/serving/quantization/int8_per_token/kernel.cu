// Dynamic quantisation to int8 with one scale a token: the largest magnitude of a row becomes 127.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <tuple>

#define THREADS 256

__device__ __forceinline__ int8_t to_int8(float x) {
    const int q = __float2int_rn(x);
    return static_cast<int8_t>(max(-128, min(127, q)));
}

template <typename scalar_t>
__global__ void dynamic_int8_quant_kernel(const scalar_t* __restrict__ input, int8_t* __restrict__ output,
                                          float* __restrict__ scales, int hidden) {
    __shared__ float warp_max[THREADS / 32];
    const scalar_t* row = input + (size_t)blockIdx.x * hidden;
    int8_t* out = output + (size_t)blockIdx.x * hidden;
    const int tid = threadIdx.x;

    float absmax = 0.0f;
    for (int i = tid; i < hidden; i += THREADS) absmax = fmaxf(absmax, fabsf(static_cast<float>(row[i])));
#pragma unroll
    for (int delta = 16; delta >= 1; delta >>= 1) {
        absmax = fmaxf(absmax, __shfl_down_sync(0xffffffff, absmax, delta));
    }
    if ((tid & 31) == 0) warp_max[tid >> 5] = absmax;
    __syncthreads();
    if (tid == 0) {
        for (int w = 1; w < THREADS / 32; w++) absmax = fmaxf(absmax, warp_max[w]);
        warp_max[0] = absmax / 127.0f;
        scales[blockIdx.x] = absmax / 127.0f;
    }
    __syncthreads();

    const float scale = warp_max[0];
    for (int i = tid; i < hidden; i += THREADS) {
        out[i] = scale > 0.0f ? to_int8(static_cast<float>(row[i]) / scale) : int8_t(0);
    }
}

std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(x.dim() == 2, "x must be [tokens, hidden]");
    x = x.contiguous();
    auto q = torch::empty({x.size(0), x.size(1)}, x.options().dtype(torch::kInt8));
    auto scales = torch::empty({x.size(0), 1}, x.options().dtype(torch::kFloat32));
    if (x.size(0) > 0) {
        AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "dynamic_int8_quant", [&] {
            dynamic_int8_quant_kernel<scalar_t><<<x.size(0), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
                x.data_ptr<scalar_t>(), q.data_ptr<int8_t>(), scales.data_ptr<float>(), x.size(1));
        });
    }
    return {q, scales};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "int8 values and their scales");
}
