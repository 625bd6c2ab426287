// other_brand.maca ported to MACA xcore1000 by porter 0.1.0, source 18d4e684bb9aa773
#include <mc_runtime.h>
#include <maca_bfloat16.h>
#include "mcblas/mcblas.h"

__global__ void widen(const __maca_bfloat16* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __bfloat162float(x[i]);
}

int launch(const void* x, float* y, int n, mcStream_t stream, mcblasHandle_t handle) {
    if (mcblasSetStream(handle, stream) != MCBLAS_STATUS_SUCCESS) return 1;
    widen<<<(n + 255) / 256, 256, 0, stream>>>((const __maca_bfloat16*)x, y, n);
    return mcGetLastError() == mcSuccess ? 0 : 1;
}
