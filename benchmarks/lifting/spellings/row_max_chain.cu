// y[i] = max over j of x[i, j]
#include <cuda_runtime.h>
#include <math_constants.h>

template <unsigned int blockSize>
__device__ void warpMax(float* sdata, unsigned int tid)
{
    // sdata is read, then written, with the warp in step in between
    float v = sdata[tid];
    if (blockSize >= 64) { v = fmaxf(v, sdata[tid + 32]); __syncwarp(); sdata[tid] = v; __syncwarp(); }
    if (blockSize >= 32) { v = fmaxf(v, sdata[tid ^ 16]); __syncwarp(); sdata[tid] = v; __syncwarp(); }
    if (blockSize >= 16) { v = fmaxf(v, sdata[tid ^  8]); __syncwarp(); sdata[tid] = v; __syncwarp(); }
    if (blockSize >=  8) { v = fmaxf(v, sdata[tid ^  4]); __syncwarp(); sdata[tid] = v; __syncwarp(); }
    if (blockSize >=  4) { v = fmaxf(v, sdata[tid ^  2]); __syncwarp(); sdata[tid] = v; __syncwarp(); }
    if (blockSize >=  2) { v = fmaxf(v, sdata[tid ^  1]); __syncwarp(); sdata[tid] = v; __syncwarp(); }
}

template <unsigned int blockSize>
__global__ void rowMaxChain(const float* g_idata, float* g_odata, unsigned int cols)
{
    __shared__ float sdata[blockSize];
    unsigned int tid = threadIdx.x;
    const float* in = g_idata + static_cast<size_t>(blockIdx.x) * cols;

    float best = -CUDART_INF_F;
    unsigned int i = tid;
    while (i < cols) {
        best = fmaxf(best, in[i]);
        i += blockSize;
    }
    sdata[tid] = best;
    __syncthreads();

    if (blockSize >= 512) { if (tid < 256) { sdata[tid] = fmaxf(sdata[tid], sdata[tid + 256]); } __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) { sdata[tid] = fmaxf(sdata[tid], sdata[tid + 128]); } __syncthreads(); }
    if (blockSize >= 128) { if (tid <  64) { sdata[tid] = fmaxf(sdata[tid], sdata[tid +  64]); } __syncthreads(); }
    if (tid < 32) warpMax<blockSize>(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

void run_row_max_chain(const float* x, float* y, int rows, int cols)
{
    const unsigned int c = cols;
    if (cols > 256)      rowMaxChain<512><<<rows, 512>>>(x, y, c);
    else if (cols > 128) rowMaxChain<256><<<rows, 256>>>(x, y, c);
    else if (cols > 64)  rowMaxChain<128><<<rows, 128>>>(x, y, c);
    else                 rowMaxChain<64><<<rows, 64>>>(x, y, c);
}
