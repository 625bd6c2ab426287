// PyTorch's stable interface, with a dispatch and a check of its own, as libraries of today write them.
#include <cuda/cmath>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>

using torch::stable::Tensor;

namespace own {
template <typename Message>
[[noreturn]] inline void fail(Message&& message) {
    throw std::runtime_error(std::forward<Message>(message));
}
}  // namespace own
#define OWN_CHECK(condition, ...) \
    if (C10_UNLIKELY_OR_CONST(!(condition))) { \
        own::fail(STD_TORCH_CHECK_MSG(condition, "", __func__, ", ", ##__VA_ARGS__)); \
    }
#define OWN_CASE(type, ...) \
    case type: { \
        using scalar_t [[maybe_unused]] = torch::headeronly::impl::ScalarTypeToCPPTypeT<type>; \
        return __VA_ARGS__(); \
    }
#define OWN_DISPATCH(TYPE, NAME, ...) \
    [&] { \
        const auto& the_type = TYPE; \
        C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wswitch-enum") \
        switch (the_type) { \
            OWN_CASE(torch::headeronly::ScalarType::Float, __VA_ARGS__) \
            OWN_CASE(torch::headeronly::ScalarType::Double, __VA_ARGS__) \
            default: OWN_CHECK(false, NAME, " not implemented for ", torch::headeronly::toString(the_type)); \
        } \
        C10_DIAGNOSTIC_POP() \
    }()

template <typename T>
__global__ void scale_kernel(T* y, const T* x, float by, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = x[i] * static_cast<T>(by);
}

Tensor scale(const Tensor& x, double by) {
    OWN_CHECK(x.dim() == 2, "x must have two axes, not ", x.dim());
    STD_TORCH_CHECK(x.is_contiguous());
    const torch::stable::accelerator::DeviceGuard guard(x.get_device_index());
    void* current = nullptr;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(x.get_device_index(), &current));
    const auto stream = static_cast<cudaStream_t>(current);
    Tensor y = torch::stable::new_empty(x, {x.size(0), x.size(1)});
    const int64_t n = x.numel();
    const unsigned blocks = static_cast<unsigned>(cuda::ceil_div(n, static_cast<int64_t>(128)));
    OWN_DISPATCH(x.scalar_type(), "scale", [&]() -> void {
        scale_kernel<scalar_t><<<blocks, 128, 0, stream>>>(
            reinterpret_cast<scalar_t*>(y.data_ptr()), reinterpret_cast<const scalar_t*>(x.data_ptr()), by, n);
    });
    STD_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

STABLE_TORCH_LIBRARY_IMPL(own, CUDA, m) { m.impl("scale", TORCH_BOX(&scale)); }
