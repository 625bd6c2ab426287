// y[i] = number of j with x[i, j] > 0
#include <cuda_runtime.h>

template <unsigned N>
__global__ void count_positive(const float* x, float* y, unsigned cols)
{
    const float* const row = x + static_cast<size_t>(cols) * blockIdx.x;
    const unsigned full = cols / N;
    int total = 0;

    for (unsigned k = 0; k != full; ++k)
        total += __syncthreads_count(row[k * N + threadIdx.x] > 0.f);

    // what is left is less than one block of elements
    if (cols % N) {
        const unsigned j = full * N + threadIdx.x;
        total += __syncthreads_count(j < cols ? row[j] > 0.f : false);
    }
    if (threadIdx.x == 0u) y[blockIdx.x] = static_cast<float>(total);
}

void run_count_positive_sync(const float* x, float* y, int rows, int cols)
{
    if (cols < 512)
        count_positive<64><<<rows, 64>>>(x, y, cols);
    else
        count_positive<512><<<rows, 512>>>(x, y, cols);
}
