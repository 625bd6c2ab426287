// Matrix products, accumulated in double and rounded once.
#include "loops.h"
#include "steps.h"

namespace at {

namespace {

std::vector<double> as_doubles(const Tensor& x) {
    std::vector<double> numbers;
    numbers.reserve(x.numel());
    const auto load = detail::loader<double>(x.scalar_type());
    detail::walk(x.sizes(), {detail::operand(x)}, [&](char* const* at) { numbers.push_back(load(at[0])); });
    return numbers;
}

void check_product(const char* name, const Tensor& a, const Tensor& b, std::int64_t rank) {
    TORCH_CHECK(a.dim() == rank && b.dim() == rank, name, ": expected ", rank, "-D tensors, got ", a.dim(), "-D and ",
                b.dim(), "-D");
    TORCH_CHECK(a.dtype() == b.dtype(), "expected m1 and m2 to have the same dtype, but got: ", a.dtype(),
                " != ", b.dtype());
    TORCH_CHECK(a.size(-1) == b.size(-2), "mat1 and mat2 shapes cannot be multiplied (", a.size(-2), "x", a.size(-1),
                " and ", b.size(-2), "x", b.size(-1), ")");
}

// One [m, k] by [k, n] product into `c`.
void multiply(const double* a, const double* b, double* c, std::int64_t m, std::int64_t k, std::int64_t n) {
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < k; ++j) {
            const double factor = a[i * k + j];
            for (std::int64_t l = 0; l < n; ++l) c[i * n + l] += factor * b[j * n + l];
        }
    }
}

PORTER_STEP(bmm) {
    const Tensor &a = in[0], &b = in[1];
    const std::int64_t batch = a.size(0), m = a.size(1), k = a.size(2), n = b.size(2);
    const std::vector<double> left = as_doubles(a), right = as_doubles(b);
    std::vector<double> result(batch * m * n);
    for (std::int64_t i = 0; i < batch; ++i) {
        multiply(left.data() + i * m * k, right.data() + i * k * n, result.data() + i * m * n, m, k, n);
    }
    out[0].copy_(from_blob(result.data(), {batch, m, n}, kDouble));
}

Tensor batched_product(const Tensor& a, const Tensor& b) {
    const TensorOptions options = TensorOptions(a.scalar_type()).device(detail::common_device({a, b}));
    const Tensor product = empty({a.size(0), a.size(1), b.size(2)}, options);
    bmm_step({product}, {a, b});
    return product;
}

}  // namespace

Tensor Tensor::bmm(const Tensor& other) const {
    check_product("bmm", *this, other, 3);
    TORCH_CHECK(size(0) == other.size(0), "batch1 and batch2 must have same number of batches, got ", size(0), " and ",
                other.size(0));
    return batched_product(*this, other);
}

Tensor Tensor::mm(const Tensor& other) const {
    check_product("mm", *this, other, 2);
    return batched_product(unsqueeze(0), other.unsqueeze(0)).squeeze(0);
}

Tensor Tensor::mv(const Tensor& vector) const { return mm(vector.unsqueeze(1)).squeeze(1); }

Tensor Tensor::dot(const Tensor& other) const {
    TORCH_CHECK(dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", dim(), "D and ", other.dim(),
                "D tensors");
    return unsqueeze(0).mm(other.unsqueeze(1)).reshape({});
}

Tensor Tensor::matmul(const Tensor& other) const {
    TORCH_CHECK(dim() > 0 && other.dim() > 0, "both arguments to matmul need to be at least 1D, but they are ", dim(),
                "D and ", other.dim(), "D");
    const Tensor a = dim() == 1 ? unsqueeze(0) : *this, b = other.dim() == 1 ? other.unsqueeze(1) : other;
    const IntArrayRef a_batch = a.sizes().slice(0, a.dim() - 2), b_batch = b.sizes().slice(0, b.dim() - 2);
    DimVector sizes = detail::broadcast_sizes({empty(a_batch, kByte), empty(b_batch, kByte)});
    const auto batched = [&](const Tensor& x) {
        DimVector full = sizes;
        full.insert(full.end(), {x.size(-2), x.size(-1)});
        return x.expand(full).reshape({numel_of(sizes), x.size(-2), x.size(-1)});
    };
    const Tensor left = batched(a), right = batched(b);
    check_product("matmul", left, right, 3);
    if (dim() > 1) sizes.push_back(a.size(-2));
    if (other.dim() > 1) sizes.push_back(b.size(-1));
    return batched_product(left, right).reshape(sizes);
}

Tensor Tensor::addmm(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) const {
    check_product("addmm", a, b, 2);
    const Tensor result = a.to(kDouble).mm(b.to(kDouble)).mul(alpha);
    return (beta.equal(0) ? result : result.add(to(kDouble), beta)).to(scalar_type());
}

Tensor Tensor::baddbmm(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) const {
    check_product("baddbmm", a, b, 3);
    const Tensor result = a.to(kDouble).bmm(b.to(kDouble)).mul(alpha);
    return (beta.equal(0) ? result : result.add(to(kDouble), beta)).to(scalar_type());
}

Tensor linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
    const Tensor product = x.matmul(weight.t());
    return bias && bias->defined() ? product.add(*bias) : product;
}

namespace {

Tensor& store_result(Tensor& out, const Tensor& result) {
    TORCH_CHECK(out.dtype() == result.dtype(), "Expected out tensor to have dtype ", result.dtype(), ", but got ",
                out.dtype(), " instead");
    return detail::resize_output(out, result.sizes()).copy_(result);
}

}  // namespace

Tensor& mm_out(Tensor& out, const Tensor& a, const Tensor& b) { return store_result(out, a.mm(b)); }
Tensor& matmul_out(Tensor& out, const Tensor& a, const Tensor& b) { return store_result(out, a.matmul(b)); }
Tensor& bmm_out(Tensor& out, const Tensor& a, const Tensor& b) { return store_result(out, a.bmm(b)); }
Tensor& addmm_out(Tensor& out, const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha) {
    return store_result(out, x.addmm(a, b, beta, alpha));
}

}  // namespace at
