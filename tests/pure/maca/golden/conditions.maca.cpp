// conditions.cu ported to MACA xcore1000 by porter 0.1.0, source db58185bf03d8979
#include <mc_runtime.h>
#include <maca_fp16.h>

#if defined(__MACA_ARCH__) && ((__MACA_ARCH__ ? 800 : 0) >= 530)
#define HAS_HALF 1
#endif
#ifdef __MACACC__
#define FN __device__ __forceinline__
#else
#define FN inline
#endif
#if 11060 >= 11000 && defined(__MACACC__)
#define UNROLL _Pragma("unroll")
#define UNROLL_BY(n) _Pragma("unroll")
#endif
#ifndef __MACACC__
#error "cuda_runtime.h is missing"
#endif

FN float level() {
#if (__MACA_ARCH__ ? 800 : 0) >= 700
    return 7.0f;
#elif defined(__MACA_ARCH__)
    return (__MACA_ARCH__ ? 800 : 0) / 100;
#else
    return 0.0f;
#endif
}

__global__ void levels(float* out) { out[threadIdx.x] = level(); }
