// y[i, j] = exp(x[i, j] - m[i]) / sum over k of exp(x[i, k] - m[i]), m[i] = max over k of x[i, k]
#include <cuda_runtime.h>
#include <float.h>

struct __align__(8) MD {
    float m;  // running maximum
    float d;  // sum of exp(x - m)
};

__device__ __forceinline__ MD merge_md(MD a, MD b)
{
    const bool a_big = a.m > b.m;
    const MD big = a_big ? a : b;
    const MD small = a_big ? b : a;
    MD res;
    res.m = big.m;
    res.d = big.d + small.d * __expf(small.m - big.m);
    return res;
}

template <int NT>
__global__ void online_softmax(const float* __restrict__ x, float* __restrict__ y, int cols)
{
    __shared__ MD md_shared[NT];
    x += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;

    MD part = {-FLT_MAX, 0.0f};
    for (int k = threadIdx.x; k < cols; k += NT) {
        MD one = {x[k], 1.0f};
        part = merge_md(part, one);
    }
    md_shared[threadIdx.x] = part;
    __syncthreads();

    int active = NT;
    do {
        active /= 2;
        if (threadIdx.x < active)
            md_shared[threadIdx.x] = merge_md(md_shared[threadIdx.x], md_shared[threadIdx.x + active]);
        __syncthreads();
    } while (active > 1);

    const MD total = md_shared[0];
    const float inv = __fdividef(1.0f, total.d);
    for (int k = threadIdx.x; k < cols; k += NT) y[k] = __expf(x[k] - total.m) * inv;
}

void run_softmax_online(const float* x, float* y, int rows, int cols)
{
    online_softmax<256><<<rows, 256>>>(x, y, cols);
}
