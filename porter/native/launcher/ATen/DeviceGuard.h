// PyTorch's without lists of tensors, which bring the interpreter's types.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include <optional>

namespace at {
inline std::optional<Device> device_of(const Tensor& t) {
    return t.defined() ? std::make_optional(t.device()) : std::nullopt;
}
}  // namespace at
