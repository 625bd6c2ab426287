// What all candidates here launch.
#pragma once

#include <mcr/mc_runtime.h>

#include <cmath>

__global__ void softmax_rows(const float* x, float* y, int cols) {
    const float* row = x + blockIdx.x * cols;
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
    for (int i = 0; i < cols; ++i) sum += expf(row[i] - largest);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
}

__global__ void copied(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
