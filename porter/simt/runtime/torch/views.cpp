// Views: the same storage through other sizes, strides and offset.
#include <algorithm>

#include "loops.h"

namespace at {

namespace {

Tensor view_of(const Tensor& x, DimVector sizes, DimVector strides, std::int64_t offset) {
    auto impl = std::make_shared<TensorImpl>(*x.impl());
    impl->sizes = std::move(sizes);
    impl->strides = std::move(strides);
    impl->offset = offset;
    impl->requires_grad = impl->wrapped_number = false;
    return Tensor(std::move(impl));
}

DimVector infer_size(IntArrayRef sizes, std::int64_t count) {
    DimVector inferred(sizes);
    std::int64_t known = 1, unknown = -1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        TORCH_CHECK(sizes[i] >= -1, "invalid shape dimension ", sizes[i]);
        TORCH_CHECK(sizes[i] != -1 || unknown < 0, "only one dimension can be inferred");
        if (sizes[i] == -1) unknown = static_cast<std::int64_t>(i);
        else known *= sizes[i];
    }
    const bool fits = unknown < 0 ? known == count : known != 0 && count % known == 0;
    TORCH_CHECK(fits, "shape '", sizes, "' is invalid for input of size ", count);
    if (unknown >= 0) inferred[unknown] = count / known;
    return inferred;
}

// Strides that show `x` with `sizes` without a copy, if there are any: each run of dimensions that are laid out as one
// must be split or joined within itself.
std::optional<DimVector> view_strides(const Tensor& x, IntArrayRef sizes) {
    if (x.numel() == 0) return x.sizes() == sizes ? DimVector(x.strides()) : dense_strides(sizes);
    DimVector strides(sizes.size());
    std::int64_t view_dim = static_cast<std::int64_t>(sizes.size()) - 1;
    std::int64_t base = x.dim() ? x.strides().back() : 1, run = 1, viewed = 1;
    for (std::int64_t d = x.dim() - 1; d >= 0; --d) {
        run *= x.size(d);
        if (d > 0 && (x.size(d - 1) == 1 || x.stride(d - 1) == run * base)) continue;
        while (view_dim >= 0 && (viewed < run || sizes[view_dim] == 1)) {
            strides[view_dim] = viewed * base;
            viewed *= sizes[view_dim--];
        }
        if (viewed != run) return std::nullopt;
        if (d > 0) base = x.stride(d - 1), run = viewed = 1;
    }
    for (; view_dim >= 0; --view_dim) strides[view_dim] = 1;
    return strides;
}

}  // namespace

Tensor Tensor::detach() const { return view_of(*this, DimVector(sizes()), DimVector(strides()), storage_offset()); }

Tensor Tensor::as_strided(IntArrayRef sizes, IntArrayRef strides, std::optional<std::int64_t> offset) const {
    TORCH_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape");
    std::int64_t last = offset.value_or(storage_offset());
    for (std::size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
    const bool inside =
        numel_of(sizes) == 0 || static_cast<std::size_t>(last + 1) * element_size() <= storage().nbytes();
    TORCH_CHECK(inside, "setStorage: sizes ", sizes, ", strides ", strides, " are out of bounds for the storage");
    return view_of(*this, DimVector(sizes), DimVector(strides), offset.value_or(storage_offset()));
}

Tensor Tensor::view(IntArrayRef sizes) const {
    DimVector inferred = infer_size(sizes, numel());
    std::optional<DimVector> strides = view_strides(*this, inferred);
    TORCH_CHECK(strides,
                "view size is not compatible with input tensor's size and stride (at least one dimension spans "
                "across two contiguous subspaces). Use .reshape(...) instead.");
    return view_of(*this, std::move(inferred), std::move(*strides), storage_offset());
}

Tensor Tensor::view(ScalarType type) const {
    TORCH_CHECK(elementSize(type) == element_size(), "view to a dtype of another size is not offered");
    Tensor result = detach();
    result.impl()->dtype = type;
    return result;
}

Tensor Tensor::reshape(IntArrayRef sizes) const {
    DimVector inferred = infer_size(sizes, numel());
    std::optional<DimVector> strides = view_strides(*this, inferred);
    if (!strides) return clone(MemoryFormat::Contiguous).view(inferred);
    return view_of(*this, std::move(inferred), std::move(*strides), storage_offset());
}

Tensor Tensor::flatten(std::int64_t first, std::int64_t last) const {
    first = detail::wrap_dim(first, *this), last = detail::wrap_dim(last, *this);
    TORCH_CHECK(first <= last, "flatten() has invalid args: start_dim cannot come after end_dim");
    if (dim() == 0) return reshape({1});
    if (first == last) return *this;
    DimVector shape(sizes());
    shape.erase(shape.begin() + first + 1, shape.begin() + last + 1);
    shape[first] = numel_of(sizes().slice(first, last - first + 1));
    return reshape(shape);
}

Tensor Tensor::squeeze() const {
    DimVector shape, step;
    for (std::int64_t d = 0; d < dim(); ++d) {
        if (size(d) != 1) shape.push_back(size(d)), step.push_back(stride(d));
    }
    return view_of(*this, shape, step, storage_offset());
}

Tensor Tensor::squeeze(std::int64_t dim) const {
    dim = detail::wrap_dim(dim, *this);
    DimVector shape(sizes()), step(strides());
    if (this->dim() > 0 && shape[dim] == 1) shape.erase(shape.begin() + dim), step.erase(step.begin() + dim);
    return view_of(*this, shape, step, storage_offset());
}

Tensor Tensor::unsqueeze(std::int64_t dim) const {
    dim = maybe_wrap_dim(dim, this->dim() + 1);
    DimVector shape(sizes()), step(strides());
    const std::int64_t new_stride = dim < this->dim() ? shape[dim] * step[dim] : 1;
    shape.insert(shape.begin() + dim, 1), step.insert(step.begin() + dim, new_stride);
    return view_of(*this, shape, step, storage_offset());
}

Tensor Tensor::permute(IntArrayRef dims) const {
    TORCH_CHECK(static_cast<std::int64_t>(dims.size()) == dim(),
                "permute(sparse_coo): number of dimensions in the tensor "
                "input does not match the length of the desired ordering of dimensions");
    DimVector shape, step;
    std::vector<bool> seen(dims.size());
    for (std::int64_t d : dims) {
        d = detail::wrap_dim(d, *this);
        TORCH_CHECK(!seen[d], "permute(): duplicate dims are not allowed.");
        seen[d] = true;
        shape.push_back(size(d)), step.push_back(stride(d));
    }
    return view_of(*this, shape, step, storage_offset());
}

Tensor Tensor::transpose(std::int64_t a, std::int64_t b) const {
    a = detail::wrap_dim(a, *this), b = detail::wrap_dim(b, *this);
    DimVector shape(sizes()), step(strides());
    if (a != b) std::swap(shape[a], shape[b]), std::swap(step[a], step[b]);
    return view_of(*this, shape, step, storage_offset());
}

Tensor Tensor::t() const {
    TORCH_CHECK(dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", dim(), "D");
    return dim() == 2 ? transpose(0, 1) : *this;
}

Tensor Tensor::expand(IntArrayRef sizes, bool) const {
    const std::int64_t added = static_cast<std::int64_t>(sizes.size()) - dim();
    TORCH_CHECK(added >= 0, "expand: the number of sizes provided (", sizes.size(),
                ") must be greater or equal to the number "
                "of dimensions in the tensor (",
                dim(), ")");
    DimVector shape(sizes), step(sizes.size(), 0);
    for (std::int64_t d = 0; d < dim(); ++d) {
        std::int64_t& wanted = shape[added + d];
        if (wanted == -1) wanted = size(d);
        TORCH_CHECK(wanted == size(d) || size(d) == 1, "The expanded size of the tensor (", wanted,
                    ") must match the existing size (", size(d), ") at non-singleton dimension ", added + d);
        step[added + d] = size(d) == 1 && wanted != 1 ? 0 : stride(d);
    }
    for (std::int64_t d = added - 1; d >= 0; --d) {
        TORCH_CHECK(shape[d] >= 0, "expand: -1 isn't allowed in a leading, non-existing dimension ", d);
        step[d] = shape[d] == 1 && d + 1 < static_cast<std::int64_t>(shape.size()) ? shape[d + 1] * step[d + 1] : 0;
    }
    return view_of(*this, shape, step, storage_offset());
}

Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                     std::int64_t step) const {
    TORCH_CHECK(this->dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
    TORCH_CHECK(step > 0, "slice step must be positive");
    dim = detail::wrap_dim(dim, *this);
    const std::int64_t extent = size(dim);
    const auto bounded = [&](std::int64_t i, std::int64_t low) {
        return std::clamp(i < 0 ? i + extent : i, low, extent);
    };
    const std::int64_t first = bounded(start.value_or(0), 0), last = bounded(end.value_or(extent), first);
    DimVector shape(sizes()), strides(this->strides());
    shape[dim] = (last - first + step - 1) / step;
    strides[dim] *= step;
    return view_of(*this, shape, strides, storage_offset() + first * stride(dim));
}

Tensor Tensor::select(std::int64_t dim, std::int64_t index) const {
    TORCH_CHECK_INDEX(this->dim() > 0, "select() cannot be applied to a 0-dim tensor.");
    dim = detail::wrap_dim(dim, *this);
    const std::int64_t extent = size(dim);
    TORCH_CHECK_INDEX(index >= -extent && index < extent, "select(): index ", index,
                      " out of range for tensor of size ", sizes(), " at dimension ", dim);
    DimVector shape(sizes()), step(strides());
    shape.erase(shape.begin() + dim), step.erase(step.begin() + dim);
    return view_of(*this, shape, step, storage_offset() + (index < 0 ? index + extent : index) * stride(dim));
}

Tensor Tensor::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
    const std::int64_t extent = size(dim);
    if (start < 0) start += extent;
    TORCH_CHECK(length >= 0 && start >= 0 && start + length <= extent, "start (", start, ") + length (", length,
                ") exceeds dimension size (", extent, ").");
    return slice(dim, start, start + length);
}

Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
    dim1 = detail::wrap_dim(dim1, *this), dim2 = detail::wrap_dim(dim2, *this);
    TORCH_CHECK(dim1 != dim2, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
    const std::int64_t row = std::max<std::int64_t>(-offset, 0), column = std::max<std::int64_t>(offset, 0);
    const std::int64_t length = std::max<std::int64_t>(std::min(size(dim1) - row, size(dim2) - column), 0);
    DimVector shape, step;
    for (std::int64_t d = 0; d < dim(); ++d) {
        if (d != dim1 && d != dim2) shape.push_back(size(d)), step.push_back(stride(d));
    }
    shape.push_back(length), step.push_back(stride(dim1) + stride(dim2));
    const std::int64_t start = length ? row * stride(dim1) + column * stride(dim2) : 0;
    return view_of(*this, shape, step, storage_offset() + start);
}

std::vector<Tensor> Tensor::unbind(std::int64_t dim) const {
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < size(dim); ++i) parts.push_back(select(dim, i));
    return parts;
}

std::vector<Tensor> Tensor::split(std::int64_t size, std::int64_t dim) const {
    TORCH_CHECK(size > 0, "split expects split_size to be positive, but got split_size=", size);
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(this->size(dim), 1); i += size)
        parts.push_back(slice(dim, i, i + size));
    return parts;
}

std::vector<Tensor> Tensor::split(IntArrayRef sizes, std::int64_t dim) const {
    std::vector<Tensor> parts;
    std::int64_t start = 0;
    for (std::int64_t size : sizes) parts.push_back(narrow(dim, start, size)), start += size;
    TORCH_CHECK(start == size(dim), "split_with_sizes expects split_sizes to sum exactly to ", size(dim), ", but got ",
                sizes);
    return parts;
}

std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t dim) const {
    TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
    return split(std::max<std::int64_t>((size(dim) + chunks - 1) / chunks, 1), dim);
}

void* TensorBase::data_ptr() const {
    char* const data = static_cast<char*>(get().storage->data());
    return data && numel() ? data + get().offset * static_cast<std::int64_t>(element_size()) : nullptr;
}

bool TensorBase::is_contiguous(MemoryFormat format) const {
    if (format == MemoryFormat::ChannelsLast && dim() != 4) return false;
    if (format == MemoryFormat::ChannelsLast3d && dim() != 5) return false;
    if (numel() == 0) return format == MemoryFormat::Contiguous;
    const DimVector dense = dense_strides(sizes(), format);
    for (std::int64_t d = 0; d < dim(); ++d) {
        if (size(d) != 1 && stride(d) != dense[d]) return false;
    }
    return true;
}

bool TensorBase::is_non_overlapping_and_dense() const {
    if (is_contiguous()) return true;
    DimVector order;
    for (std::int64_t d = 0; d < dim(); ++d) {
        if (size(d) != 1) order.push_back(d);
    }
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return stride(a) < stride(b); });
    std::int64_t expected = 1;
    for (std::int64_t d : order) {
        if (stride(d) != expected) return false;
        expected *= size(d);
    }
    return true;
}

MemoryFormat TensorBase::suggest_memory_format() const {
    // Contiguous wins where both describe the tensor, except as torch does it: one channel with channels-last strides.
    const auto channels_last = [&](MemoryFormat format) {
        return is_contiguous(format) && !(strides() == dense_strides(sizes()));
    };
    if (dim() == 4 && channels_last(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
    if (dim() == 5 && channels_last(MemoryFormat::ChannelsLast3d)) return MemoryFormat::ChannelsLast3d;
    return MemoryFormat::Contiguous;
}

}  // namespace at
