// Job arguments as torch's parameter types, and returned tensors as results.
#pragma once

#include <deque>

#include "porter/convert.h"
#include "porter/torch/factories.h"
#include "porter/torch/generator.h"

namespace porter::simt {

// The executor's dtype and torch's.
//
// Where `float` is compiled as `double`, a float tensor's elements have 8 bytes: as an argument it says FLOAT32 and has
// the bytes, as a result it says what it holds.
DType stored_type(c10::ScalarType type);
c10::ScalarType torch_type(DType wanted);

at::Tensor tensor_of(const Argument& argument);
void add_result(std::vector<Result>& results, const at::Tensor& value);

template <>
struct Convert<at::Tensor> {
    static at::Tensor from(Argument& argument) { return tensor_of(argument); }
};

// A number or a null pointer in the place of a tensor, a string, a list or another object is None; a number for a number is that number.
template <class T>
struct Convert<std::optional<T>> {
    static constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, c10::Scalar>;
    static std::optional<T> from(Argument& argument) {
        if (!is_number && argument.data == nullptr) return std::nullopt;
        return Convert<T>::from(argument);
    }
};

// Jobs carry no text.
template <>
struct Convert<std::string> {
    static std::string from(Argument&) { TORCH_CHECK_TYPE(false, "a string parameter has no value in a job"); return {}; }
};

template <>
struct Convert<at::Generator> {
    static at::Generator from(Argument&) { return at::cuda::detail::getDefaultCUDAGenerator(); }
};

// A list parameter is given whole, or as one argument: the list has one element then.
template <class T>
struct Convert<std::vector<T>> {
    static std::vector<T> from(Argument& argument) {
        if (argument.record) return *static_cast<const std::vector<T>*>(argument.record);
        return {Convert<T>::from(argument)};
    }
};
template <class T>
struct Convert<c10::ArrayRef<T>> {
    static c10::ArrayRef<T> from(Argument& argument) {
        if (argument.record) return *static_cast<const c10::ArrayRef<T>*>(argument.record);
        static std::deque<std::vector<T>> lists;  // an ArrayRef owns nothing: kept as long as the process
        return lists.emplace_back(Convert<std::vector<T>>::from(argument));
    }
};

template <>
struct Convert<c10::Scalar> {
    static c10::Scalar from(Argument& argument) {
        return argument.integral ? c10::Scalar(argument.integer) : c10::Scalar(argument.real);
    }
};

template <>
struct Convert<c10::Device> {
    static c10::Device from(Argument&) { return {c10::kCUDA, 0}; }
};

template <>
struct Collect<at::Tensor> {
    static void into(std::vector<Result>& results, const at::Tensor& value) { add_result(results, value); }
};

}  // namespace porter::simt
