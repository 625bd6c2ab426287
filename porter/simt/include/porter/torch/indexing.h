// Indexing as in Python: x.index({Slice(), 0, mask}) and its index_put_.
#pragma once

#include "porter/torch/tensor.h"

namespace at::indexing {

struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis;
inline constexpr std::nullopt_t None = std::nullopt;

struct Slice {
    Slice(std::optional<std::int64_t> start = {}, std::optional<std::int64_t> stop = {},
          std::optional<std::int64_t> step = {})
        : start(start), stop(stop), step(step) {}
    std::optional<std::int64_t> start, stop, step;
};

struct TensorIndex {
    enum class Kind { NONE, ELLIPSIS, INTEGER, SLICE, TENSOR };

    TensorIndex(std::nullopt_t) : kind(Kind::NONE) {}
    TensorIndex(EllipsisIndexType) : kind(Kind::ELLIPSIS) {}
    TensorIndex(const char* text) : kind(Kind::ELLIPSIS) {
        TORCH_CHECK_VALUE(std::string_view(text) == "...",
                          "Expected \"...\" to represent an ellipsis index, but got \"", text, "\"");
    }
    template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
    TensorIndex(T integer) : kind(Kind::INTEGER), integer(static_cast<std::int64_t>(integer)) {}
    TensorIndex(Slice slice) : kind(Kind::SLICE), slice(slice) {}
    TensorIndex(Tensor tensor) : kind(Kind::TENSOR), tensor(std::move(tensor)) {}

    Kind kind;
    std::int64_t integer = 0;
    Slice slice;
    Tensor tensor;
};

}  // namespace at::indexing
