// Copies, conversions and fills.
#include <cstring>

#include "loops.h"
#include "porter/plan_tensors.h"
#include "porter/torch/convert.h"
#include "steps.h"

namespace at {

namespace {

template <class N>
void convert(const Tensor& to, const Tensor& from) {
    const auto load = detail::loader<N>(from.scalar_type());
    const auto store = detail::storer<N>(to.scalar_type());
    detail::walk(to.sizes(), {detail::operand(to), detail::operand(from)}, [&](char* const* at) { store(at[0], load(at[1])); });
}

PORTER_STEP(to) {
    if (detail::computes_in_double(in[0].scalar_type())) convert<double>(out[0], in[0]);
    else convert<std::int64_t>(out[0], in[0]);
    detail::wrote(out[0]);
}

void move(const Tensor& to, const Tensor& from) {
    const std::size_t bytes = to.element_size();
    detail::walk(to.sizes(), {detail::operand(to), detail::operand(from)},
                 [&](char* const* at) { porter::simt::device_copy(at[0], at[1], bytes); });
}

porter::simt::Elements elements_of(const Tensor& tensor) {
    return {tensor.data_ptr(), porter::simt::stored_type(tensor.scalar_type()), tensor.strides().data()};
}

// Between floats and between integers conversions round; others compute: truncation, or whether a number is not zero.
bool computes(ScalarType to, ScalarType from) {
    if (to == from) return false;
    return to == kBool || (isFloatingType(from) && !isFloatingType(to));
}

// A copy as a step of a plan: what lies in host memory is converted there.
void plan_copy(const Tensor& to, const Tensor& from) {
    if (to.is_cuda() && from.is_cuda()) {
        if (computes(to.scalar_type(), from.scalar_type())) return to_step({to}, {from});
        return porter::simt::plan_move_elements(elements_of(to), elements_of(from), to.sizes().data(), to.sizes().size());
    }
    const Tensor& there = to.is_cuda() ? to : from;
    const Tensor packed = there.is_non_overlapping_and_dense() ? there : empty(there.sizes(), there.options());
    const Tensor here = empty_strided(packed.sizes(), packed.strides(), packed.options().device(kCPU));
    if (to.is_cuda()) {
        here.copy_(from);
        porter::simt::device_copy(packed.data_ptr(), here.data_ptr(), here.nbytes());
        if (!packed.is_same(to)) plan_copy(to, packed);
    } else {
        if (!packed.is_same(from)) plan_copy(packed, from);
        porter::simt::device_copy(here.data_ptr(), packed.data_ptr(), here.nbytes());
        to.copy_(here);
    }
}

}  // namespace

Tensor& Tensor::copy_(const Tensor& source, bool) const {
    const Tensor from = source.expand(sizes());
    if (numel() == 0 || (from.data_ptr() == data_ptr() && from.strides() == strides() && from.dtype() == dtype()))
        return self();
    const bool alike = from.scalar_type() == scalar_type() && is_non_overlapping_and_dense() &&
                       from.is_non_overlapping_and_dense() && from.strides() == strides();
    if (porter::simt::planning() && (is_cuda() || from.is_cuda()) && !alike) return plan_copy(*this, from), self();
    if (from.scalar_type() != scalar_type()) {
        to_step({*this}, {from});
    } else if (alike) {
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
        if (porter::simt::planning() && is_cuda()) {
            std::uint64_t element = 0;
            store(&element, number);
            return porter::simt::plan_fill_elements(elements_of(*this), &element, element_size(), sizes().data(), sizes().size());
        }
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
    if (porter::simt::planning() && is_cuda()) return cpu().item();
    const ScalarType type = scalar_type();
    if (type == kBool) return *static_cast<const bool*>(data_ptr());
    if (detail::computes_in_double(type)) return detail::loader<double>(type)(data_ptr());
    return detail::loader<std::int64_t>(type)(data_ptr());
}

}  // namespace at

extern "C" void porter_convert_element(void* to, porter::simt::DType to_type, const void* from, porter::simt::DType from_type) {
    const c10::ScalarType target = porter::simt::torch_type(to_type), source = porter::simt::torch_type(from_type);
    if (at::detail::computes_in_double(source)) at::detail::storer<double>(target)(to, at::detail::loader<double>(source)(from));
    else at::detail::storer<std::int64_t>(target)(to, at::detail::loader<std::int64_t>(source)(from));
}
