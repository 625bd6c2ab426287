// y[i] = (sum over j of h(a[i, j] - b[i, j])) / cols, h(d) = 0.5 d^2 / beta if |d| < beta else |d| - 0.5 beta
#include <cuda_runtime.h>
#include <functional>

template <class F>
struct Residual {
    F f;
    const float* a;
    const float* b;
    __device__ float operator()(size_t k) const { return f(a[k] - b[k]); }
};

struct Huberish {
    float beta;
    __device__ float operator()(float d) const
    {
        d = fabsf(d);
        return d < beta ? 0.5f * d * d / beta : d - 0.5f * beta;
    }
};

template <int LOG_THREADS, class G>
__global__ void mean_of(G g, float* y, int cols)
{
    constexpr int T = 1 << LOG_THREADS;
    __shared__ float s[T];
    float acc = 0;
    for (int j = threadIdx.x; j < cols; j += T)
        acc += g((size_t)blockIdx.x * cols + j);
    s[threadIdx.x] = acc;

#pragma unroll
    for (int l = LOG_THREADS - 1; l >= 0; --l) {
        __syncthreads();
        if (threadIdx.x < (1 << l))
            s[threadIdx.x] += s[threadIdx.x | (1 << l)];
    }
    // thread 0 wrote s[0] itself
    if (threadIdx.x == 0)
        y[blockIdx.x] = s[0] / static_cast<float>(cols);
}

void run_smooth_l1_rows(const float* a, const float* b, float* y, int rows, int cols, float beta)
{
    Residual<Huberish> g{{beta}, a, b};
    mean_of<7><<<rows, 1 << 7>>>(g, y, cols);
}
