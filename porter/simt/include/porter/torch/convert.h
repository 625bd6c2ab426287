// Job arguments as torch's parameter types, and returned tensors as results.
#pragma once

#include <deque>

#include "porter/convert.h"
#include "porter/torch/factories.h"
#include "porter/torch/generator.h"

namespace porter::simt {

// The table both ways: the executor's dtype and torch's.
inline constexpr std::pair<DType, c10::ScalarType> TORCH_TYPES[] = {
    {DType::FLOAT64, c10::kDouble}, {DType::FLOAT32, c10::kFloat}, {DType::FLOAT16, c10::kHalf},
    {DType::BFLOAT16, c10::kBFloat16}, {DType::FLOAT8_E4M3FN, c10::kFloat8_e4m3fn},
    {DType::FLOAT8_E5M2, c10::kFloat8_e5m2}, {DType::INT64, c10::kLong}, {DType::INT32, c10::kInt},
    {DType::INT16, c10::kShort}, {DType::INT8, c10::kChar}, {DType::UINT64, c10::kUInt64},
    {DType::UINT32, c10::kUInt32}, {DType::UINT16, c10::kUInt16}, {DType::UINT8, c10::kByte}, {DType::BOOL, c10::kBool},
};

// Where `float` is compiled as `double`, a float tensor's elements have 8 bytes: as an argument it says FLOAT32 and has
// the bytes, as a result it says what it holds.
inline DType stored_type(c10::ScalarType type) {
    if (type == c10::kFloat && sizeof(porter::Float) == sizeof(double)) return DType::FLOAT64;
    for (const auto& [dtype, torch_type] : TORCH_TYPES) {
        if (torch_type == type) return dtype;
    }
    __builtin_unreachable();
}

inline c10::ScalarType torch_type(DType wanted) {
    for (const auto& [dtype, torch_type] : TORCH_TYPES) {
        if (dtype == wanted) return torch_type;
    }
    return c10::ScalarType::Undefined;
}

template <>
struct Convert<at::Tensor> {
    static at::Tensor from(Argument& argument) {
        TORCH_CHECK_TYPE(argument.is_tensor, "a tensor is needed, a number was given");
        const at::TensorOptions options = at::TensorOptions(torch_type(argument.dtype)).device(at::kCUDA, 0);
        if (!argument.strides.empty()) {
            const std::size_t before = static_cast<std::size_t>(argument.offset) * c10::elementSize(torch_type(argument.dtype));
            return at::from_blob(static_cast<char*>(argument.data) + before, argument.shape, argument.strides, options);
        }
        const at::Tensor tensor = at::from_blob(argument.data, argument.shape, options);
        TORCH_CHECK(tensor.nbytes() == argument.bytes, "a tensor argument of ", tensor.nbytes(), " bytes came with ",
                    argument.bytes);
        return tensor;
    }
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

// A list parameter is given as one argument: the list has one element.
template <class T>
struct Convert<std::vector<T>> {
    static std::vector<T> from(Argument& argument) { return {Convert<T>::from(argument)}; }
};
template <class T>
struct Convert<c10::ArrayRef<T>> {
    static c10::ArrayRef<T> from(Argument& argument) {
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
    static void into(std::vector<Result>& results, const at::Tensor& value) {
        if (!value.defined()) return results.emplace_back(), void();
        const at::Tensor dense = value.contiguous();
        results.push_back(
            {stored_type(dense.scalar_type()), dense.sizes().vec(), dense.data_ptr(), dense.nbytes(), dense.impl()});
    }
};

}  // namespace porter::simt
