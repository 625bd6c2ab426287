// at::TensorBase: geometry, dtype, device and data of a tensor.
#pragma once

#include "porter/torch/accessor.h"
#include "porter/torch/storage.h"

namespace at {

using namespace c10;

// What `tensor.type()` returns: dtype and backend, before torch had dtype() and device().
class DeprecatedTypeProperties {
public:
    DeprecatedTypeProperties(ScalarType type, Device device) : type_(type), device_(device) {}
    ScalarType scalarType() const { return type_; }
    caffe2::TypeMeta typeMeta() const { return scalarTypeToTypeMeta(type_); }
    Backend backend() const { return device_.is_cuda() ? Backend::CUDA : Backend::CPU; }
    DeviceType device_type() const { return device_.type(); }
    bool is_cuda() const { return device_.is_cuda(); }
    bool is_sparse() const { return false; }
    std::string toString() const;
    TensorOptions options() const { return TensorOptions(type_).device(device_); }
    operator TensorOptions() const { return options(); }
    bool operator==(const DeprecatedTypeProperties& other) const {
        return type_ == other.type_ && device_.type() == other.device_.type();
    }
    bool operator!=(const DeprecatedTypeProperties& other) const { return !(*this == other); }

private:
    ScalarType type_;
    Device device_;
};

inline DeprecatedTypeProperties CUDA(ScalarType type) { return {type, Device(kCUDA)}; }
inline DeprecatedTypeProperties CPU(ScalarType type) { return {type, Device(kCPU)}; }

// What needs no other tensor: geometry, dtype, device and data.
class TensorBase {
public:
    TensorBase() = default;
    explicit TensorBase(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}
    const std::shared_ptr<TensorImpl>& impl() const { return impl_; }

    bool defined() const { return impl_ != nullptr; }
    void reset() { impl_.reset(); }
    bool is_same(const TensorBase& other) const { return impl_ == other.impl_; }
    long use_count() const { return impl_.use_count(); }

    IntArrayRef sizes() const { return get().sizes; }
    IntArrayRef strides() const { return get().strides; }
    IntArrayRef sym_sizes() const { return sizes(); }
    std::int64_t dim() const { return static_cast<std::int64_t>(get().sizes.size()); }
    std::int64_t ndimension() const { return dim(); }
    std::int64_t size(std::int64_t dim) const;
    std::int64_t stride(std::int64_t dim) const;
    std::int64_t sym_size(std::int64_t dim) const { return size(dim); }
    std::int64_t numel() const { return numel_of(get().sizes); }
    std::int64_t storage_offset() const { return get().offset; }
    std::size_t element_size() const { return elementSize(get().dtype); }
    std::size_t itemsize() const { return element_size(); }
    std::size_t nbytes() const { return static_cast<std::size_t>(numel()) * element_size(); }
    const Storage& storage() const { return *get().storage; }
    bool has_storage() const { return true; }

    ScalarType scalar_type() const { return impl_ ? impl_->dtype : ScalarType::Undefined; }
    caffe2::TypeMeta dtype() const { return scalarTypeToTypeMeta(get().dtype); }
    Device device() const { return get().storage->device(); }
    DeviceIndex get_device() const { return device().index(); }
    std::int32_t get_device_index() const { return get_device(); }
    Layout layout() const { return kStrided; }
    TensorOptions options() const { return TensorOptions(get().dtype).device(device()).layout(kStrided); }
    DeprecatedTypeProperties type() const { return {get().dtype, device()}; }
    bool is_cuda() const { return impl_ && device().is_cuda(); }
    bool is_cpu() const { return impl_ && device().is_cpu(); }
    bool is_hip() const { return false; }
    bool is_xpu() const { return false; }
    bool is_sparse() const { return false; }
    bool is_quantized() const { return false; }
    bool is_nested() const { return false; }
    bool is_meta() const { return false; }
    bool is_complex() const { return false; }
    bool is_pinned() const { return false; }
    bool is_floating_point() const { return isFloatingType(get().dtype); }
    bool is_signed() const { return isSignedType(get().dtype); }
    bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
    bool is_non_overlapping_and_dense() const;
    MemoryFormat suggest_memory_format() const;

    bool requires_grad() const { return get().requires_grad; }
    bool is_leaf() const { return true; }

    void* data_ptr() const;
    void* mutable_data_ptr() const { return data_ptr(); }
    const void* const_data_ptr() const { return data_ptr(); }
    template <class T>
    T* data_ptr() const {
        using Element = std::remove_const_t<T>;
        static_assert(is_element<Element>::value, "torch has no data_ptr<T> for this T; reinterpret_cast the pointer");
        return static_cast<T*>(data_of_type(CppTypeToScalarType<Element>::value, holds<Element>(scalar_type())));
    }
    template <class T> T* mutable_data_ptr() const { return data_ptr<T>(); }
    template <class T> const T* const_data_ptr() const { return data_ptr<T>(); }

    template <class T, std::size_t N>
    TensorAccessor<T, N> accessor() const & { return {data_of_rank<T>(N), sizes().data(), strides().data()}; }
    template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits, class Index = std::int64_t>
    GenericPackedTensorAccessor<T, N, Traits, Index> generic_packed_accessor() const & {
        return {data_of_rank<T>(N), sizes().data(), strides().data()};
    }
    template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
    PackedTensorAccessor32<T, N, Traits> packed_accessor32() const & {
        check_small_enough();
        return generic_packed_accessor<T, N, Traits, std::int32_t>();
    }
    template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
    PackedTensorAccessor64<T, N, Traits> packed_accessor64() const & {
        return generic_packed_accessor<T, N, Traits, std::int64_t>();
    }
    template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits, class Index = std::int64_t>
    GenericPackedTensorAccessor<T, N, Traits, Index> packed_accessor() const & {
        return generic_packed_accessor<T, N, Traits, Index>();
    }

protected:
    // What is checked throws from the library, so that sources need not compile the messages.
    TensorImpl& get() const;
    void* data_of_type(ScalarType wanted, bool is_held) const;
    void check_small_enough() const;  // for indices of 32 bits
    void check_rank(std::size_t rank) const;
    template <class T>
    T* data_of_rank(std::size_t rank) const {
        check_rank(rank);
        return data_ptr<T>();
    }
    std::shared_ptr<TensorImpl> impl_;

private:
    template <class T, class = void> struct is_element : std::false_type {};
    template <class T>
    struct is_element<T, std::void_t<decltype(CppTypeToScalarType<T>::value)>> : std::true_type {};
};

}  // namespace at
