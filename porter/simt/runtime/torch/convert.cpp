// Job arguments as tensors, and tensors as results.
#include "porter/torch/convert.h"

namespace porter::simt {

// The table both ways: the executor's dtype and torch's.
static constexpr std::pair<DType, c10::ScalarType> TORCH_TYPES[] = {
    {DType::FLOAT64, c10::kDouble}, {DType::FLOAT32, c10::kFloat}, {DType::FLOAT16, c10::kHalf},
    {DType::BFLOAT16, c10::kBFloat16}, {DType::FLOAT8_E4M3FN, c10::kFloat8_e4m3fn},
    {DType::FLOAT8_E5M2, c10::kFloat8_e5m2}, {DType::INT64, c10::kLong}, {DType::INT32, c10::kInt},
    {DType::INT16, c10::kShort}, {DType::INT8, c10::kChar}, {DType::UINT64, c10::kUInt64},
    {DType::UINT32, c10::kUInt32}, {DType::UINT16, c10::kUInt16}, {DType::UINT8, c10::kByte}, {DType::BOOL, c10::kBool},
};

DType stored_type(c10::ScalarType type) {
    if (type == c10::kFloat && sizeof(porter::Float) == sizeof(double)) return DType::FLOAT64;
    for (const auto& [dtype, torch_type] : TORCH_TYPES) {
        if (torch_type == type) return dtype;
    }
    __builtin_unreachable();
}

c10::ScalarType torch_type(DType wanted) {
    for (const auto& [dtype, torch_type] : TORCH_TYPES) {
        if (dtype == wanted) return torch_type;
    }
    return c10::ScalarType::Undefined;
}

at::Tensor tensor_of(const Argument& argument) {
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

void add_result(std::vector<Result>& results, const at::Tensor& value) {
    if (!value.defined()) return results.emplace_back(), void();
    const at::Tensor dense = value.contiguous();
    results.push_back(
        {stored_type(dense.scalar_type()), dense.sizes().vec(), dense.data_ptr(), dense.nbytes(), dense.impl()});
}

}  // namespace porter::simt
