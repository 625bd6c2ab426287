// y[i] = sum over k <= i of x[k]
#include <cuda_runtime.h>

enum { CHUNK = 512 };

// inclusive scan of one value a thread, in place in shared memory
static __device__ float scan_chunk(float* s, float v)
{
    const int t = threadIdx.x;
    s[t] = v;
    __syncthreads();
    for (int d = 1; d < CHUNK; d *= 2) {
        const float add = t >= d ? s[t - d] : 0.f;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    return s[t];
}

__global__ void chunk_scan(const float* x, float* y, float* sums, int n)
{
    __shared__ float s[CHUNK];
    const size_t i = (size_t)blockIdx.x * CHUNK + threadIdx.x;
    const float v = scan_chunk(s, i < n ? x[i] : 0.f);
    if (i < n) y[i] = v;
    if (threadIdx.x == CHUNK - 1) sums[blockIdx.x] = v;
}

// one block turns the sums into what comes before each chunk
__global__ void scan_sums(float* sums, int chunks)
{
    __shared__ float s[CHUNK];
    float carry = 0.f;
    for (int base = 0; base < chunks; base += CHUNK) {
        const int c = base + threadIdx.x;
        scan_chunk(s, c < chunks ? sums[c] : 0.f);
        const float total = s[CHUNK - 1];
        if (c < chunks) sums[c] = carry + (threadIdx.x ? s[threadIdx.x - 1] : 0.f);
        carry += total;
        __syncthreads();
    }
}

__global__ void add_before(float* y, const float* sums, int n)
{
    const size_t i = (size_t)blockIdx.x * CHUNK + threadIdx.x;
    if (i < n) y[i] += sums[blockIdx.x];
}

void run_scan_three_kernels(const float* x, float* y, int n)
{
    const int chunks = (n - 1) / CHUNK + 1;
    float* sums;
    cudaMallocAsync(&sums, sizeof(float) * chunks, (cudaStream_t)0);
    chunk_scan<<<chunks, CHUNK>>>(x, y, sums, n);
    scan_sums<<<1, CHUNK>>>(sums, chunks);
    add_before<<<chunks, CHUNK>>>(y, sums, n);
    cudaFreeAsync(sums, 0);
}
