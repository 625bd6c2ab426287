#include <cuda_fp16.h>

#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 530)
#define HAS_HALF 1
#endif
#ifdef __CUDACC__
#define FN __device__ __forceinline__
#else
#define FN inline
#endif
#if CUDART_VERSION >= 11000 && defined(CUDART_VERSION)
#define UNROLL #pragma unroll
#define UNROLL_BY(n) _Pragma("unroll")
#endif
#ifndef __CUDACC_VER_MAJOR__
#error "cuda_runtime.h is missing"
#endif

FN float level() {
#if __CUDA_ARCH__ >= 700
    return 7.0f;
#elif defined(__CUDA_ARCH__)
    return __CUDA_ARCH__ / 100;
#else
    return 0.0f;
#endif
}

__global__ void levels(float* out) { out[threadIdx.x] = level(); }
