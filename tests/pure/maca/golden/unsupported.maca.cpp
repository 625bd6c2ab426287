// unsupported.cu ported to MACA xcore1000 by porter 0.1.0, source b380c264e926bd08
#include <mc_runtime.h>
#include <cuda/barrier>
#include <__clang_maca_mma_functions.h>

using namespace mxmaca;

texture<float, 2, cudaReadModeElementType> image;

__global__ void sample(float* out, cudaTextureObject_t object, const int width) {
    out[threadIdx.x] = tex2D(image, threadIdx.x, blockIdx.x) + tex2D<float>(object, 0.5f, 0.5f);
}

__global__ void tiles(const half* a, float* c) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

#if (__MACA_ARCH__ ? 800 : 0) >= 900
__global__ void __cluster_dims__(2, 1, 1) cluster(float* x) { x[0] = 1.0f; }
#endif
