// Sums of consecutive rows: segment s is the rows from offsets[s] to offsets[s + 1], and may be empty. A block takes a
// segment and a stretch of columns; the threads of a column's group share the rows among them.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

namespace {

constexpr int kColumns = 64;
constexpr int kGroups = 4;

template <typename scalar_t, typename offset_t>
__global__ void segmented_sum_kernel(const scalar_t* __restrict__ values, const offset_t* __restrict__ offsets,
                                     scalar_t* __restrict__ sums, int columns) {
    __shared__ float partial[kGroups][kColumns];
    const int segment = blockIdx.x;
    const int column = blockIdx.y * kColumns + threadIdx.x;
    const offset_t begin = offsets[segment];
    const offset_t end = offsets[segment + 1];

    float sum = 0.0f;
    if (column < columns) {
        for (offset_t row = begin + threadIdx.y; row < end; row += kGroups) {
            sum += static_cast<float>(values[static_cast<int64_t>(row) * columns + column]);
        }
    }
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();

    if (threadIdx.y == 0 && column < columns) {
#pragma unroll
        for (int group = 1; group < kGroups; ++group) sum += partial[group][threadIdx.x];
        sums[static_cast<int64_t>(segment) * columns + column] = static_cast<scalar_t>(sum);
    }
}

}  // namespace

torch::Tensor forward(torch::Tensor values, torch::Tensor offsets) {
    TORCH_CHECK(values.is_cuda() && values.is_contiguous(), "values must be a contiguous CUDA tensor");
    TORCH_CHECK(values.dim() == 2 && offsets.dim() == 1, "values must be a matrix, offsets a vector");
    TORCH_CHECK(offsets.scalar_type() == torch::kInt32, "offsets must be int32");
    TORCH_CHECK(offsets.numel() >= 1, "offsets must have one element more than there are segments");
    const int segments = offsets.numel() - 1;
    const int columns = values.size(1);
    auto sums = torch::empty({segments, columns}, values.options());
    if (sums.numel() == 0) return sums;

    const dim3 block(kColumns, kGroups);
    const dim3 grid(segments, (columns + kColumns - 1) / kColumns);
    const auto stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, values.scalar_type(), "segmented_sum", [&] {
        segmented_sum_kernel<scalar_t, int><<<grid, block, 0, stream>>>(
            values.data_ptr<scalar_t>(), offsets.data_ptr<int>(), sums.data_ptr<scalar_t>(), columns);
    });
    return sums;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Sums of the rows between offsets");
}
