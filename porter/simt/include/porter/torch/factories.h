// Functions that make tensors. `empty` is poisoned: what a kernel leaves unwritten shows.
#pragma once

#include "porter/torch/functions.h"

namespace at {

Tensor empty(IntArrayRef sizes, TensorOptions options = {}, std::optional<MemoryFormat> format = {});
Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {});
Tensor empty_like(const Tensor& like, TensorOptions options = {}, std::optional<MemoryFormat> format = {});
Tensor full(IntArrayRef sizes, const Scalar& value, TensorOptions options = {});
Tensor zeros(IntArrayRef sizes, TensorOptions options = {});
Tensor ones(IntArrayRef sizes, TensorOptions options = {});
Tensor full_like(const Tensor& like, const Scalar& value, TensorOptions options = {},
                 std::optional<MemoryFormat> format = {});
Tensor zeros_like(const Tensor& like, TensorOptions options = {}, std::optional<MemoryFormat> format = {});
Tensor ones_like(const Tensor& like, TensorOptions options = {}, std::optional<MemoryFormat> format = {});
Tensor arange(const Scalar& end, TensorOptions options = {});
Tensor arange(const Scalar& start, const Scalar& end, TensorOptions options = {});
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, TensorOptions options = {});
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, TensorOptions options = {});
Tensor eye(std::int64_t n, TensorOptions options = {});
Tensor scalar_tensor(const Scalar& value, TensorOptions options = {});

// Random numbers come from one stream started by `manual_seed`, 0 at first: the same program makes the same numbers.
void manual_seed(std::uint64_t seed);
Tensor rand(IntArrayRef sizes, TensorOptions options = {});
Tensor randn(IntArrayRef sizes, TensorOptions options = {});
Tensor rand_like(const Tensor& like, TensorOptions options = {});
Tensor randn_like(const Tensor& like, TensorOptions options = {});
Tensor randint(std::int64_t high, IntArrayRef sizes, TensorOptions options = {});
Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef sizes, TensorOptions options = {});
Tensor randperm(std::int64_t n, TensorOptions options = {});

// The caller keeps the memory; `deleter` runs when the last tensor on it goes.
Tensor from_blob(void* data, IntArrayRef sizes, TensorOptions options = {});
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {});
Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter, TensorOptions options = {});

// From a list of numbers: its type is the tensor's unless the options name one, as at::tensor.
template <class T>
Tensor tensor(ArrayRef<T> values, TensorOptions options = {}) {
    static_assert(std::is_same_v<T, bool> || sizeof(CppTypeToScalarType<T>), "an element type of torch");
    const Tensor cpu = from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size())},
                                 CppTypeToScalarType<T>::value);
    return cpu.to(TensorOptions(CppTypeToScalarType<T>::value).device(kCPU).merge_in(options), false, true);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, TensorOptions options = {}) {
    return tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(const std::vector<T>& values, TensorOptions options = {}) {
    return tensor(ArrayRef<T>(values), options);
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
Tensor tensor(T value, TensorOptions options = {}) {
    return tensor(ArrayRef<T>(value), options).squeeze(0);
}

}  // namespace at
