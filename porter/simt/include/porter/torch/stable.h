// PyTorch's stable interface, torch::stable and torch::headeronly: the same tensors under other names, with free
// functions in the place of methods.
#pragma once

#include "porter/torch/cuda.h"
#include "porter/torch/dispatch.h"
#include "porter/torch/factories.h"
#include "porter/torch/python.h"

namespace torch::headeronly {

using namespace c10;
using IntHeaderOnlyArrayRef = c10::IntArrayRef;
template <class T> using HeaderOnlyArrayRef = c10::ArrayRef<T>;
template <class T, std::size_t N> using HeaderOnlyTensorAccessor = at::TensorAccessor<T, N>;

namespace detail {
inline std::string check_message(const char* expected, const std::string& told) {
    return told.empty() ? std::string(expected) : told;
}
}  // namespace detail

}  // namespace torch::headeronly

namespace torch::stable {

using at::Tensor;
using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::IntArrayRef;
using c10::Layout;
using c10::ScalarType;

namespace detail {
using Type = std::optional<ScalarType>;
inline at::TensorOptions options(const Tensor& like, Type type, std::optional<Device> device = {}) {
    const at::TensorOptions own = type ? like.options().dtype(*type) : like.options();
    return device ? own.device(*device) : own;
}
}  // namespace detail

inline Tensor empty(IntArrayRef sizes, detail::Type type = {}, std::optional<Layout> = {},
                    std::optional<Device> device = {}, std::optional<bool> = {}) {
    at::TensorOptions options(type.value_or(c10::kFloat));
    return at::empty(sizes, options.device(device.value_or(Device(c10::kCPU))));
}
inline Tensor full(IntArrayRef sizes, double value, detail::Type type = {}, std::optional<Layout> = {},
                   std::optional<Device> device = {}, std::optional<bool> = {}) {
    return empty(sizes, type, {}, device).fill_(value);
}
inline Tensor empty_like(const Tensor& like) { return at::empty_like(like); }
inline Tensor new_empty(const Tensor& like, IntArrayRef sizes, detail::Type type = {}, std::optional<Layout> = {},
                        std::optional<Device> device = {}, std::optional<bool> = {}) {
    return at::empty(sizes, detail::options(like, type, device));
}
inline Tensor new_zeros(const Tensor& like, IntArrayRef sizes, detail::Type type = {}, std::optional<Layout> = {},
                        std::optional<Device> device = {}, std::optional<bool> = {}) {
    return at::zeros(sizes, detail::options(like, type, device));
}
inline Tensor fill_(const Tensor& x, double value) { return x.fill_(value); }
inline Tensor zero_(const Tensor& x) { return x.zero_(); }
inline Tensor copy_(const Tensor& x, const Tensor& source, std::optional<bool> = {}) { return x.copy_(source); }
inline Tensor clone(const Tensor& x) { return x.clone(); }
inline Tensor contiguous(const Tensor& x) { return x.contiguous(); }
inline Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length) {
    return x.narrow(dim, start, length);
}
inline Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index) { return x.select(dim, index); }
inline Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b) { return x.transpose(a, b); }
inline Tensor flatten(const Tensor& x, std::int64_t first = 0, std::int64_t last = -1) { return x.flatten(first, last); }
inline Tensor unsqueeze(const Tensor& x, std::int64_t dim) { return x.unsqueeze(dim); }
inline Tensor squeeze(const Tensor& x, std::int64_t dim) { return x.squeeze(dim); }
inline Tensor view(const Tensor& x, IntArrayRef sizes) { return x.view(sizes); }
inline Tensor reshape(const Tensor& x, IntArrayRef sizes) { return x.reshape(sizes); }
inline Tensor matmul(const Tensor& x, const Tensor& y) { return x.matmul(y); }
inline Tensor subtract(const Tensor& x, const Tensor& y, double alpha = 1) { return x.sub(y, alpha); }
inline Tensor amax(const Tensor& x, IntArrayRef dims, bool keepdim = false) { return x.amax(dims, keepdim); }
inline Tensor sum(const Tensor& x, at::OptionalIntArrayRef dims = {}, bool keepdim = false, detail::Type type = {}) {
    return x.sum(dims, keepdim, type);
}
inline Tensor to(const Tensor& x, ScalarType type, bool non_blocking = false, bool copy = false) {
    return x.to(type, non_blocking, copy);
}
inline Tensor to(const Tensor& x, Device device, bool non_blocking = false, bool copy = false) {
    return x.to(device, non_blocking, copy);
}

namespace accelerator {
using DeviceIndex = std::int32_t;
class DeviceGuard {
public:
    explicit DeviceGuard(DeviceIndex index) { c10::detail::check_ordinal(index); }
    DeviceGuard(const DeviceGuard&) = delete;
    ~DeviceGuard() {}
    void set_index(DeviceIndex) {}
};
class Stream {
public:
    std::int64_t id() const { return 0; }
    void* nativeHandle() const { return c10::cuda::getCurrentCUDAStream().stream(); }
};
inline Stream getCurrentStream(DeviceIndex) { return {}; }
inline DeviceIndex getCurrentDeviceIndex() { return 0; }
}  // namespace accelerator

}  // namespace torch::stable

// C functions for what has no stable name.
using AOTITorchError = std::int32_t;
inline constexpr AOTITorchError AOTI_TORCH_SUCCESS = 0;
inline AOTITorchError aoti_torch_get_current_cuda_stream(std::int32_t, void** stream) {
    *stream = c10::cuda::getCurrentCUDAStream().stream();
    return AOTI_TORCH_SUCCESS;
}
inline AOTITorchError aoti_torch_get_current_device_index(std::int32_t* index) {
    *index = 0;
    return AOTI_TORCH_SUCCESS;
}

#define C10_UNLIKELY_OR_CONST(condition) condition
#define STD_TORCH_CHECK_MSG(condition, type, ...) \
    (::torch::headeronly::detail::check_message("Expected " #condition " to be true, but got false.", \
                                                ::c10::str(__VA_ARGS__)))
#define STD_TORCH_CHECK(condition, ...) PORTER_TORCH_CHECK(::c10::Error, condition, ##__VA_ARGS__)
#define STD_TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
    PORTER_TORCH_CHECK(::c10::NotImplementedError, condition, ##__VA_ARGS__)
#define TORCH_ERROR_CODE_CHECK(call) STD_TORCH_CHECK((call) == AOTI_TORCH_SUCCESS, #call)
#define STABLE_TORCH_ERROR_CODE_CHECK(call) TORCH_ERROR_CODE_CHECK(call)
#define STD_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define STD_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_KERNEL_LAUNCH_CHECK()
#define THO_DISPATCH_SWITCH(type, name, ...) AT_DISPATCH_SWITCH(type, name, __VA_ARGS__)
#define THO_DISPATCH_CASE(type, ...) AT_DISPATCH_CASE(type, __VA_ARGS__)
#define STABLE_TORCH_LIBRARY(ns, variable) TORCH_LIBRARY(ns, variable)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, variable) TORCH_LIBRARY_FRAGMENT(ns, variable)
#define STABLE_TORCH_LIBRARY_IMPL(ns, key, variable) TORCH_LIBRARY_IMPL(ns, key, variable)
#define TORCH_BOX(function) (function)
