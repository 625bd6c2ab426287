// The gate of a GeGLU layer, tanh approximation. The kernel is written once against a few conversions; which of CUDA's
// own types it computes on is chosen by the launcher.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __forceinline__ float to_float(float v) { return v; }
__device__ __forceinline__ float to_float(__half v) { return __half2float(v); }
__device__ __forceinline__ float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }

template <typename T> __device__ __forceinline__ T from_float(float v);
template <> __device__ __forceinline__ float from_float<float>(float v) { return v; }
template <> __device__ __forceinline__ __half from_float<__half>(float v) { return __float2half_rn(v); }
template <> __device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float v) { return __float2bfloat16_rn(v); }

__device__ __forceinline__ float gelu_tanh(float x) {
    const float c0 = 0.79788456080286535588f;
    const float c1 = 0.044715f;
    return 0.5f * x * (1.0f + tanhf(c0 * fmaf(c1 * x * x, x, x)));
}

template <typename T>
__global__ void gelu_and_mul_kernel(T* out, const T* input, int d, long total) {
    const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i >= total) return;
    const long token = i / d;
    const long at = token * 2 * d + i % d;
    out[i] = from_float<T>(gelu_tanh(to_float(input[at])) * to_float(input[at + d]));
}

template <typename T>
static void gelu_and_mul(void* out, const void* input, int d, long total, cudaStream_t stream) {
    const int threads = 256;
    const long blocks = (total + threads - 1) / threads;
    gelu_and_mul_kernel<T><<<blocks, threads, 0, stream>>>((T*)out, (const T*)input, d, total);
}

torch::Tensor forward(torch::Tensor input) {
    TORCH_CHECK(input.is_cuda() && input.dim() == 2, "input must be a CUDA matrix");
    TORCH_CHECK(input.size(1) % 2 == 0, "the rows of input must have two halves");
    input = input.contiguous();
    const int d = input.size(1) / 2;
    auto out = torch::empty({input.size(0), d}, input.options());
    const long total = out.numel();
    if (total == 0) return out;

    auto stream = at::cuda::getCurrentCUDAStream().stream();
    if (input.scalar_type() == torch::kFloat32) {
        gelu_and_mul<float>(out.data_ptr(), input.data_ptr(), d, total, stream);
    } else if (input.scalar_type() == torch::kFloat16) {
        gelu_and_mul<__half>(out.data_ptr(), input.data_ptr(), d, total, stream);
    } else if (input.scalar_type() == torch::kBFloat16) {
        gelu_and_mul<__nv_bfloat16>(out.data_ptr(), input.data_ptr(), d, total, stream);
    } else {
        TORCH_CHECK(false, "input must be float32, float16 or bfloat16");
    }
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "gelu(input[:, :d]) * input[:, d:]");
}
