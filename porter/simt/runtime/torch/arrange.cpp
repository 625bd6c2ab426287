// Sorting, joining, repeating and cutting.
#include <algorithm>
#include <numeric>

#include "loops.h"
#include "steps.h"

namespace at {

// The places of the numbers along a dimension, in their order.
PORTER_STEP(sort) {
    const Tensor& x = in[0];
    const auto dim = static_cast<std::int64_t>(numbers[0]);
    const bool descending = numbers[1] != 0, real = detail::computes_in_double(x.scalar_type());
    const Tensor lines = x.to(real ? kDouble : kLong).contiguous().transpose(dim, -1).contiguous();
    const Tensor columns = out[0].transpose(dim, -1);
    const std::int64_t length = x.size(dim), count = length ? x.numel() / length : 0;
    const Tensor sorted = empty(lines.sizes(), TensorOptions(kLong).device(x.device()));
    const auto less = [](auto a, auto b) { return a < b || (b != b && a == a); };  // NaN is the largest
    const auto sort_lines = [&](const auto* values) {
        auto* const places = sorted.data_ptr<std::int64_t>();
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t* const first = places + i * length;
            std::iota(first, first + length, 0);
            const auto* const line = values + i * length;
            std::stable_sort(first, first + length, [&](std::int64_t a, std::int64_t b) {
                return descending ? less(line[b], line[a]) : less(line[a], line[b]);
            });
        }
    };
    real ? sort_lines(static_cast<const double*>(lines.data_ptr()))
         : sort_lines(static_cast<const std::int64_t*>(lines.data_ptr()));
    detail::wrote(sorted);
    columns.copy_(sorted);
}

std::tuple<Tensor, Tensor> Tensor::sort(std::int64_t dim, bool descending) const {
    if (this->dim() == 0) return {clone(), zeros({}, options().dtype(kLong))};
    dim = detail::wrap_dim(dim, *this);
    const Tensor order = empty(sizes(), options().dtype(kLong));
    sort_step({order}, {*this}, {double(dim), double(descending)});
    return {gather(dim, order), order};
}

std::tuple<Tensor, Tensor> Tensor::topk(std::int64_t k, std::int64_t dim, bool largest, bool) const {
    TORCH_CHECK(k >= 0 && k <= (this->dim() ? size(dim) : 1), "selected index k out of range");
    const auto [values, order] = sort(dim, largest);
    return {values.narrow(dim, 0, k).contiguous(), order.narrow(dim, 0, k).contiguous()};
}

Tensor Tensor::repeat(IntArrayRef repeats) const {
    const std::int64_t added = static_cast<std::int64_t>(repeats.size()) - dim();
    TORCH_CHECK(added >= 0,
                "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
    DimVector apart;  // each dimension as [repeat, size]
    DimVector whole, source;
    for (std::size_t d = 0; d < repeats.size(); ++d) {
        const std::int64_t extent =
            static_cast<std::int64_t>(d) < added ? 1 : size(static_cast<std::int64_t>(d) - added);
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
            TORCH_CHECK(t.dim() == parts[0].dim() && (d == dim || t.size(d) == sizes[d]),
                        "Sizes of tensors must match except in "
                        "dimension ",
                        dim, ". Expected size ", sizes[d], " but got size ", t.size(d));
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
        TORCH_CHECK(t.sizes() == tensors[0].sizes(), "stack expects each tensor to be equal size, but got ",
                    tensors[0].sizes(), " and ", t.sizes());
        parts.push_back(t.unsqueeze(dim));
    }
    return cat(parts, maybe_wrap_dim(dim, tensors[0].dim() + 1));
}

// Of rows: for each the number of its kind, and of each kind where it comes first and how often; how many kinds there are.
PORTER_STEP(unique) {
    const Tensor& rows = in[0];
    const Tensor keys = rows.to(detail::computes_in_double(rows.scalar_type()) ? kDouble : kLong).contiguous();
    const std::int64_t count = rows.size(0), width = rows.size(1);
    std::vector<std::int64_t> order(count), place(count), first, times;
    std::iota(order.begin(), order.end(), 0);
    const auto sort_rows = [&](const auto* key) {
        const auto less = [&](std::int64_t a, std::int64_t b) {
            return std::lexicographical_compare(key + a * width, key + (a + 1) * width, key + b * width,
                                                key + (b + 1) * width);
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
    const auto kinds = static_cast<std::int64_t>(first.size());
    out[0].copy_(tensor(place));
    out[1].narrow(0, 0, kinds).copy_(tensor(first));
    out[2].narrow(0, 0, kinds).copy_(tensor(times));
    out[3].fill_(kinds);
}

Uniques unique_dim(const Tensor& x, std::int64_t dim, bool, bool inverse, bool counts) {
    dim = detail::wrap_dim(dim, x);
    const Tensor rows = x.transpose(0, dim).contiguous().view({x.size(dim), -1});
    const TensorOptions longs = TensorOptions(kLong).device(x.device());
    const Tensor place = empty({rows.size(0)}, longs), first = empty_like(place), times = empty_like(place);
    const Tensor kinds = zeros({1}, longs), none = empty({0}, longs);
    unique_step({place, first, times, kinds}, {rows});
    const auto count = kinds.item<std::int64_t>();
    return {x.index_select(dim, first.narrow(0, 0, count)), inverse ? place : none,
            counts ? times.narrow(0, 0, count) : none};
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

}  // namespace at
