// Selection by index and by mask.
#include <algorithm>
#include <numeric>

#include "loops.h"
#include "porter/torch/indexing.h"
#include "steps.h"

namespace at {

namespace {

std::vector<std::int64_t> as_indices(const Tensor& index, std::int64_t extent) {
    TORCH_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, "Expected dtype int32/int64 for index");
    std::vector<std::int64_t> result;
    const auto load = detail::loader<std::int64_t>(index.scalar_type());
    detail::walk(index.sizes(), {detail::operand(index)}, [&](char* const* at) {
        const std::int64_t i = load(at[0]);
        TORCH_CHECK_INDEX(i >= -extent && i < extent, "index ", i, " is out of bounds for dimension with size ",
                          extent);
        result.push_back(i < 0 ? i + extent : i);
    });
    return result;
}

// Indexes by basic indices are a view; `tensors` are what is left: one index tensor for some dimensions.
struct Indexed {
    Tensor view;
    std::vector<std::optional<Tensor>> tensors;
    std::int64_t first() const {
        return std::find_if(tensors.begin(), tensors.end(), [](const auto& t) { return t.has_value(); }) -
               tensors.begin();
    }
};

Indexed apply_basic(const Tensor& x, ArrayRef<indexing::TensorIndex> indices) {
    using Kind = indexing::TensorIndex::Kind;
    std::int64_t consumed = 0;
    for (const auto& i : indices) {
        const bool mask =
            i.kind == Kind::TENSOR && (i.tensor.scalar_type() == kBool || i.tensor.scalar_type() == kByte);
        if (i.kind != Kind::NONE && i.kind != Kind::ELLIPSIS) consumed += mask ? i.tensor.dim() : 1;
    }
    TORCH_CHECK_INDEX(consumed <= x.dim(), "too many indices for tensor of dimension ", x.dim());
    Indexed result{x, {}};
    for (const auto& i : indices) {
        const auto dim = static_cast<std::int64_t>(result.tensors.size());
        if (i.kind == Kind::NONE) result.view = result.view.unsqueeze(dim), result.tensors.emplace_back();
        if (i.kind == Kind::ELLIPSIS) result.tensors.resize(dim + x.dim() - consumed);
        if (i.kind == Kind::INTEGER) result.view = result.view.select(dim, i.integer);
        if (i.kind == Kind::SLICE) {
            result.view = result.view.slice(dim, i.slice.start, i.slice.stop, i.slice.step.value_or(1));
            result.tensors.emplace_back();
        }
        if (i.kind != Kind::TENSOR) continue;
        if (i.tensor.scalar_type() == kBool || i.tensor.scalar_type() == kByte) {
            for (std::int64_t d = 0; d < i.tensor.dim(); ++d) {
                TORCH_CHECK_INDEX(i.tensor.size(d) == result.view.size(dim + d), "The shape of the mask ",
                                  i.tensor.sizes(), " at index ", d, " does not match the shape of the indexed tensor ",
                                  result.view.sizes());
            }
            for (const Tensor& column : i.tensor.nonzero().unbind(1)) result.tensors.emplace_back(column);
        } else {
            result.tensors.emplace_back(i.tensor);
        }
    }
    result.tensors.resize(result.view.dim());
    return result;
}

// The sizes of the result of advanced indexing: those of the index tensors stand at `position`. Where these are not
// neighbours, they come first, as in NumPy.
struct Layout {
    DimVector broadcast, sizes;
    std::int64_t position;
};

Layout layout_of(const Indexed& indexed) {
    std::vector<Tensor> given;
    for (const auto& tensor : indexed.tensors) {
        if (tensor) given.push_back(*tensor);
    }
    const std::int64_t first = indexed.first();
    bool adjacent = true;
    for (std::size_t i = 0; i < given.size(); ++i) adjacent = adjacent && indexed.tensors[first + i].has_value();
    Layout layout{detail::broadcast_sizes(given), {}, adjacent ? first : 0};
    for (std::int64_t d = 0; d < indexed.view.dim(); ++d) {
        if (!indexed.tensors[d]) layout.sizes.push_back(indexed.view.size(d));
    }
    layout.sizes.insert(layout.sizes.begin() + layout.position, layout.broadcast.begin(), layout.broadcast.end());
    return layout;
}

// For every position of the result, the offset in elements of the indexed element in `view`.
Tensor element_offsets(const Indexed& indexed) {
    const auto [broadcast, sizes, position] = layout_of(indexed);
    const std::int64_t rank = indexed.view.dim();
    Tensor offsets = zeros({}, kLong);
    std::int64_t plain = 0;
    for (std::int64_t d = 0; d < rank; ++d) {
        DimVector shape(sizes.size(), 1);
        Tensor along;
        if (indexed.tensors[d]) {
            const std::vector<std::int64_t> indices =
                as_indices(indexed.tensors[d]->expand(broadcast), indexed.view.size(d));
            along = tensor(indices);
            std::copy(broadcast.begin(), broadcast.end(), shape.begin() + position);
        } else {
            along = arange(indexed.view.size(d));
            const std::int64_t at = plain < position ? plain : plain + static_cast<std::int64_t>(broadcast.size());
            shape[at] = indexed.view.size(d);
            ++plain;
        }
        offsets = offsets.add(along.view(shape).mul(indexed.view.stride(d)));
    }
    return offsets.expand(sizes);
}

template <class Body>
void for_each_indexed(const Tensor& offsets, const Tensor& beside, const Tensor& view, const Body& body) {
    char* const base = static_cast<char*>(view.data_ptr());
    const auto bytes = static_cast<std::int64_t>(view.element_size());
    detail::walk(offsets.sizes(), {detail::operand(offsets), detail::operand(beside)}, [&](char* const* at) {
        body(at[1], base + *reinterpret_cast<const std::int64_t*>(at[0]) * bytes);
    });
}

void take_offsets(const Tensor& out, const Tensor& x, const Tensor& offsets) {
    for_each_indexed(offsets, out, x,
                     [bytes = x.element_size()](char* to, char* from) { porter::simt::device_copy(to, from, bytes); });
}

// Offsets of gather and scatter: along `dim` the index decides, elsewhere the position.
Tensor gather_offsets(const Tensor& x, std::int64_t dim, const Tensor& index) {
    dim = detail::wrap_dim(dim, x);
    TORCH_CHECK(index.dim() == x.dim(), "Index tensor must have the same number of dimensions as input tensor");
    Tensor offsets = tensor(as_indices(index, x.size(dim))).view(index.sizes()).mul(x.stride(dim));
    for (std::int64_t d = 0; d < x.dim(); ++d) {
        if (d == dim) continue;
        TORCH_CHECK(index.size(d) <= x.size(d), "Size does not match at dimension ", d, " expected index ",
                    index.sizes(), " to be no larger than self ", x.sizes(), " apart from dimension ", dim);
        DimVector shape(x.dim(), 1);
        shape[d] = index.size(d);
        offsets = offsets.add(arange(index.size(d)).view(shape).mul(x.stride(d)));
    }
    return offsets;
}

void put_offsets(const Tensor& x, const Tensor& offsets, const Tensor& values) {
    const Tensor source = values.to(x.scalar_type()).expand(offsets.sizes());
    for_each_indexed(offsets, source, x,
                     [bytes = x.element_size()](char* from, char* to) { porter::simt::device_copy(to, from, bytes); });
}

template <class N>
void add_numbers(const Tensor& x, const Tensor& offsets, const Tensor& values) {
    const auto load = detail::loader<N>(x.scalar_type());
    const auto store = detail::storer<N>(x.scalar_type());
    const Tensor source = values.to(x.scalar_type()).expand(offsets.sizes());
    for_each_indexed(offsets, source, x, [&](char* from, char* to) { store(to, load(to) + load(from)); });
}

void add_offsets(const Tensor& x, const Tensor& offsets, const Tensor& values) {
    if (detail::computes_in_double(x.scalar_type())) add_numbers<double>(x, offsets, values);
    else add_numbers<std::int64_t>(x, offsets, values);
}

// `tensors` behind the first are the index tensors of `view`, for these dimensions.
Tensor offsets_by(const Tensor& view, TensorList tensors, detail::Numbers dims) {
    Indexed indexed{view, std::vector<std::optional<Tensor>>(view.dim())};
    for (std::size_t i = 0; i < dims.size(); ++i) indexed.tensors[static_cast<std::size_t>(dims[i])] = tensors[i + 1];
    return element_offsets(indexed);
}

PORTER_STEP(index) { take_offsets(out[0], in[0], offsets_by(in[0], in, numbers)); }
PORTER_STEP(index_put) { put_offsets(out[0], offsets_by(out[0], in, numbers), in[0]); }
PORTER_STEP(index_add) { add_offsets(out[0], offsets_by(out[0], in, numbers), in[0]); }
PORTER_STEP(gather) { take_offsets(out[0], in[0], gather_offsets(in[0], static_cast<std::int64_t>(numbers[0]), in[1])); }
PORTER_STEP(scatter) { put_offsets(out[0], gather_offsets(out[0], static_cast<std::int64_t>(numbers[0]), in[1]), in[0]); }
PORTER_STEP(scatter_add) { add_offsets(out[0], gather_offsets(out[0], static_cast<std::int64_t>(numbers[0]), in[1]), in[0]); }

// Carries out a step on what is indexed; `first` is what it reads besides the index tensors.
void carry_out(const detail::Step& step, const Tensor& out, const Tensor& first, const Indexed& indexed) {
    std::vector<Tensor> in = {first};
    std::vector<double> dims;
    for (std::size_t d = 0; d < indexed.tensors.size(); ++d) {
        if (indexed.tensors[d]) in.push_back(*indexed.tensors[d]), dims.push_back(double(d));
    }
    step({out}, in, dims);
}

Tensor taken(const Indexed& indexed) {
    const Tensor out = empty(layout_of(indexed).sizes, indexed.view.options());
    carry_out(index_step, out, indexed.view, indexed);
    return out;
}

// `x` with one index tensor, for a dimension.
Indexed along_dimension(const Tensor& x, std::int64_t dim, const Tensor& index) {
    Indexed indexed{x, std::vector<std::optional<Tensor>>(x.dim())};
    indexed.tensors[detail::wrap_dim(dim, x)] = index;
    return indexed;
}

}  // namespace

Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
    const Indexed indexed = apply_basic(*this, indices);
    if (indexed.first() == indexed.view.dim()) return indexed.view;
    return taken(indexed);
}
Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
    return index(ArrayRef<indexing::TensorIndex>(indices));
}
Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values) const {
    const Indexed indexed = apply_basic(*this, indices);
    if (indexed.first() == indexed.view.dim()) indexed.view.copy_(values);
    else carry_out(index_put_step, indexed.view, values, indexed);
    return self();
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& values) const {
    return index_put_(ArrayRef<indexing::TensorIndex>(indices), values);
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) const {
    return index_put_(indices, scalar_tensor(value, options()));
}

Tensor Tensor::index_select(std::int64_t dim, const Tensor& index) const {
    TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
    return taken(along_dimension(*this, dim, index.reshape({-1})));
}

Tensor& Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
    carry_out(index_add_step, *this, alpha.equal(1) ? source : source.mul(alpha), along_dimension(*this, dim, index));
    return self();
}

Tensor& Tensor::index_fill_(std::int64_t dim, const Tensor& index, const Scalar& value) const {
    carry_out(index_put_step, *this, scalar_tensor(value, options()), along_dimension(*this, dim, index));
    return self();
}

Tensor Tensor::gather(std::int64_t dim, const Tensor& index) const {
    const Tensor out = empty(index.sizes(), options());
    gather_step({out}, {*this, index}, {double(dim)});
    return out;
}
Tensor& Tensor::scatter_(std::int64_t dim, const Tensor& index, const Tensor& source) const {
    scatter_step({*this}, {source.as_strided(index.sizes(), source.strides()), index}, {double(dim)});
    return self();
}
Tensor& Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source) const {
    scatter_add_step({*this}, {source.as_strided(index.sizes(), source.strides()), index}, {double(dim)});
    return self();
}

Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
    return at::where(mask, scalar_tensor(value, options()), *this);
}

// The positions of what is not zero, and how many there are: there is room for all.
PORTER_STEP(nonzero) {
    const Tensor set = in[0].ne(0);
    std::vector<std::int64_t> found;
    std::int64_t count = 0;
    DimVector position(set.dim(), 0);
    detail::walk(set.sizes(), {detail::operand(set)}, [&](char* const* at) {
        if (*at[0]) found.insert(found.end(), position.begin(), position.end()), ++count;
        for (std::int64_t d = set.dim() - 1; d >= 0 && ++position[d] == set.size(d); --d) position[d] = 0;
    });
    out[0].narrow(0, 0, count).copy_(tensor(found).view({count, set.dim()}));
    out[1].fill_(count);
}

Tensor Tensor::nonzero() const {
    const Tensor found = empty({numel(), dim()}, TensorOptions(kLong).device(device()));
    const Tensor count = zeros({1}, found.options());
    nonzero_step({found, count}, {*this});
    return found.narrow(0, 0, count.item<std::int64_t>()).t().contiguous().t();  // torch has the columns dense
}

Tensor Tensor::masked_select(const Tensor& mask) const {
    const DimVector sizes = detail::broadcast_sizes({*this, mask});
    return expand(sizes).index({mask.expand(sizes)});
}

Tensor& index_select_out(Tensor& out, const Tensor& x, std::int64_t dim, const Tensor& index) {
    const Tensor result = x.index_select(dim, index);
    return detail::resize_output(out, result.sizes()).copy_(result);
}

}  // namespace at
