// Running sum of what lies before each element, in three passes that spread one row over many blocks:
// sums of the chunks, a scan of those, a scan within the chunks that starts where the chunk before ended.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

namespace scan {

constexpr int kChunk = 256;  // elements and threads of a block, a power of two

__global__ void chunk_sums(const float* __restrict__ x, float* __restrict__ sums, int cols) {
    __shared__ float s[kChunk];
    const int col = blockIdx.x * kChunk + threadIdx.x;
    s[threadIdx.x] = col < cols ? x[static_cast<int64_t>(blockIdx.y) * cols + col] : 0.0f;
    __syncthreads();
    for (int stride = kChunk / 2; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.y * gridDim.x + blockIdx.x] = s[0];
}

// In place, from sums to the sums before. There are few chunks: one thread a row.
__global__ void scan_sums(float* __restrict__ sums, int rows, int chunks) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float before = 0.0f;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const float sum = sums[row * chunks + chunk];
        sums[row * chunks + chunk] = before;
        before += sum;
    }
}

// Blelloch's scan: up the tree with sums, then down with what lies before.
__global__ void scan_chunks(const float* __restrict__ x, const float* __restrict__ before, float* __restrict__ y,
                            int cols) {
    __shared__ float s[kChunk];
    const int t = threadIdx.x;
    const int col = blockIdx.x * kChunk + t;
    const int64_t at = static_cast<int64_t>(blockIdx.y) * cols + col;
    s[t] = col < cols ? x[at] : 0.0f;

    for (int d = 1; d < kChunk; d *= 2) {
        __syncthreads();
        const int right = (t + 1) * 2 * d - 1;
        if (right < kChunk) s[right] += s[right - d];
    }
    if (t == 0) s[kChunk - 1] = 0.0f;  // this thread alone has written it in the last step
    for (int d = kChunk / 2; d > 0; d /= 2) {
        __syncthreads();
        const int right = (t + 1) * 2 * d - 1;
        if (right < kChunk) {
            const float left = s[right - d];
            s[right - d] = s[right];
            s[right] += left;
        }
    }
    __syncthreads();
    if (col < cols) y[at] = before[blockIdx.y * gridDim.x + blockIdx.x] + s[t];
}

}  // namespace scan

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
    TORCH_CHECK(x.dim() == 2, "x must be a matrix");
    const int rows = x.size(0), cols = x.size(1);
    TORCH_CHECK(rows <= 65535, "too many rows for the grid");
    auto y = torch::empty_like(x);
    if (x.numel() == 0) return y;

    const int chunks = (cols + scan::kChunk - 1) / scan::kChunk;
    auto sums = torch::empty({rows, chunks}, x.options());
    const dim3 grid(chunks, rows);
    const auto stream = at::cuda::getCurrentCUDAStream();
    scan::chunk_sums<<<grid, scan::kChunk, 0, stream>>>(x.data_ptr<float>(), sums.data_ptr<float>(), cols);
    scan::scan_sums<<<(rows + 127) / 128, 128, 0, stream>>>(sums.data_ptr<float>(), rows, chunks);
    scan::scan_chunks<<<grid, scan::kChunk, 0, stream>>>(x.data_ptr<float>(), sums.data_ptr<float>(),
                                                         y.data_ptr<float>(), cols);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "cumsum of what lies before, dim 1");
}
