// Copies, conversions and fills.
#include <cstring>

#include "loops.h"

namespace at {

namespace {

template <class N>
void convert(const Tensor& to, const Tensor& from) {
    const auto load = detail::loader<N>(from.scalar_type());
    const auto store = detail::storer<N>(to.scalar_type());
    const std::size_t written = to.element_size(), read = from.element_size();
    detail::walk(to.sizes(), {detail::operand(to), detail::operand(from)}, [&](char* const* at) {
        store(at[0], load(at[1]));
        porter::simt::device_converted(at[0], written, at[1], read);
    });
}

void move(const Tensor& to, const Tensor& from) {
    const std::size_t bytes = to.element_size();
    detail::walk(to.sizes(), {detail::operand(to), detail::operand(from)},
                 [&](char* const* at) { porter::simt::device_copy(at[0], at[1], bytes); });
}

}  // namespace

Tensor& Tensor::copy_(const Tensor& source, bool) const {
    const Tensor from = source.expand(sizes());
    if (numel() == 0 || (from.data_ptr() == data_ptr() && from.strides() == strides() && from.dtype() == dtype()))
        return self();
    if (from.scalar_type() != scalar_type()) {
        detail::computes_in_double(from.scalar_type()) ? convert<double>(*this, from)
                                                       : convert<std::int64_t>(*this, from);
        detail::wrote(*this);
    } else if (is_non_overlapping_and_dense() && from.is_non_overlapping_and_dense() && from.strides() == strides()) {
        porter::simt::device_copy(data_ptr(), from.data_ptr(), nbytes());
    } else {
        move(*this, from);  // element by element, so that what was never written stays so
    }
    return self();
}

Tensor& Tensor::fill_(const Scalar& value) const {
    if (numel() == 0) return self();
    const auto fill = [&](auto number) {
        const auto store = detail::storer<decltype(number)>(scalar_type());
        detail::walk(sizes(), {detail::operand(*this)}, [&](char* const* at) { store(at[0], number); });
    };
    value.isFloatingPoint() ? fill(value.toDouble()) : fill(value.toLong());
    detail::wrote(*this);
    return self();
}

Tensor& Tensor::zero_() const {
    if (!is_non_overlapping_and_dense()) return fill_(0);
    if (is_cuda()) porter::simt::device_fill(data_ptr(), 0, nbytes());
    else if (numel()) std::memset(data_ptr(), 0, nbytes());
    return self();
}

Tensor Tensor::clone(std::optional<MemoryFormat> format) const {
    return empty_like(*this, {}, format.value_or(MemoryFormat::Preserve)).copy_(*this);
}

Tensor Tensor::contiguous(MemoryFormat format) const {
    TORCH_CHECK(format != MemoryFormat::Preserve, "preserve memory format is unsupported by the contiguous operator");
    return is_contiguous(format) ? *this : empty_like(*this, {}, format).copy_(*this);
}

Tensor Tensor::to(TensorOptions options, bool, bool copy, std::optional<MemoryFormat> format) const {
    const TensorOptions wanted = this->options().merge_in(options);
    const MemoryFormat layout = format.value_or(options.memory_format_opt().value_or(MemoryFormat::Preserve));
    const bool same = wanted.scalar_type() == scalar_type() && wanted.device().type() == device().type() &&
                      (layout == MemoryFormat::Preserve || is_contiguous(layout));
    if (same && !copy) return *this;
    return empty_like(*this, wanted.memory_format(std::nullopt), layout).copy_(*this);
}

Tensor& Tensor::resize_(IntArrayRef sizes) const {
    if (this->sizes() == sizes) return self();
    const Tensor fresh = new_empty(sizes);
    const bool fits =
        (static_cast<std::size_t>(storage_offset()) * element_size() + fresh.nbytes()) <= storage().nbytes();
    if (fits) return become(as_strided(sizes, fresh.strides()));
    const Tensor flat = as_strided({static_cast<std::int64_t>(storage().nbytes() / element_size())}, {1}, 0);
    fresh.as_strided(flat.sizes(), {1}).copy_(flat);
    return become(fresh);
}

Scalar Tensor::item() const {
    TORCH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
    const ScalarType type = scalar_type();
    if (type == kBool) return *static_cast<const bool*>(data_ptr());
    if (detail::computes_in_double(type)) return detail::loader<double>(type)(data_ptr());
    return detail::loader<std::int64_t>(type)(data_ptr());
}

}  // namespace at
