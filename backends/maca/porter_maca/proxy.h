// MACA's device functions that CUDA does not have, for a MACA source that nvcc compiles as a stand-in.
#pragma once
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned int __lane_id() {
    unsigned int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
