// c10::TensorOptions: dtype, device and layout of a tensor to be made, each given or left to its default.
#pragma once

#include "porter/torch/array_ref.h"
#include "porter/torch/device.h"
#include "porter/torch/scalar.h"

namespace c10 {

class TensorOptions {
public:
    TensorOptions() = default;
    TensorOptions(ScalarType type) : dtype_(type) {}
    TensorOptions(caffe2::TypeMeta type) : dtype_(type.toScalarType()) {}
    TensorOptions(Layout layout) : layout_(layout) {}
    TensorOptions(MemoryFormat format) : memory_format_(format) {}
    template <class T,
              std::enable_if_t<std::is_convertible_v<T&&, Device> && !std::is_same_v<std::decay_t<T>, TensorOptions>,
                               int> = 0>
    TensorOptions(T&& device) : device_(std::forward<T>(device)) {}

    [[nodiscard]] TensorOptions device(std::optional<Device> device) const {
        return with(&TensorOptions::device_, device);
    }
    template <class... Args>
    [[nodiscard]] TensorOptions device(Args&&... args) const {
        return device(std::optional<Device>(std::in_place, std::forward<Args>(args)...));
    }
    [[nodiscard]] TensorOptions device_index(DeviceIndex index) const { return device(DeviceType::CUDA, index); }
    [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> type) const {
        return with(&TensorOptions::dtype_, type);
    }
    [[nodiscard]] TensorOptions dtype(caffe2::TypeMeta type) const { return dtype(std::optional(type.toScalarType())); }
    template <class T>
    [[nodiscard]] TensorOptions dtype() const {
        return dtype(std::optional(CppTypeToScalarType<T>::value));
    }
    [[nodiscard]] TensorOptions layout(std::optional<Layout> layout) const {
        return with(&TensorOptions::layout_, layout);
    }
    [[nodiscard]] TensorOptions requires_grad(std::optional<bool> requires_grad) const {
        return with(&TensorOptions::requires_grad_, requires_grad);
    }
    [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> pinned) const {
        return with(&TensorOptions::pinned_, pinned);
    }
    [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> format) const {
        return with(&TensorOptions::memory_format_, format);
    }
    [[nodiscard]] TensorOptions merge_in(TensorOptions other) const;  // fields that `other` has replace this one's

    Device device() const { return device_.value_or(Device(kCPU)); }
    bool has_device() const { return device_.has_value(); }
    std::optional<Device> device_opt() const { return device_; }
    DeviceIndex device_index() const { return device().index(); }
    caffe2::TypeMeta dtype() const { return scalarTypeToTypeMeta(scalar_type()); }
    ScalarType scalar_type() const { return dtype_.value_or(kFloat); }
    bool has_dtype() const { return dtype_.has_value(); }
    std::optional<caffe2::TypeMeta> dtype_opt() const {
        return dtype_ ? std::optional(scalarTypeToTypeMeta(*dtype_)) : std::nullopt;
    }
    Layout layout() const { return layout_.value_or(kStrided); }
    bool has_layout() const { return layout_.has_value(); }
    bool requires_grad() const { return requires_grad_.value_or(false); }
    bool has_requires_grad() const { return requires_grad_.has_value(); }
    bool pinned_memory() const { return pinned_.value_or(false); }
    std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }
    bool has_memory_format() const { return memory_format_.has_value(); }
    bool is_sparse() const { return layout() == kSparse; }
    Backend backend() const { return device().is_cuda() ? Backend::CUDA : Backend::CPU; }

private:
    template <class T>
    TensorOptions with(std::optional<T> TensorOptions::* member, std::optional<T> value) const {
        TensorOptions changed = *this;
        changed.*member = value;
        return changed;
    }

    std::optional<ScalarType> dtype_;
    std::optional<Device> device_;
    std::optional<Layout> layout_;
    std::optional<MemoryFormat> memory_format_;
    std::optional<bool> requires_grad_, pinned_;
};

std::ostream& operator<<(std::ostream& stream, const TensorOptions& options);

inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions dtype(caffe2::TypeMeta type) { return TensorOptions(type); }
template <class T> TensorOptions dtype() { return TensorOptions(CppTypeToScalarType<T>::value); }
inline TensorOptions layout(Layout layout) { return TensorOptions(layout); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions device_index(DeviceIndex index) { return TensorOptions().device_index(index); }
inline TensorOptions requires_grad(bool requires_grad = true) { return TensorOptions().requires_grad(requires_grad); }
inline TensorOptions memory_format(MemoryFormat format) { return TensorOptions(format); }

}  // namespace c10
