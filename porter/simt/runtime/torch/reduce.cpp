// Reductions, accumulated in double or int64 and rounded once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "loops.h"

namespace at {

namespace {

std::vector<bool> reduced_dims(const Tensor& x, OptionalIntArrayRef dims) {
    std::vector<bool> reduced(x.dim(), !dims || dims->empty());
    if (!dims) return reduced;
    std::vector<bool> named(std::max<std::int64_t>(x.dim(), 1));
    for (std::int64_t d : *dims) {
        d = detail::wrap_dim(d, x);
        TORCH_CHECK(!named[d], "dim ", d, " appears multiple times in the list of dims");
        named[d] = true;
        if (x.dim()) reduced[d] = true;
    }
    return reduced;
}

// `x` with the dimensions that stay first and the reduced ones last, and how many stay.
struct Arranged {
    Tensor x;
    std::size_t kept;
    DimVector result_sizes;
};

Arranged arrange(const Tensor& x, const std::vector<bool>& reduced, bool keepdim) {
    Arranged arranged;
    DimVector order;
    for (const bool last : {false, true}) {
        for (std::int64_t d = 0; d < x.dim(); ++d) {
            if (reduced[d] == last) order.push_back(d);
        }
        if (!last) arranged.kept = order.size();
    }
    for (std::int64_t d = 0; d < x.dim(); ++d) {
        if (!reduced[d]) arranged.result_sizes.push_back(x.size(d));
        else if (keepdim) arranged.result_sizes.push_back(1);
    }
    arranged.x = x.permute(order);
    return arranged;
}

// `fold` gets the numbers of one slice at a time and returns what stands for them.
template <class N, class Fold>
Tensor reduce(const Tensor& x, OptionalIntArrayRef dims, bool keepdim, ScalarType type, const Fold& fold) {
    const Arranged arranged = arrange(x, reduced_dims(x, dims), keepdim);
    const IntArrayRef sizes = arranged.x.sizes(), outer = sizes.slice(0, arranged.kept),
                      inner = sizes.slice(arranged.kept);
    const Tensor out = empty(arranged.result_sizes, TensorOptions(type).device(x.device()));
    const Tensor flat = out.view(outer);
    const auto load = detail::loader<N>(x.scalar_type());
    using Folded = decltype(fold(std::declval<std::vector<N>&>()));
    const auto store = detail::storer<Folded>(type);
    const detail::Operand source = detail::operand(arranged.x);
    detail::Operand slice{nullptr, DimVector(IntArrayRef(source.strides).slice(arranged.kept))};
    std::vector<N> numbers(numel_of(inner));
    detail::walk(outer, {detail::operand(flat), detail::Operand{source.data, source.strides}}, [&](char* const* at) {
        slice.data = at[1];
        std::size_t i = 0;
        detail::walk(inner, {slice}, [&](char* const* element) { numbers[i++] = load(element[0]); });
        store(at[0], fold(numbers));
    });
    detail::computed(out, {x});
    return out;
}

// The same fold for either kind of number; it must be generic.
template <class Fold>
Tensor reduce_same(const Tensor& x, OptionalIntArrayRef dims, bool keepdim, ScalarType type, const Fold& fold) {
    if (detail::computes_in_double(x.scalar_type())) return reduce<double>(x, dims, keepdim, type, fold);
    return reduce<std::int64_t>(x, dims, keepdim, type, fold);
}

ScalarType summed_type(const Tensor& x, std::optional<ScalarType> dtype) {
    return dtype.value_or(isIntegralType(x.scalar_type(), true) ? kLong : x.scalar_type());
}

const auto total = [](const auto& numbers) {
    using N = std::decay_t<decltype(numbers[0])>;
    return std::accumulate(numbers.begin(), numbers.end(), N(0));
};
const auto product = [](const auto& numbers) {
    using N = std::decay_t<decltype(numbers[0])>;
    return std::accumulate(numbers.begin(), numbers.end(), N(1), std::multiplies<N>());
};

// Index of the first extreme number; NaN beats every number.
template <bool largest>
struct Extreme {
    template <class N>
    std::int64_t operator()(const std::vector<N>& numbers) const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < numbers.size(); ++i) {
            const N a = numbers[best], b = numbers[i];
            if (a == a && (b != b || (largest ? b > a : b < a))) best = i;
        }
        return static_cast<std::int64_t>(best);
    }
};

void check_not_empty(const Tensor& x, const char* name, bool reduces_dim = false) {
    TORCH_CHECK(x.numel() > 0 || reduces_dim, name,
                "(): Expected reduction dim to be specified for input.numel() == 0.");
}

template <bool largest>
Tensor extreme(const Tensor& x, IntArrayRef dims, bool keepdim) {
    check_not_empty(x, largest ? "amax" : "amin");
    return reduce_same(x, dims, keepdim, x.scalar_type(), [](const auto& n) { return n[Extreme<largest>()(n)]; });
}

template <bool largest>
Tensor extreme_index(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
    check_not_empty(x, largest ? "argmax" : "argmin");
    return reduce_same(x, dim ? OptionalIntArrayRef(*dim) : OptionalIntArrayRef(), keepdim, kLong, Extreme<largest>());
}

}  // namespace

Tensor Tensor::sum(Dims dims, bool keepdim, Type dtype) const {
    const ScalarType type = summed_type(*this, dtype);
    return reduce_same(to(type), dims, keepdim, type, total);
}

Tensor Tensor::mean(Dims dims, bool keepdim, Type dtype) const {
    const ScalarType type = dtype.value_or(scalar_type());
    TORCH_CHECK(isFloatingType(type),
                "mean(): could not infer output dtype. Input dtype must be either a floating point or "
                "complex dtype. Got: ",
                type);
    return reduce<double>(to(type), dims, keepdim, type, [](const auto& n) { return total(n) / double(n.size()); });
}

Tensor Tensor::prod(Type dtype) const {
    const ScalarType type = summed_type(*this, dtype);
    return reduce_same(to(type), Dims(), false, type, product);
}
Tensor Tensor::prod(std::int64_t dim, bool keepdim, Type dtype) const {
    const ScalarType type = summed_type(*this, dtype);
    return reduce_same(to(type), dim, keepdim, type, product);
}

Tensor Tensor::var(Dims dims, bool unbiased, bool keepdim) const {
    TORCH_CHECK(is_floating_point(), "std and var only support floating point and complex dtypes");
    return reduce<double>(*this, dims, keepdim, scalar_type(), [&](const auto& numbers) {
        const double mean = total(numbers) / double(numbers.size());
        double squares = 0;
        for (double x : numbers) squares += (x - mean) * (x - mean);
        return squares / std::max(double(numbers.size()) - unbiased, 0.0);
    });
}

Tensor Tensor::norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim) const {
    TORCH_CHECK(is_floating_point(), "norm(): the input dtype must be floating point. Got: ", scalar_type());
    const double order = p ? p->toDouble() : 2;
    return reduce<double>(*this, dims, keepdim, scalar_type(), [order](const auto& numbers) {
        double sum = 0;
        for (double x : numbers) {
            const double size = std::fabs(x);
            if (order == std::numeric_limits<double>::infinity()) sum = std::max(sum, size);
            else
                sum += order == 2   ? size * size
                       : order == 1 ? size
                       : order == 0 ? double(x != 0)
                                    : std::pow(size, order);
        }
        const bool finished = order == 0 || order == 1 || order == std::numeric_limits<double>::infinity();
        return finished ? sum : order == 2 ? std::sqrt(sum) : std::pow(sum, 1 / order);
    });
}

Tensor Tensor::amax(IntArrayRef dims, bool keepdim) const { return extreme<true>(*this, dims, keepdim); }
Tensor Tensor::amin(IntArrayRef dims, bool keepdim) const { return extreme<false>(*this, dims, keepdim); }
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
    return extreme_index<true>(*this, dim, keepdim);
}
Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const {
    return extreme_index<false>(*this, dim, keepdim);
}
std::tuple<Tensor, Tensor> Tensor::max(std::int64_t dim, bool keepdim) const {
    return {extreme<true>(*this, dim, keepdim), extreme_index<true>(*this, dim, keepdim)};
}
std::tuple<Tensor, Tensor> Tensor::min(std::int64_t dim, bool keepdim) const {
    return {extreme<false>(*this, dim, keepdim), extreme_index<false>(*this, dim, keepdim)};
}

namespace {

Tensor all_of(const Tensor& x, OptionalIntArrayRef dims, bool keepdim) {
    return reduce_same(x, dims, keepdim, x.scalar_type() == kByte ? kByte : kBool, [](const auto& numbers) {
        return std::int64_t(std::all_of(numbers.begin(), numbers.end(), [](auto n) { return n != 0; }));
    });
}
Tensor any_of(const Tensor& x, OptionalIntArrayRef dims, bool keepdim) {
    return reduce_same(x, dims, keepdim, x.scalar_type() == kByte ? kByte : kBool, [](const auto& numbers) {
        return std::int64_t(std::any_of(numbers.begin(), numbers.end(), [](auto n) { return n != 0; }));
    });
}

// `scan` rewrites the numbers along `dim` in place.
template <class N, class Scan>
Tensor along(const Tensor& x, std::int64_t dim, ScalarType type, const Scan& scan) {
    dim = detail::wrap_dim(dim, x);
    const Tensor lines = (x.dim() ? x : x.view({1})).transpose(dim, -1);
    const Tensor out = empty(x.sizes(), TensorOptions(type).device(x.device()));
    const Tensor out_lines = (x.dim() ? out : out.view({1})).transpose(dim, -1);
    const std::int64_t length = lines.size(-1), step = lines.stride(-1), out_step = out_lines.stride(-1);
    const auto load = detail::loader<N>(x.scalar_type());
    const auto store = detail::storer<N>(type);
    const std::int64_t bytes = static_cast<std::int64_t>(x.element_size()),
                       out_bytes = static_cast<std::int64_t>(out.element_size());
    std::vector<N> numbers(length);
    if (out.numel() == 0) return out;
    const Tensor starts = lines.select(-1, 0), out_starts = out_lines.select(-1, 0);
    detail::walk(starts.sizes(), {detail::operand(out_starts), detail::operand(starts)}, [&](char* const* at) {
        for (std::int64_t i = 0; i < length; ++i) numbers[i] = load(at[1] + i * step * bytes);
        scan(numbers);
        for (std::int64_t i = 0; i < length; ++i) store(at[0] + i * out_step * out_bytes, numbers[i]);
    });
    detail::computed(out, {x});
    return out;
}

Tensor softened(const Tensor& x, std::int64_t dim, ScalarType type, bool logarithm) {
    TORCH_CHECK(isFloatingType(type), "softmax is not implemented for ", type);
    return along<double>(x.to(type), dim, type, [logarithm](std::vector<double>& numbers) {
        const double top = *std::max_element(numbers.begin(), numbers.end());
        double sum = 0;
        for (double& n : numbers) n -= top, sum += std::exp(n);
        for (double& n : numbers) n = logarithm ? n - std::log(sum) : std::exp(n) / sum;
    });
}

}  // namespace

Tensor Tensor::all() const { return all_of(*this, {}, false); }
Tensor Tensor::any() const { return any_of(*this, {}, false); }
Tensor Tensor::all(std::int64_t dim, bool keepdim) const { return all_of(*this, dim, keepdim); }
Tensor Tensor::any(std::int64_t dim, bool keepdim) const { return any_of(*this, dim, keepdim); }

Tensor Tensor::cumsum(std::int64_t dim, Type dtype) const {
    const ScalarType type = summed_type(*this, dtype);
    const auto scan = [](auto& numbers) { std::partial_sum(numbers.begin(), numbers.end(), numbers.begin()); };
    if (detail::computes_in_double(type)) return along<double>(to(type), dim, type, scan);
    return along<std::int64_t>(to(type), dim, type, scan);
}
Tensor Tensor::softmax(std::int64_t dim, Type dtype) const {
    return softened(*this, dim, dtype.value_or(scalar_type()), false);
}
Tensor Tensor::log_softmax(std::int64_t dim, Type dtype) const {
    return softened(*this, dim, dtype.value_or(scalar_type()), true);
}
Tensor Tensor::logsumexp(IntArrayRef dims, bool keepdim) const {
    return reduce<double>(*this, dims, keepdim, isFloatingType(scalar_type()) ? scalar_type() : kFloat,
                          [](const auto& numbers) {
                              const double top = *std::max_element(numbers.begin(), numbers.end());
                              if (std::isinf(top)) return top;
                              double sum = 0;
                              for (double n : numbers) sum += std::exp(n - top);
                              return top + std::log(sum);
                          });
}

bool Tensor::equal(const Tensor& other) const { return sizes() == other.sizes() && eq(other).all().item<bool>(); }

bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
    TORCH_CHECK(dtype() == other.dtype(), scalar_type(), " did not match ", other.scalar_type());
    const Tensor a = to(kDouble), b = other.to(kDouble);
    Tensor close = a.eq(b).logical_or(a.sub(b).abs().le(b.abs().mul(rtol).add(atol)).logical_and(b.isfinite()));
    if (equal_nan) close = close.logical_or(a.isnan().logical_and(b.isnan()));
    return close.all().item<bool>();
}

}  // namespace at
