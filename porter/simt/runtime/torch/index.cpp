// Selection by index and by mask, joining, sorting.
#include <algorithm>
#include <numeric>

#include "loops.h"
#include "porter/torch/indexing.h"

namespace at {

namespace {

std::vector<std::int64_t> as_indices(const Tensor& index, std::int64_t extent) {
    TORCH_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, "Expected dtype int32/int64 for index");
    std::vector<std::int64_t> result;
    const auto load = detail::loader<std::int64_t>(index.scalar_type());
    detail::walk(index.sizes(), {detail::operand(index)}, [&](char* const* at) {
        const std::int64_t i = load(at[0]);
        TORCH_CHECK_INDEX(i >= -extent && i < extent, "index ", i, " is out of bounds for dimension with size ", extent);
        result.push_back(i < 0 ? i + extent : i);
    });
    return result;
}

// Indexes by basic indices are a view; `tensors` are what is left: one index tensor for some dimensions.
struct Indexed {
    Tensor view;
    std::vector<std::optional<Tensor>> tensors;
    std::int64_t first() const {
        return std::find_if(tensors.begin(), tensors.end(), [](const auto& t) { return t.has_value(); }) - tensors.begin();
    }
};

Indexed apply_basic(const Tensor& x, ArrayRef<indexing::TensorIndex> indices) {
    using Kind = indexing::TensorIndex::Kind;
    std::int64_t consumed = 0;
    for (const auto& i : indices) {
        const bool mask = i.kind == Kind::TENSOR && (i.tensor.scalar_type() == kBool || i.tensor.scalar_type() == kByte);
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
                TORCH_CHECK_INDEX(i.tensor.size(d) == result.view.size(dim + d), "The shape of the mask ", i.tensor.sizes(),
                                  " at index ", d, " does not match the shape of the indexed tensor ", result.view.sizes());
            }
            for (const Tensor& column : i.tensor.nonzero().unbind(1)) result.tensors.emplace_back(column);
        } else {
            result.tensors.emplace_back(i.tensor);
        }
    }
    result.tensors.resize(result.view.dim());
    return result;
}

// For every position of the result of advanced indexing, the offset in elements of the indexed element in `view`, as a
// tensor of the result's sizes. Index tensors that are not neighbours put their dimensions first, as in NumPy.
Tensor element_offsets(const Indexed& indexed) {
    std::vector<Tensor> given;
    for (const auto& tensor : indexed.tensors) {
        if (tensor) given.push_back(*tensor);
    }
    const DimVector broadcast = detail::broadcast_sizes(given);
    const std::int64_t first = indexed.first();
    bool adjacent = true;
    for (std::size_t i = 0; i < given.size(); ++i) adjacent = adjacent && indexed.tensors[first + i].has_value();
    const std::int64_t rank = indexed.view.dim(), position = adjacent ? first : 0;
    DimVector sizes;
    for (std::int64_t d = 0; d < rank; ++d) {
        if (!indexed.tensors[d]) sizes.push_back(indexed.view.size(d));
    }
    sizes.insert(sizes.begin() + position, broadcast.begin(), broadcast.end());
    Tensor offsets = zeros({}, kLong);
    std::int64_t plain = 0;
    for (std::int64_t d = 0; d < rank; ++d) {
        DimVector shape(sizes.size(), 1);
        Tensor along;
        if (indexed.tensors[d]) {
            const std::vector<std::int64_t> indices = as_indices(indexed.tensors[d]->expand(broadcast), indexed.view.size(d));
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

Tensor take_offsets(const Tensor& x, const Tensor& offsets) {
    const Tensor out = empty(offsets.sizes(), x.options());
    for_each_indexed(offsets, out, x, [bytes = x.element_size()](char* to, char* from) { porter::simt::device_copy(to, from, bytes); });
    return out;
}

// Offsets of gather and scatter: along `dim` the index decides, elsewhere the position.
Tensor gather_offsets(const Tensor& x, std::int64_t dim, const Tensor& index) {
    dim = detail::wrap_dim(dim, x);
    TORCH_CHECK(index.dim() == x.dim(), "Index tensor must have the same number of dimensions as input tensor");
    Tensor offsets = tensor(as_indices(index, x.size(dim))).view(index.sizes()).mul(x.stride(dim));
    for (std::int64_t d = 0; d < x.dim(); ++d) {
        if (d == dim) continue;
        TORCH_CHECK(index.size(d) <= x.size(d), "Size does not match at dimension ", d, " expected index ", index.sizes(),
                    " to be no larger than self ", x.sizes(), " apart from dimension ", dim);
        DimVector shape(x.dim(), 1);
        shape[d] = index.size(d);
        offsets = offsets.add(arange(index.size(d)).view(shape).mul(x.stride(d)));
    }
    return offsets;
}

void put_offsets(const Tensor& x, const Tensor& offsets, const Tensor& values) {
    const Tensor source = values.to(x.scalar_type()).expand(offsets.sizes());
    for_each_indexed(offsets, source, x, [bytes = x.element_size()](char* from, char* to) { porter::simt::device_copy(to, from, bytes); });
}

template <class N>
void add_offsets(const Tensor& x, const Tensor& offsets, const Tensor& values) {
    const auto load = detail::loader<N>(x.scalar_type());
    const auto store = detail::storer<N>(x.scalar_type());
    const Tensor source = values.to(x.scalar_type()).expand(offsets.sizes());
    for_each_indexed(offsets, source, x, [&](char* from, char* to) { store(to, load(to) + load(from)); });
}

}  // namespace

Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
    const Indexed indexed = apply_basic(*this, indices);
    if (indexed.first() == indexed.view.dim()) return indexed.view;
    return take_offsets(indexed.view, element_offsets(indexed));
}
Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
    return index(ArrayRef<indexing::TensorIndex>(indices));
}
Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values) const {
    const Indexed indexed = apply_basic(*this, indices);
    if (indexed.first() == indexed.view.dim()) indexed.view.copy_(values);
    else put_offsets(indexed.view, element_offsets(indexed), values);
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
    dim = detail::wrap_dim(dim, *this);
    Indexed indexed{*this, std::vector<std::optional<Tensor>>(this->dim())};
    indexed.tensors[dim] = index.reshape({-1});
    return take_offsets(*this, element_offsets(indexed));
}

Tensor& Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
    dim = detail::wrap_dim(dim, *this);
    Indexed indexed{*this, std::vector<std::optional<Tensor>>(this->dim())};
    indexed.tensors[dim] = index;
    const Tensor offsets = element_offsets(indexed), values = source.mul(alpha);
    detail::computes_in_double(scalar_type()) ? add_offsets<double>(*this, offsets, values) : add_offsets<std::int64_t>(*this, offsets, values);
    return self();
}

Tensor& Tensor::index_fill_(std::int64_t dim, const Tensor& index, const Scalar& value) const {
    for (std::int64_t i : as_indices(index, size(dim))) select(dim, i).fill_(value);
    return self();
}

Tensor Tensor::gather(std::int64_t dim, const Tensor& index) const {
    return take_offsets(*this, gather_offsets(*this, dim, index));
}
Tensor& Tensor::scatter_(std::int64_t dim, const Tensor& index, const Tensor& source) const {
    put_offsets(*this, gather_offsets(*this, dim, index), source.as_strided(index.sizes(), source.strides()));
    return self();
}
Tensor& Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source) const {
    const Tensor offsets = gather_offsets(*this, dim, index), values = source.as_strided(index.sizes(), source.strides());
    detail::computes_in_double(scalar_type()) ? add_offsets<double>(*this, offsets, values) : add_offsets<std::int64_t>(*this, offsets, values);
    return self();
}

Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
    return at::where(mask, scalar_tensor(value, options()), *this);
}

Tensor Tensor::nonzero() const {
    std::vector<std::int64_t> found;
    DimVector position(dim(), 0);
    const Tensor set = ne(0);
    detail::walk(sizes(), {detail::operand(set)}, [&](char* const* at) {
        if (*at[0]) found.insert(found.end(), position.begin(), position.end());
        for (std::int64_t d = dim() - 1; d >= 0 && ++position[d] == size(d); --d) position[d] = 0;
    });
    const std::int64_t rows = set.sum().item<std::int64_t>();
    return tensor(found, TensorOptions(device())).view({rows, dim()}).t().contiguous().t();  // torch has the columns dense
}

Tensor Tensor::masked_select(const Tensor& mask) const {
    const DimVector sizes = detail::broadcast_sizes({*this, mask});
    return expand(sizes).index({mask.expand(sizes)});
}

std::tuple<Tensor, Tensor> Tensor::sort(std::int64_t dim, bool descending) const {
    if (this->dim() == 0) return {clone(), zeros({}, options().dtype(kLong))};
    dim = detail::wrap_dim(dim, *this);
    const Tensor order = empty(sizes(), options().dtype(kLong));
    const Tensor lines = to(detail::computes_in_double(scalar_type()) ? kDouble : kLong).contiguous().transpose(dim, -1).contiguous();
    const Tensor columns = order.transpose(dim, -1);
    const std::int64_t length = size(dim), count = length ? numel() / length : 0;
    Tensor sorted = empty(lines.sizes(), TensorOptions(kLong).device(device()));
    const auto less = [](auto a, auto b) { return a < b || (b != b && a == a); };  // NaN is the largest
    const auto sort_lines = [&](const auto* values) {
        auto* const out = sorted.data_ptr<std::int64_t>();
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t* const first = out + i * length;
            std::iota(first, first + length, 0);
            const auto* const line = values + i * length;
            std::stable_sort(first, first + length, [&](std::int64_t a, std::int64_t b) {
                return descending ? less(line[b], line[a]) : less(line[a], line[b]);
            });
        }
    };
    detail::computes_in_double(scalar_type()) ? sort_lines(static_cast<const double*>(lines.data_ptr()))
                    : sort_lines(static_cast<const std::int64_t*>(lines.data_ptr()));
    detail::wrote(sorted);
    columns.copy_(sorted);
    return {gather(dim, order), order};
}

std::tuple<Tensor, Tensor> Tensor::topk(std::int64_t k, std::int64_t dim, bool largest, bool) const {
    TORCH_CHECK(k >= 0 && k <= (this->dim() ? size(dim) : 1), "selected index k out of range");
    const auto [values, order] = sort(dim, largest);
    return {values.narrow(dim, 0, k).contiguous(), order.narrow(dim, 0, k).contiguous()};
}

Tensor Tensor::repeat(IntArrayRef repeats) const {
    const std::int64_t added = static_cast<std::int64_t>(repeats.size()) - dim();
    TORCH_CHECK(added >= 0, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
    DimVector apart;  // each dimension as [repeat, size]
    DimVector whole, source;
    for (std::size_t d = 0; d < repeats.size(); ++d) {
        const std::int64_t extent = static_cast<std::int64_t>(d) < added ? 1 : size(static_cast<std::int64_t>(d) - added);
        apart.insert(apart.end(), {repeats[d], extent});
        source.insert(source.end(), {1, extent});
        whole.push_back(repeats[d] * extent);
    }
    return reshape(source).expand(apart).clone(MemoryFormat::Contiguous).view(whole);
}

Tensor Tensor::flip(IntArrayRef dims) const {
    Tensor result = *this;
    for (std::int64_t d : dims) result = result.index_select(d, arange(size(d) - 1, -1, -1, TensorOptions(kLong)));
    return result.is_same(*this) ? clone() : result;
}

namespace {

Tensor triangle(const Tensor& x, std::int64_t diagonal, bool lower) {
    TORCH_CHECK(x.dim() >= 2, "tril/triu: input tensor must have at least 2 dimensions");
    const TensorOptions options = TensorOptions(kLong).device(x.device());
    const Tensor distance = arange(x.size(-1), options).unsqueeze(0).sub(arange(x.size(-2), options).unsqueeze(1));
    const Tensor kept = lower ? distance.le(diagonal) : distance.ge(diagonal);
    return at::where(kept, x.contiguous(), scalar_tensor(0, x.options()));
}

}  // namespace

Tensor Tensor::tril(std::int64_t diagonal) const { return triangle(*this, diagonal, true); }
Tensor Tensor::triu(std::int64_t diagonal) const { return triangle(*this, diagonal, false); }

Tensor cat(TensorList tensors, std::int64_t dim) {
    TORCH_CHECK(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
    std::vector<Tensor> parts;  // a one-dimensional empty tensor is skipped, as torch does for old code
    for (const Tensor& t : tensors) {
        TORCH_CHECK(t.dim() > 0, "zero-dimensional tensor (at position 0) cannot be concatenated");
        if (t.dim() != 1 || t.numel() != 0) parts.push_back(t);
    }
    if (parts.empty()) return tensors[0].clone();
    ScalarType type = ScalarType::Undefined;
    for (const Tensor& t : tensors) type = promoteTypes(type, t.scalar_type());
    dim = detail::wrap_dim(dim, parts[0]);
    DimVector sizes(parts[0].sizes());
    sizes[dim] = 0;
    MemoryFormat format = parts[0].suggest_memory_format();
    for (const Tensor& t : parts) {
        for (std::int64_t d = 0; d < parts[0].dim(); ++d) {
            TORCH_CHECK(t.dim() == parts[0].dim() && (d == dim || t.size(d) == sizes[d]), "Sizes of tensors must match except in "
                        "dimension ", dim, ". Expected size ", sizes[d], " but got size ", t.size(d));
        }
        sizes[dim] += t.size(dim);
        if (t.suggest_memory_format() != format) format = MemoryFormat::Contiguous;
    }
    Tensor out = empty(sizes, TensorOptions(type).device(detail::common_device(parts)), format);
    std::int64_t start = 0;
    for (const Tensor& t : parts) out.narrow(dim, start, t.size(dim)).copy_(t), start += t.size(dim);
    return out;
}

Tensor stack(TensorList tensors, std::int64_t dim) {
    TORCH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
    std::vector<Tensor> parts;
    for (const Tensor& t : tensors) {
        TORCH_CHECK(t.sizes() == tensors[0].sizes(), "stack expects each tensor to be equal size, but got ", tensors[0].sizes(),
                    " and ", t.sizes());
        parts.push_back(t.unsqueeze(dim));
    }
    return cat(parts, maybe_wrap_dim(dim, tensors[0].dim() + 1));
}

Uniques unique_dim(const Tensor& x, std::int64_t dim, bool, bool inverse, bool counts) {
    dim = detail::wrap_dim(dim, x);
    const Tensor rows = x.transpose(0, dim).contiguous().view({x.size(dim), -1});
    const Tensor keys = rows.to(detail::computes_in_double(x.scalar_type()) ? kDouble : kLong).contiguous();
    const std::int64_t count = rows.size(0), width = rows.size(1);
    std::vector<std::int64_t> order(count), place(count), first, times;
    std::iota(order.begin(), order.end(), 0);
    const auto sort_rows = [&](const auto* key) {
        const auto less = [&](std::int64_t a, std::int64_t b) {
            return std::lexicographical_compare(key + a * width, key + (a + 1) * width, key + b * width, key + (b + 1) * width);
        };
        std::stable_sort(order.begin(), order.end(), less);
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i == 0 || less(order[i - 1], order[i])) first.push_back(order[i]), times.push_back(0);
            place[order[i]] = static_cast<std::int64_t>(first.size()) - 1;
            ++times.back();
        }
    };
    if (keys.scalar_type() == kDouble) sort_rows(static_cast<const double*>(keys.data_ptr()));
    else sort_rows(static_cast<const std::int64_t*>(keys.data_ptr()));
    const TensorOptions longs = TensorOptions(kLong).device(x.device());
    const Tensor none = empty({0}, longs);
    return {x.index_select(dim, tensor(first)), inverse ? tensor(place, longs) : none, counts ? tensor(times, longs) : none};
}
Uniques _unique2(const Tensor& x, bool sorted, bool inverse, bool counts) {
    auto [values, place, times] = unique_dim(x.reshape({-1}), 0, sorted, inverse, counts);
    return {values, inverse ? place.view(x.sizes()) : place, times};
}
std::tuple<Tensor, Tensor> _unique(const Tensor& x, bool sorted, bool inverse) {
    auto [values, place, times] = _unique2(x, sorted, inverse);
    return {values, place};
}

Tensor& cat_out(Tensor& out, TensorList tensors, std::int64_t dim) {
    const Tensor result = cat(tensors, dim);
    return detail::resize_output(out, result.sizes()).copy_(result);
}
Tensor& index_select_out(Tensor& out, const Tensor& x, std::int64_t dim, const Tensor& index) {
    const Tensor result = x.index_select(dim, index);
    return detail::resize_output(out, result.sizes()).copy_(result);
}

}  // namespace at
