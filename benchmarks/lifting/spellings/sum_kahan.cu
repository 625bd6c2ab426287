// y[i] = sum over j of x[i, j], Kahan-Neumaier compensated
#include <cuda_runtime.h>

class Comp {
public:
    __device__ explicit Comp(float s = 0.f, float c = 0.f) : sum(s), err(c) {}

    __device__ void add(float v)
    {
        const float t = __fadd_rn(sum, v);
        if (fabsf(sum) >= fabsf(v))
            err = __fadd_rn(err, __fadd_rn(__fsub_rn(sum, t), v));
        else
            err = __fadd_rn(err, __fadd_rn(__fsub_rn(v, t), sum));
        sum = t;
    }
    __device__ void add(const Comp& o)
    {
        add(o.sum);
        err = __fadd_rn(err, o.err);
    }
    __device__ float value() const { return sum + err; }

    float sum, err;
};

__global__ void kahan_rows(const float* x, float* y, int cols)
{
    __shared__ float sums[128];
    __shared__ float errs[128];
    const int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;

    Comp c;
    for (int j = t; j < cols; j += 128) c.add(row[j]);
    sums[t] = c.sum;
    errs[t] = c.err;
    __syncthreads();

    for (int k = 64; k > 0; k /= 2) {
        if (t < k) {
            c.add(Comp(sums[t + k], errs[t + k]));
            sums[t] = c.sum;
            errs[t] = c.err;
        }
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = c.value();
}

void run_sum_kahan(const float* x, float* y, int rows, int cols)
{
    kahan_rows<<<rows, 128>>>(x, y, cols);
}
