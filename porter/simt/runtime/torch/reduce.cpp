// Reductions, accumulated in double or int64 and rounded once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "loops.h"
#include "steps.h"

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

// `fold` gets the numbers of one slice of `x` at a time and returns what stands for them; `out` has the sizes that stay.
template <class N, class Fold>
void fold_slices(const Tensor& out, const Tensor& x, const Fold& fold) {
    const auto kept = static_cast<std::size_t>(out.dim());
    const IntArrayRef outer = out.sizes(), inner = x.sizes().slice(kept);
    const auto load = detail::loader<N>(x.scalar_type());
    using Folded = decltype(fold(std::declval<std::vector<N>&>()));
    const auto store = detail::storer<Folded>(out.scalar_type());
    const detail::Operand source = detail::operand(x);
    detail::Operand slice{nullptr, DimVector(IntArrayRef(source.strides).slice(kept))};
    std::vector<N> numbers(numel_of(inner));
    detail::walk(outer, {detail::operand(out), detail::Operand{source.data, source.strides}}, [&](char* const* at) {
        slice.data = at[1];
        std::size_t i = 0;
        detail::walk(inner, {slice}, [&](char* const* element) { numbers[i++] = load(element[0]); });
        store(at[0], fold(numbers));
    });
    detail::wrote(out);
}

// The same fold for either kind of number; it must be generic.
template <class Fold>
void fold_either(const Tensor& out, const Tensor& x, const Fold& fold) {
    if (detail::computes_in_double(x.scalar_type())) fold_slices<double>(out, x, fold);
    else fold_slices<std::int64_t>(out, x, fold);
}

Tensor reduce(const detail::Step& step, const Tensor& x, OptionalIntArrayRef dims, bool keepdim, ScalarType type,
              detail::Numbers numbers = {}) {
    const Arranged arranged = arrange(x, reduced_dims(x, dims), keepdim);
    const Tensor out = empty(arranged.result_sizes, TensorOptions(type).device(x.device()));
    step({out.view(arranged.x.sizes().slice(0, arranged.kept))}, {arranged.x}, numbers);
    return out;
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
constexpr auto extreme_of = [](const auto& numbers) { return numbers[Extreme<largest>()(numbers)]; };

PORTER_STEP(sum) { fold_either(out[0], in[0], total); }
PORTER_STEP(prod) { fold_either(out[0], in[0], product); }
PORTER_STEP(amax) { fold_either(out[0], in[0], extreme_of<true>); }
PORTER_STEP(amin) { fold_either(out[0], in[0], extreme_of<false>); }
PORTER_STEP(argmax) { fold_either(out[0], in[0], Extreme<true>()); }
PORTER_STEP(argmin) { fold_either(out[0], in[0], Extreme<false>()); }
PORTER_STEP(mean) {
    fold_slices<double>(out[0], in[0], [](const auto& n) { return total(n) / double(n.size()); });
}
PORTER_STEP(var) {
    fold_slices<double>(out[0], in[0], [unbiased = numbers[0]](const auto& n) {
        const double mean = total(n) / double(n.size());
        double squares = 0;
        for (double x : n) squares += (x - mean) * (x - mean);
        return squares / std::max(double(n.size()) - unbiased, 0.0);
    });
}
PORTER_STEP(norm) {
    fold_slices<double>(out[0], in[0], [order = numbers[0]](const auto& n) {
        double sum = 0;
        for (double x : n) {
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
PORTER_STEP(logsumexp) {
    fold_slices<double>(out[0], in[0], [](const auto& n) {
        const double top = *std::max_element(n.begin(), n.end());
        if (std::isinf(top)) return top;
        double sum = 0;
        for (double x : n) sum += std::exp(x - top);
        return top + std::log(sum);
    });
}
PORTER_STEP(all) {
    fold_either(out[0], in[0], [](const auto& n) {
        return std::int64_t(std::all_of(n.begin(), n.end(), [](auto x) { return x != 0; }));
    });
}
PORTER_STEP(any) {
    fold_either(out[0], in[0], [](const auto& n) {
        return std::int64_t(std::any_of(n.begin(), n.end(), [](auto x) { return x != 0; }));
    });
}

Tensor extreme(const detail::Step& step, const Tensor& x, IntArrayRef dims, bool keepdim) {
    check_not_empty(x, step.name());
    return reduce(step, x, dims, keepdim, x.scalar_type());
}

Tensor extreme_index(const detail::Step& step, const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
    check_not_empty(x, step.name());
    return reduce(step, x, dim ? OptionalIntArrayRef(*dim) : OptionalIntArrayRef(), keepdim, kLong);
}

}  // namespace

Tensor Tensor::sum(Dims dims, bool keepdim, Type dtype) const {
    const ScalarType type = summed_type(*this, dtype);
    return reduce(sum_step, to(type), dims, keepdim, type);
}

Tensor Tensor::mean(Dims dims, bool keepdim, Type dtype) const {
    const ScalarType type = dtype.value_or(scalar_type());
    TORCH_CHECK(isFloatingType(type),
                "mean(): could not infer output dtype. Input dtype must be either a floating point or "
                "complex dtype. Got: ",
                type);
    return reduce(mean_step, to(type), dims, keepdim, type);
}

Tensor Tensor::prod(Type dtype) const {
    const ScalarType type = summed_type(*this, dtype);
    return reduce(prod_step, to(type), Dims(), false, type);
}
Tensor Tensor::prod(std::int64_t dim, bool keepdim, Type dtype) const {
    const ScalarType type = summed_type(*this, dtype);
    return reduce(prod_step, to(type), dim, keepdim, type);
}

Tensor Tensor::var(Dims dims, bool unbiased, bool keepdim) const {
    TORCH_CHECK(is_floating_point(), "std and var only support floating point and complex dtypes");
    return reduce(var_step, *this, dims, keepdim, scalar_type(), {double(unbiased)});
}

Tensor Tensor::norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim) const {
    TORCH_CHECK(is_floating_point(), "norm(): the input dtype must be floating point. Got: ", scalar_type());
    return reduce(norm_step, *this, dims, keepdim, scalar_type(), {p ? p->toDouble() : 2});
}

Tensor Tensor::amax(IntArrayRef dims, bool keepdim) const { return extreme(amax_step, *this, dims, keepdim); }
Tensor Tensor::amin(IntArrayRef dims, bool keepdim) const { return extreme(amin_step, *this, dims, keepdim); }
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
    return extreme_index(argmax_step, *this, dim, keepdim);
}
Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const {
    return extreme_index(argmin_step, *this, dim, keepdim);
}
std::tuple<Tensor, Tensor> Tensor::max(std::int64_t dim, bool keepdim) const {
    return {extreme(amax_step, *this, dim, keepdim), extreme_index(argmax_step, *this, dim, keepdim)};
}
std::tuple<Tensor, Tensor> Tensor::min(std::int64_t dim, bool keepdim) const {
    return {extreme(amin_step, *this, dim, keepdim), extreme_index(argmin_step, *this, dim, keepdim)};
}

namespace {

Tensor truth_of(const detail::Step& step, const Tensor& x, OptionalIntArrayRef dims = {}, bool keepdim = false) {
    return reduce(step, x, dims, keepdim, x.scalar_type() == kByte ? kByte : kBool);
}

// `scan` rewrites the numbers along `dim` in place.
template <class N, class Scan>
void scan_lines(const Tensor& out, const Tensor& x, std::int64_t dim, const Scan& scan) {
    const Tensor lines = (x.dim() ? x : x.view({1})).transpose(dim, -1);
    const Tensor out_lines = (x.dim() ? out : out.view({1})).transpose(dim, -1);
    const std::int64_t length = lines.size(-1), step = lines.stride(-1), out_step = out_lines.stride(-1);
    const auto load = detail::loader<N>(x.scalar_type());
    const auto store = detail::storer<N>(out.scalar_type());
    const std::int64_t bytes = static_cast<std::int64_t>(x.element_size()),
                       out_bytes = static_cast<std::int64_t>(out.element_size());
    std::vector<N> numbers(length);
    if (out.numel() == 0) return;
    const Tensor starts = lines.select(-1, 0), out_starts = out_lines.select(-1, 0);
    detail::walk(starts.sizes(), {detail::operand(out_starts), detail::operand(starts)}, [&](char* const* at) {
        for (std::int64_t i = 0; i < length; ++i) numbers[i] = load(at[1] + i * step * bytes);
        scan(numbers);
        for (std::int64_t i = 0; i < length; ++i) store(at[0] + i * out_step * out_bytes, numbers[i]);
    });
    detail::wrote(out);
}

void soften(const Tensor& out, const Tensor& x, double dim, bool logarithm) {
    scan_lines<double>(out, x, static_cast<std::int64_t>(dim), [logarithm](std::vector<double>& numbers) {
        const double top = *std::max_element(numbers.begin(), numbers.end());
        double sum = 0;
        for (double& n : numbers) n -= top, sum += std::exp(n);
        for (double& n : numbers) n = logarithm ? n - std::log(sum) : std::exp(n) / sum;
    });
}

PORTER_STEP(softmax) { soften(out[0], in[0], numbers[0], false); }
PORTER_STEP(log_softmax) { soften(out[0], in[0], numbers[0], true); }
PORTER_STEP(cumsum) {
    const auto scan = [](auto& n) { std::partial_sum(n.begin(), n.end(), n.begin()); };
    const auto dim = static_cast<std::int64_t>(numbers[0]);
    if (detail::computes_in_double(in[0].scalar_type())) scan_lines<double>(out[0], in[0], dim, scan);
    else scan_lines<std::int64_t>(out[0], in[0], dim, scan);
}

Tensor along(const detail::Step& step, const Tensor& x, std::int64_t dim) {
    const Tensor out = empty(x.sizes(), TensorOptions(x.scalar_type()).device(x.device()));
    step({out}, {x}, {double(detail::wrap_dim(dim, x))});
    return out;
}

Tensor softened(const detail::Step& step, const Tensor& x, std::int64_t dim, ScalarType type) {
    TORCH_CHECK(isFloatingType(type), "softmax is not implemented for ", type);
    return along(step, x.to(type), dim);
}

}  // namespace

Tensor Tensor::all() const { return truth_of(all_step, *this); }
Tensor Tensor::any() const { return truth_of(any_step, *this); }
Tensor Tensor::all(std::int64_t dim, bool keepdim) const { return truth_of(all_step, *this, dim, keepdim); }
Tensor Tensor::any(std::int64_t dim, bool keepdim) const { return truth_of(any_step, *this, dim, keepdim); }

Tensor Tensor::cumsum(std::int64_t dim, Type dtype) const {
    return along(cumsum_step, to(summed_type(*this, dtype)), dim);
}
Tensor Tensor::softmax(std::int64_t dim, Type dtype) const {
    return softened(softmax_step, *this, dim, dtype.value_or(scalar_type()));
}
Tensor Tensor::log_softmax(std::int64_t dim, Type dtype) const {
    return softened(log_softmax_step, *this, dim, dtype.value_or(scalar_type()));
}
Tensor Tensor::logsumexp(IntArrayRef dims, bool keepdim) const {
    return reduce(logsumexp_step, *this, dims, keepdim, isFloatingType(scalar_type()) ? scalar_type() : kFloat);
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
