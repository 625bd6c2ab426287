// TensorAccessor (host) and PackedTensorAccessor (passed to kernels by value): indexed access of a fixed rank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "porter/torch/array_ref.h"

namespace at {

template <class T>
struct DefaultPtrTraits {
    using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
    using PtrType = T* __restrict__;
};

// Sizes and strides are someone else's: the tensor's, or the packed accessor's this one was taken from.
template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits, class Index = std::int64_t>
class TensorAccessor {
public:
    using PtrType = typename Traits<T>::PtrType;
    TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    c10::ArrayRef<Index> sizes() const { return {sizes_, N}; }
    c10::ArrayRef<Index> strides() const { return {strides_, N}; }
    Index size(Index dim) const { return sizes_[dim]; }
    Index stride(Index dim) const { return strides_[dim]; }
    PtrType data() const { return data_; }
    decltype(auto) operator[](Index i) const {
        if constexpr (N == 1) return (data_[strides_[0] * i]);
        else return TensorAccessor<T, N - 1, Traits, Index>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }

private:
    PtrType data_;
    const Index *sizes_, *strides_;
};

template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits, class Index = std::int64_t>
class GenericPackedTensorAccessor {
public:
    using PtrType = typename Traits<T>::PtrType;
    template <class Source>
    GenericPackedTensorAccessor(PtrType data, const Source* sizes, const Source* strides) : data_(data) {
        for (std::size_t i = 0; i < N; ++i)
            sizes_[i] = static_cast<Index>(sizes[i]), strides_[i] = static_cast<Index>(strides[i]);
    }
    Index size(Index dim) const { return sizes_[dim]; }
    Index stride(Index dim) const { return strides_[dim]; }
    PtrType data() const { return data_; }
    decltype(auto) operator[](Index i) const {
        if constexpr (N == 1) return (data_[strides_[0] * i]);
        else return TensorAccessor<T, N - 1, Traits, Index>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }

private:
    PtrType data_;
    Index sizes_[N], strides_[N];
};

template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, std::int32_t>;
template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, std::int64_t>;
template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits, class Index = std::int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, Index>;

}  // namespace at
