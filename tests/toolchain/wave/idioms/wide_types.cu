// n = 1024: double and half2 through shuffles
#include <cuda_fp16.h>

__device__ double sum_double(double v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    return __shfl_sync(0xffffffff, v, 0);
}

__device__ __half2 sum_half2(__half2 v) {
    for (int o = 16; o > 0; o >>= 1) v = __hadd2(v, __shfl_xor_sync(0xffffffff, v, o));
    return v;
}

__global__ void both(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 h = sum_half2(__floats2half2_rn(in[i], -in[i] * 0.5f));
    out[i] = (float)sum_double(in[i]) + __low2float(h) + __high2float(h);
}

extern "C" void run(const float* in, float* out, int n) { both<<<n / 128, 128>>>(in, out); }
