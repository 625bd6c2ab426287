// at::Tensor: shared storage seen through sizes, strides and an offset. Only what is declared here is offered; other
// methods of torch fail to compile at the user's line.
#pragma once

#include <tuple>
#include <vector>

#include "porter/torch/operations.h"
#include "porter/torch/tensor_base.h"

namespace at {

class Tensor;
using TensorList = ArrayRef<Tensor>;

namespace indexing {
struct TensorIndex;
}

namespace detail {

#define PORTER_TORCH_ENUMERATOR(name) name,
enum class Unary { PORTER_TORCH_UNARY(PORTER_TORCH_ENUMERATOR) };
enum class Binary { add, sub, div_floor, div_trunc, PORTER_TORCH_BINARY(PORTER_TORCH_ENUMERATOR) };
#undef PORTER_TORCH_ENUMERATOR

Tensor unary(Unary operation, const Tensor& x);
Tensor& unary_into(Unary operation, const Tensor& x, Tensor& out);
Tensor binary(Binary operation, const Tensor& a, const Tensor& b);
Tensor& binary_into(Binary operation, const Tensor& a, const Tensor& b, Tensor& out);
Tensor wrap(const Scalar& number);  // zero-dimensional, weak in type promotion

}  // namespace detail

class Tensor : public TensorBase {
public:
    using TensorBase::TensorBase;

    // Gradients are not modelled: the flag is carried, nothing is recorded.
    const Tensor& set_requires_grad(bool value) const { return get().requires_grad = value, *this; }
    const Tensor& requires_grad_(bool value = true) const { return set_requires_grad(value); }
    Tensor detach() const;
    Tensor alias() const { return detach(); }
    Tensor variable_data() const { return detach(); }
    Tensor tensor_data() const { return detach(); }
    Tensor data() const { return detach(); }
    template <class T> T* data() const { return data_ptr<T>(); }

    Scalar item() const;
    template <class T> T item() const { return item().template to<T>(); }

    // Views.
    Tensor as_strided(IntArrayRef sizes, IntArrayRef strides, std::optional<std::int64_t> offset = {}) const;
    Tensor view(IntArrayRef sizes) const;
    Tensor view(ScalarType type) const;
    Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
    Tensor reshape(IntArrayRef sizes) const;
    Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
    Tensor flatten(std::int64_t first = 0, std::int64_t last = -1) const;
    Tensor ravel() const { return reshape({-1}); }
    Tensor squeeze() const;
    Tensor squeeze(std::int64_t dim) const;
    Tensor unsqueeze(std::int64_t dim) const;
    Tensor& squeeze_(std::int64_t dim) const { return become(squeeze(dim)); }
    Tensor& unsqueeze_(std::int64_t dim) const { return become(unsqueeze(dim)); }
    Tensor permute(IntArrayRef dims) const;
    Tensor transpose(std::int64_t a, std::int64_t b) const;
    Tensor transpose_(std::int64_t a, std::int64_t b) const { return become(transpose(a, b)); }
    Tensor t() const;
    Tensor mT() const { return transpose(-2, -1); }
    Tensor expand(IntArrayRef sizes, bool implicit = false) const;
    Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
    Tensor broadcast_to(IntArrayRef sizes) const { return expand(sizes); }
    Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = {}, std::optional<std::int64_t> end = {},
                 std::int64_t step = 1) const;
    Tensor select(std::int64_t dim, std::int64_t index) const;
    Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
    Tensor diagonal(std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1) const;
    std::vector<Tensor> unbind(std::int64_t dim = 0) const;
    std::vector<Tensor> split(std::int64_t size, std::int64_t dim = 0) const;
    std::vector<Tensor> split(IntArrayRef sizes, std::int64_t dim = 0) const;
    std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t dim = 0) const;
    Tensor operator[](std::int64_t index) const { return select(0, index); }
    Tensor operator[](const Scalar& index) const { return select(0, index.toLong()); }

    // Copies and conversions.
    Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
    Tensor clone(std::optional<MemoryFormat> format = {}) const;
    Tensor to(TensorOptions options, bool non_blocking = false, bool copy = false,
              std::optional<MemoryFormat> format = {}) const;
    Tensor to(ScalarType type, bool non_blocking = false, bool copy = false,
              std::optional<MemoryFormat> format = {}) const {
        return to(TensorOptions(type), non_blocking, copy, format);
    }
    Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false,
              std::optional<MemoryFormat> format = {}) const {
        return to(TensorOptions(type).device(device), non_blocking, copy, format);
    }
    Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false) const {
        return to(other.options(), non_blocking, copy);
    }
    Tensor toType(ScalarType type) const { return to(type); }
    Tensor type_as(const Tensor& other) const { return to(other.options()); }
    Tensor cpu() const { return to(kCPU); }
    Tensor cuda() const { return to(kCUDA); }
    Tensor pin_memory() const { return cpu(); }
    void record_stream(...) const {}
    Tensor& copy_(const Tensor& source, bool non_blocking = false) const;
    Tensor& fill_(const Scalar& value) const;
    Tensor& fill_(const Tensor& value) const { return fill_(value.item()); }
    Tensor& zero_() const;
    Tensor& resize_(IntArrayRef sizes) const;
    void set_data(const Tensor& other) const;

    Tensor new_empty(IntArrayRef sizes, TensorOptions options = {}) const;
    Tensor new_zeros(IntArrayRef sizes, TensorOptions options = {}) const;
    Tensor new_ones(IntArrayRef sizes, TensorOptions options = {}) const;
    Tensor new_full(IntArrayRef sizes, const Scalar& value, TensorOptions options = {}) const;
    Tensor new_empty_strided(IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {}) const;
    Tensor new_tensor(const Tensor& source) const { return source.to(options(), false, true); }

    // Element-wise arithmetic: every listed operation, with its in-place form.
#define PORTER_TORCH_METHODS(name) \
    Tensor name() const { return detail::unary(detail::Unary::name, *this); } \
    Tensor& name##_() const { return detail::unary_into(detail::Unary::name, *this, self()); }
    PORTER_TORCH_UNARY(PORTER_TORCH_METHODS)
#undef PORTER_TORCH_METHODS
#define PORTER_TORCH_METHODS(name) \
    Tensor name(const Tensor& other) const { return detail::binary(detail::Binary::name, *this, other); } \
    Tensor name(const Scalar& other) const { return name(detail::wrap(other)); } \
    Tensor& name##_(const Tensor& other) const { \
        return detail::binary_into(detail::Binary::name, *this, other, self()); \
    } \
    Tensor& name##_(const Scalar& other) const { return name##_(detail::wrap(other)); }
    PORTER_TORCH_BINARY(PORTER_TORCH_METHODS)
#undef PORTER_TORCH_METHODS
#define PORTER_TORCH_METHODS(name) \
    Tensor name(const Tensor& other, const Scalar& alpha = 1) const; \
    Tensor name(const Scalar& other, const Scalar& alpha = 1) const { return name(detail::wrap(other), alpha); } \
    Tensor& name##_(const Tensor& other, const Scalar& alpha = 1) const; \
    Tensor& name##_(const Scalar& other, const Scalar& alpha = 1) const { return name##_(detail::wrap(other), alpha); }
    PORTER_TORCH_METHODS(add)
    PORTER_TORCH_METHODS(sub)
#undef PORTER_TORCH_METHODS
    Tensor div(const Tensor& other, std::optional<string_view> rounding_mode) const;
    Tensor& div_(const Tensor& other, std::optional<string_view> rounding_mode) const;
    Tensor floor_divide(const Tensor& other) const { return div(other, "floor"); }
    Tensor floor_divide(const Scalar& other) const { return div(detail::wrap(other), "floor"); }
    Tensor bitwise_not() const;
    Tensor clamp(const std::optional<Scalar>& low, const std::optional<Scalar>& high = {}) const;
    Tensor clamp_min(const Scalar& low) const { return clamp(low); }
    Tensor clamp_max(const Scalar& high) const { return clamp({}, high); }
    Tensor& clamp_(const std::optional<Scalar>& low, const std::optional<Scalar>& high = {}) const {
        return copy_(clamp(low, high));
    }
    Tensor& clamp_min_(const Scalar& low) const { return clamp_(low); }
    Tensor& clamp_max_(const Scalar& high) const { return clamp_({}, high); }
    Tensor addcmul(const Tensor& a, const Tensor& b, const Scalar& value = 1) const { return add(a.mul(b), value); }
    Tensor addcdiv(const Tensor& a, const Tensor& b, const Scalar& value = 1) const { return add(a.div(b), value); }
    Tensor& addcmul_(const Tensor& a, const Tensor& b, const Scalar& value = 1) const { return add_(a.mul(b), value); }
    Tensor& addcdiv_(const Tensor& a, const Tensor& b, const Scalar& value = 1) const { return add_(a.div(b), value); }
    Tensor where(const Tensor& condition, const Tensor& other) const;
    Tensor operator-() const { return neg(); }
    Tensor operator~() const { return bitwise_not(); }
    Tensor operator!() const { return logical_not(); }
    template <class T> Tensor& operator+=(const T& other) { return add_(other); }
    template <class T> Tensor& operator-=(const T& other) { return sub_(other); }
    template <class T> Tensor& operator*=(const T& other) { return mul_(other); }
    template <class T> Tensor& operator/=(const T& other) { return div_(other); }
    template <class T> Tensor& operator&=(const T& other) { return bitwise_and_(other); }
    template <class T> Tensor& operator|=(const T& other) { return bitwise_or_(other); }

    // Reductions: over all elements, or over `dims`.
    using Dims = OptionalIntArrayRef;
    using Type = std::optional<ScalarType>;
    Tensor sum(Type dtype = {}) const { return sum(Dims(), false, dtype); }
    Tensor sum(Dims dims, bool keepdim = false, Type dtype = {}) const;
    Tensor mean(Type dtype = {}) const { return mean(Dims(), false, dtype); }
    Tensor mean(Dims dims, bool keepdim = false, Type dtype = {}) const;
    Tensor prod(Type dtype = {}) const;
    Tensor prod(std::int64_t dim, bool keepdim = false, Type dtype = {}) const;
    Tensor var(bool unbiased = true) const { return var(Dims(), unbiased); }
    Tensor var(Dims dims, bool unbiased = true, bool keepdim = false) const;
    Tensor std(bool unbiased = true) const { return var(unbiased).sqrt(); }
    Tensor std(Dims dims, bool unbiased = true, bool keepdim = false) const {
        return var(dims, unbiased, keepdim).sqrt();
    }
    Tensor norm(const Scalar& p = 2) const { return norm(p, IntArrayRef()); }
    Tensor norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim = false) const;
    Tensor amax(IntArrayRef dims = {}, bool keepdim = false) const;
    Tensor amin(IntArrayRef dims = {}, bool keepdim = false) const;
    Tensor max() const { return amax(); }
    Tensor min() const { return amin(); }
    Tensor max(const Tensor& other) const { return maximum(other); }
    Tensor min(const Tensor& other) const { return minimum(other); }
    std::tuple<Tensor, Tensor> max(std::int64_t dim, bool keepdim = false) const;
    std::tuple<Tensor, Tensor> min(std::int64_t dim, bool keepdim = false) const;
    Tensor argmax(std::optional<std::int64_t> dim = {}, bool keepdim = false) const;
    Tensor argmin(std::optional<std::int64_t> dim = {}, bool keepdim = false) const;
    Tensor all() const;
    Tensor any() const;
    Tensor all(std::int64_t dim, bool keepdim = false) const;
    Tensor any(std::int64_t dim, bool keepdim = false) const;
    Tensor cumsum(std::int64_t dim, Type dtype = {}) const;
    Tensor& cumsum_(std::int64_t dim) const { return copy_(cumsum(dim)); }
    Tensor softmax(std::int64_t dim, Type dtype = {}) const;
    Tensor log_softmax(std::int64_t dim, Type dtype = {}) const;
    Tensor logsumexp(IntArrayRef dims, bool keepdim = false) const;
    bool equal(const Tensor& other) const;
    bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;

    // Products, in the tensors' dtype with accumulation in double.
    Tensor matmul(const Tensor& other) const;
    Tensor mm(const Tensor& other) const;
    Tensor bmm(const Tensor& other) const;
    Tensor mv(const Tensor& vector) const;
    Tensor dot(const Tensor& other) const;
    Tensor addmm(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) const;
    Tensor baddbmm(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) const;

    // Selection by index and by mask.
    Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
    Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
    Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values) const;
    Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& values) const;
    Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) const;
    Tensor index_select(std::int64_t dim, const Tensor& index) const;
    Tensor& index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) const;
    Tensor& index_fill_(std::int64_t dim, const Tensor& index, const Scalar& value) const;
    Tensor gather(std::int64_t dim, const Tensor& index) const;
    Tensor& scatter_(std::int64_t dim, const Tensor& index, const Tensor& source) const;
    Tensor& scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source) const;
    Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
    Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const { return copy_(masked_fill(mask, value)); }
    Tensor masked_select(const Tensor& mask) const;
    Tensor nonzero() const;
    std::tuple<Tensor, Tensor> sort(std::int64_t dim = -1, bool descending = false) const;
    std::tuple<Tensor, Tensor> sort(std::optional<bool>, std::int64_t dim = -1, bool descending = false) const {
        return sort(dim, descending);  // always stable
    }
    std::tuple<Tensor, Tensor> topk(std::int64_t k, std::int64_t dim = -1, bool largest = true,
                                    bool sorted = true) const;
    Tensor argsort(std::int64_t dim = -1, bool descending = false) const { return std::get<1>(sort(dim, descending)); }
    Tensor repeat(IntArrayRef repeats) const;
    Tensor flip(IntArrayRef dims) const;
    Tensor tril(std::int64_t diagonal = 0) const;
    Tensor triu(std::int64_t diagonal = 0) const;

    // Deterministic random numbers; not torch's own streams.
    Tensor& uniform_(double from = 0, double to = 1) const;
    Tensor& normal_(double mean = 0, double std = 1) const;

private:
    Tensor& self() const { return const_cast<Tensor&>(*this); }
    Tensor& become(const Tensor& other) const;
};

using OptionalTensorRef = std::optional<Tensor>;

}  // namespace at
