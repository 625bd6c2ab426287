#include <cuda_runtime.h>

__global__ void ragged_sums(const int* starts, const float* values, float* sums, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int j = starts[r]; j < starts[r + 1]; j++) {
        if (values[j] < 0) continue;
        if (values[j] > 100) break;
        sum += values[j];
    }
    sums[r] = sum;
}

__global__ void modes(float* x, int mode) {
    int i = threadIdx.x;
    switch (mode) {
        case 0: x[i] = 0; break;
        case 1:
        case 2: x[i] *= mode; break;
        default: x[i] = -x[i];
    }
}
