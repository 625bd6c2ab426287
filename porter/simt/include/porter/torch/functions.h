// The operations as free functions, the operators, and the out variants. `at` and `torch` share them.
#pragma once

#include "porter/torch/tensor.h"

namespace at {

#define PORTER_TORCH_FUNCTIONS(name) \
    inline Tensor name(const Tensor& x) { return x.name(); } \
    inline Tensor& name##_(Tensor& x) { return x.name##_(); } \
    inline Tensor& name##_out(Tensor& out, const Tensor& x) { return detail::unary_into(detail::Unary::name, x, out); }
PORTER_TORCH_UNARY(PORTER_TORCH_FUNCTIONS)
#undef PORTER_TORCH_FUNCTIONS

#define PORTER_TORCH_FUNCTIONS(name) \
    inline Tensor name(const Tensor& a, const Tensor& b) { return a.name(b); } \
    inline Tensor name(const Tensor& a, const Scalar& b) { return a.name(b); } \
    inline Tensor& name##_out(Tensor& out, const Tensor& a, const Tensor& b) { \
        return detail::binary_into(detail::Binary::name, a, b, out); \
    } \
    inline Tensor& name##_out(Tensor& out, const Tensor& a, const Scalar& b) { \
        return name##_out(out, a, detail::wrap(b)); \
    }
PORTER_TORCH_BINARY(PORTER_TORCH_FUNCTIONS)
#undef PORTER_TORCH_FUNCTIONS
inline Tensor pow(const Scalar& base, const Tensor& exponent) { return detail::wrap(base).pow(exponent); }

#define PORTER_TORCH_FUNCTIONS(name) \
    inline Tensor name(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) { return a.name(b, alpha); } \
    inline Tensor name(const Tensor& a, const Scalar& b, const Scalar& alpha = 1) { return a.name(b, alpha); } \
    Tensor& name##_out(Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
PORTER_TORCH_FUNCTIONS(add)
PORTER_TORCH_FUNCTIONS(sub)
#undef PORTER_TORCH_FUNCTIONS

#define PORTER_TORCH_OPERATOR(op, name) \
    inline Tensor operator op(const Tensor& a, const Tensor& b) { return a.name(b); } \
    inline Tensor operator op(const Tensor& a, const Scalar& b) { return a.name(b); } \
    inline Tensor operator op(const Scalar& a, const Tensor& b) { return detail::wrap(a).name(b); }
PORTER_TORCH_OPERATOR(+, add)
PORTER_TORCH_OPERATOR(-, sub)
PORTER_TORCH_OPERATOR(*, mul)
PORTER_TORCH_OPERATOR(/, div)
PORTER_TORCH_OPERATOR(%, remainder)
PORTER_TORCH_OPERATOR(&, bitwise_and)
PORTER_TORCH_OPERATOR(|, bitwise_or)
PORTER_TORCH_OPERATOR(^, bitwise_xor)
PORTER_TORCH_OPERATOR(==, eq)
PORTER_TORCH_OPERATOR(!=, ne)
PORTER_TORCH_OPERATOR(<, lt)
PORTER_TORCH_OPERATOR(<=, le)
PORTER_TORCH_OPERATOR(>, gt)
PORTER_TORCH_OPERATOR(>=, ge)
#undef PORTER_TORCH_OPERATOR

// Functions that are a method called another way.
#define PORTER_TORCH_FORWARD(name) \
    template <class... Args> \
    auto name(const Tensor& x, const Args&... args) -> decltype(x.name(args...)) { \
        return x.name(args...); \
    }
PORTER_TORCH_FORWARD(clamp)
PORTER_TORCH_FORWARD(clamp_min)
PORTER_TORCH_FORWARD(clamp_max)
PORTER_TORCH_FORWARD(floor_divide)
PORTER_TORCH_FORWARD(bitwise_not)
PORTER_TORCH_FORWARD(addcmul)
PORTER_TORCH_FORWARD(addcdiv)
PORTER_TORCH_FORWARD(prod)
PORTER_TORCH_FORWARD(argmax)
PORTER_TORCH_FORWARD(argmin)
PORTER_TORCH_FORWARD(all)
PORTER_TORCH_FORWARD(any)
PORTER_TORCH_FORWARD(cumsum)
PORTER_TORCH_FORWARD(softmax)
PORTER_TORCH_FORWARD(log_softmax)
PORTER_TORCH_FORWARD(max)
PORTER_TORCH_FORWARD(min)
PORTER_TORCH_FORWARD(matmul)
PORTER_TORCH_FORWARD(mm)
PORTER_TORCH_FORWARD(bmm)
PORTER_TORCH_FORWARD(mv)
PORTER_TORCH_FORWARD(dot)
PORTER_TORCH_FORWARD(addmm)
PORTER_TORCH_FORWARD(baddbmm)
PORTER_TORCH_FORWARD(index_select)
PORTER_TORCH_FORWARD(gather)
PORTER_TORCH_FORWARD(masked_fill)
PORTER_TORCH_FORWARD(masked_select)
PORTER_TORCH_FORWARD(nonzero)
PORTER_TORCH_FORWARD(sort)
PORTER_TORCH_FORWARD(topk)
PORTER_TORCH_FORWARD(argsort)
PORTER_TORCH_FORWARD(tril)
PORTER_TORCH_FORWARD(triu)
PORTER_TORCH_FORWARD(select)
PORTER_TORCH_FORWARD(narrow)
PORTER_TORCH_FORWARD(squeeze)
PORTER_TORCH_FORWARD(unsqueeze)
PORTER_TORCH_FORWARD(flatten)
PORTER_TORCH_FORWARD(transpose)
PORTER_TORCH_FORWARD(t)
PORTER_TORCH_FORWARD(diagonal)
PORTER_TORCH_FORWARD(unbind)
PORTER_TORCH_FORWARD(chunk)
PORTER_TORCH_FORWARD(clone)
PORTER_TORCH_FORWARD(detach)
PORTER_TORCH_FORWARD(equal)
PORTER_TORCH_FORWARD(allclose)
#undef PORTER_TORCH_FORWARD

// The same where a braced list may be an argument.
using Dims = OptionalIntArrayRef;
using Type = std::optional<ScalarType>;
inline Tensor sum(const Tensor& x, Type dtype = {}) { return x.sum(dtype); }
inline Tensor sum(const Tensor& x, Dims dims, bool keepdim = false, Type dtype = {}) {
    return x.sum(dims, keepdim, dtype);
}
inline Tensor mean(const Tensor& x, Type dtype = {}) { return x.mean(dtype); }
inline Tensor mean(const Tensor& x, Dims dims, bool keepdim = false, Type dtype = {}) {
    return x.mean(dims, keepdim, dtype);
}
inline Tensor var(const Tensor& x, bool unbiased = true) { return x.var(unbiased); }
inline Tensor var(const Tensor& x, Dims dims, bool unbiased = true, bool keepdim = false) {
    return x.var(dims, unbiased, keepdim);
}
inline Tensor std(const Tensor& x, bool unbiased = true) { return x.std(unbiased); }
inline Tensor std(const Tensor& x, Dims dims, bool unbiased = true, bool keepdim = false) {
    return x.std(dims, unbiased, keepdim);
}
inline Tensor norm(const Tensor& x, const Scalar& p = 2) { return x.norm(p); }
inline Tensor norm(const Tensor& x, const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim = false) {
    return x.norm(p, dims, keepdim);
}
inline Tensor amax(const Tensor& x, IntArrayRef dims = {}, bool keepdim = false) { return x.amax(dims, keepdim); }
inline Tensor amin(const Tensor& x, IntArrayRef dims = {}, bool keepdim = false) { return x.amin(dims, keepdim); }
inline Tensor logsumexp(const Tensor& x, IntArrayRef dims, bool keepdim = false) { return x.logsumexp(dims, keepdim); }
inline Tensor reshape(const Tensor& x, IntArrayRef sizes) { return x.reshape(sizes); }
inline Tensor permute(const Tensor& x, IntArrayRef dims) { return x.permute(dims); }
inline Tensor broadcast_to(const Tensor& x, IntArrayRef sizes) { return x.expand(sizes); }
inline Tensor flip(const Tensor& x, IntArrayRef dims) { return x.flip(dims); }
inline Tensor slice(const Tensor& x, std::int64_t dim = 0, std::optional<std::int64_t> start = {},
                    std::optional<std::int64_t> end = {}, std::int64_t step = 1) {
    return x.slice(dim, start, end, step);
}
inline std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim = 0) {
    return x.split(size, dim);
}
inline std::int64_t numel(const Tensor& x) { return x.numel(); }

Tensor cat(TensorList tensors, std::int64_t dim = 0);
Tensor stack(TensorList tensors, std::int64_t dim = 0);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
inline Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b) {
    return where(condition, detail::wrap(a), b);
}
inline Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b) {
    return where(condition, a, detail::wrap(b));
}
Tensor linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias = {});
Tensor gelu(const Tensor& x, string_view approximate = "none");
Tensor& mm_out(Tensor& out, const Tensor& a, const Tensor& b);
Tensor& matmul_out(Tensor& out, const Tensor& a, const Tensor& b);
Tensor& bmm_out(Tensor& out, const Tensor& a, const Tensor& b);
Tensor& addmm_out(Tensor& out, const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
                  const Scalar& alpha = 1);
Tensor& cat_out(Tensor& out, TensorList tensors, std::int64_t dim = 0);
Tensor& index_select_out(Tensor& out, const Tensor& x, std::int64_t dim, const Tensor& index);
// Unique numbers (or slices along `dim`) in order; the place of each input in them; how often each occurs. What is not
// asked for comes back empty.
using Uniques = std::tuple<Tensor, Tensor, Tensor>;
Uniques unique_dim(const Tensor& x, std::int64_t dim, bool sorted = true, bool inverse = false, bool counts = false);
Uniques _unique2(const Tensor& x, bool sorted = true, bool inverse = false, bool counts = false);
std::tuple<Tensor, Tensor> _unique(const Tensor& x, bool sorted = true, bool inverse = false);
ScalarType result_type(const Tensor& a, const Tensor& b);
ScalarType promote_types(ScalarType a, ScalarType b);

}  // namespace at
