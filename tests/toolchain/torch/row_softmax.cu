// A PyTorch extension in one file: dispatch, dynamic shared memory, a stream, temporaries from ATen, two results.
#include <ATen/AccumulateType.h>
#include <ATen/cuda/ApplyGridUtils.cuh>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/DeviceUtils.cuh>
#include <c10/cuda/CUDAException.h>
#include <torch/extension.h>

template <typename scalar_t, typename acc_t>
__global__ void row_softmax_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, acc_t* __restrict__ top,
                                   int columns) {
    extern __shared__ char storage[];
    acc_t* partial = reinterpret_cast<acc_t*>(storage);
    const int lane = threadIdx.x % C10_WARP_SIZE, warp = threadIdx.x / C10_WARP_SIZE;
    x += blockIdx.x * columns;
    y += blockIdx.x * columns;
    acc_t largest = top[blockIdx.x], sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += std::exp(static_cast<acc_t>(x[i]) - largest);
    for (int offset = C10_WARP_SIZE / 2; offset > 0; offset /= 2) sum += WARP_SHFL_DOWN(sum, offset);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / C10_WARP_SIZE; ++i) partial[0] += partial[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        y[i] = static_cast<scalar_t>(std::exp(static_cast<acc_t>(x[i]) - largest) / partial[0]);
    }
}

std::vector<torch::Tensor> row_softmax(torch::Tensor x, c10::optional<at::Tensor> bias) {
    TORCH_CHECK(x.dim() == 2, "x must be a matrix, not ", x.sizes());
    if (bias.has_value()) x = x + *bias;
    x = x.contiguous();
    auto y = torch::empty_like(x);
    auto top = std::get<0>(x.max(1)).to(at::toAccumulateType(x.scalar_type(), true));
    const int threads = 128;
    dim3 grid;
    TORCH_CHECK(at::cuda::getApplyGrid(x.size(0) * threads, grid, x.get_device(), threads), "no grid");
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "row_softmax", [&] {
        using acc_t = at::acc_type<scalar_t, true>;
        row_softmax_kernel<scalar_t, acc_t><<<grid, threads, threads / C10_WARP_SIZE * sizeof(acc_t), stream>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), top.data_ptr<acc_t>(), x.size(1));
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    return {y, top.to(x.scalar_type())};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("row_softmax", &row_softmax, "softmax of rows", py::arg("x"), py::arg("bias"));
}
