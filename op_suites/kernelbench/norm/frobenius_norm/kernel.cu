// x / ||x||: a two-stage reduction over the whole tensor that gives the same bits every time, then a scaling.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#define THREADS 256
#define MAX_BLOCKS 1024

// Sums `value` over a block by a tree in shared memory; the result is thread 0's. The last warp needs no barrier of the
// whole block, but its lanes still have to wait for each other before they read what others wrote.
__device__ float block_sum(float value) {
    __shared__ float buffer[THREADS];
    const unsigned int t = threadIdx.x;
    buffer[t] = value;
    __syncthreads();
    for (unsigned int half = THREADS / 2; half > 32; half >>= 1) {
        if (t < half)
            buffer[t] += buffer[t + half];
        __syncthreads();
    }
    if (t < 32) {
        float sum = buffer[t] + buffer[t + 32];
        for (unsigned int half = 16; half > 0; half >>= 1) {
            buffer[t] = sum;
            __syncwarp();
            if (t < half)
                sum += buffer[t + half];
            __syncwarp();
        }
        value = sum;
    }
    return value;
}

__global__ void squares_kernel(const float* x, float* partial, long long n) {
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS)
        sum += x[i] * x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

__global__ void norm_kernel(const float* partial, float* norm, int blocks) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += THREADS)
        sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *norm = sqrtf(sum);
}

__global__ void divide_kernel(const float* x, const float* norm, float* y, long long n) {
    const float divisor = *norm;
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS)
        y[i] = x[i] / divisor;
}

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    long long n = x.numel();
    torch::Tensor y = torch::empty_like(x);
    if (n == 0)
        return y;

    long long needed = (n + THREADS - 1) / THREADS;
    int blocks = needed < MAX_BLOCKS ? (int)needed : MAX_BLOCKS;
    torch::Tensor partial = torch::empty({blocks}, x.options());
    torch::Tensor norm = torch::empty({1}, x.options());
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    squares_kernel<<<blocks, THREADS, 0, stream>>>(x.data_ptr<float>(), partial.data_ptr<float>(), n);
    norm_kernel<<<1, THREADS, 0, stream>>>(partial.data_ptr<float>(), norm.data_ptr<float>(), blocks);
    divide_kernel<<<blocks, THREADS, 0, stream>>>(x.data_ptr<float>(), norm.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "x divided by its Frobenius norm");
}
