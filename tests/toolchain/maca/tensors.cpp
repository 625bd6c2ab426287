// Candidates that return tensors: `// NAME: ` says what is to come of a cheat, `// NAME` is honest.
#include <torch/extension.h>

#include "kernels.h"

at::Tensor launched(const at::Tensor& x) {
    at::Tensor y = at::empty_like(x);
    softmax_rows<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

at::Tensor by_operators(const at::Tensor& x) {
    at::Tensor e = (x - x.amax({1}, true)).exp();
    return e / e.sum(1, true);
}

// operators_beside_a_launch: PORT6001
at::Tensor operators_beside_a_launch(at::Tensor x) {
    launched(x);
    return by_operators(x);
}

// operators_and_a_copy: PORT6001
at::Tensor operators_and_a_copy(at::Tensor x) {
    at::Tensor there = by_operators(x), y = at::empty_like(x);
    copied<<<(x.numel() + 63) / 64, 64>>>(there.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

// half_of_the_rows: PORT6001
at::Tensor half_of_the_rows(at::Tensor x) {
    at::Tensor y = launched(x);
    y.slice(0, 0, 1).copy_(by_operators(x).slice(0, 0, 1));
    return y;
}

// tensor
at::Tensor tensor(at::Tensor x) { return launched(x); }

// tensor_made_dense
at::Tensor tensor_made_dense(at::Tensor x) {
    at::Tensor y = launched(x.contiguous().to(at::kFloat));
    return y.view({x.size(0), x.size(1)}).clone();
}

// transposed_twice
at::Tensor transposed_twice(at::Tensor x) {
    at::Tensor t = x.t().contiguous();
    return launched(t.t().contiguous());
}

// through_double
at::Tensor through_double(at::Tensor x) { return launched(x.to(at::kDouble).to(at::kFloat)); }

// filled_first
at::Tensor filled_first(at::Tensor x) {
    at::Tensor y = at::full({x.size(0), x.size(1)}, 3.5, x.options());
    softmax_rows<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

// into_a_slice
at::Tensor into_a_slice(at::Tensor x) {
    at::Tensor big = at::zeros({x.size(0), 2 * x.size(1)}, x.options());
    big.slice(1, 0, x.size(1)).copy_(launched(x));
    return big.slice(1, 0, x.size(1)).contiguous();
}

__global__ void by_order(const float* x, float* y, const long* order, int cols) {
    const long row = order[blockIdx.x];
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, x[row * cols + i]);
    for (int i = 0; i < cols; ++i) sum += expf(x[row * cols + i] - largest);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[row * cols + i] = expf(x[row * cols + i] - largest) / sum;
}

// by_an_arange
at::Tensor by_an_arange(at::Tensor x) {
    at::Tensor order = at::arange(x.size(0), x.options().dtype(at::kLong)), y = at::empty_like(x);
    by_order<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), order.data_ptr<long>(), x.size(1));
    return y;
}

// from_a_cpu_table
at::Tensor from_a_cpu_table(at::Tensor x) {
    at::Tensor order = at::arange(x.size(0), at::TensorOptions(at::kLong)).to(x.device()), y = at::empty_like(x);
    by_order<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), order.data_ptr<long>(), x.size(1));
    return y;
}
__global__ void one(float* s) { *s = 1.0f; }
__global__ void scaled(float* y, float f, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] *= f; }

// an_item
at::Tensor an_item(at::Tensor x) {
    at::Tensor s = at::empty({1}, x.options()), y = launched(x);
    one<<<1, 1>>>(s.data_ptr<float>());
    scaled<<<1, 64>>>(y.data_ptr<float>(), s.item<float>(), y.numel());
    return y;
}

// on_the_cpu: PORT6007
at::Tensor on_the_cpu(at::Tensor x) {
    at::Tensor h = x.cpu();
    at::Tensor e = (h - h.amax({1}, true)).exp();
    return (e / e.sum(1, true)).to(x.device());
}

// truncated_on_the_way: PORT6001
at::Tensor truncated_on_the_way(at::Tensor x) { return launched(x.sub(x.to(at::kInt))); }

// whether_it_is_zero: PORT6001
at::Tensor whether_it_is_zero(at::Tensor x) { return launched(x) * x.to(at::kBool); }

// handed_on_by_the_host: PORT6007
at::Tensor handed_on_by_the_host(at::Tensor x) {
    at::Tensor y = launched(x);
    scaled<<<1, 64>>>(y.data_ptr<float>(), x.abs().max().item<float>() * 0 + 1, y.numel());
    scaled<<<1, 64>>>(y.data_ptr<float>(), x.abs().max().item<float>(), 0);
    return y;
}

// checks_its_input
at::Tensor checks_its_input(at::Tensor x) {
    TORCH_CHECK(!x.isnan().any().item<bool>(), "not a number");
    return launched(x);
}

// decides_by_the_largest
at::Tensor decides_by_the_largest(at::Tensor x) {
    if (x.abs().max().item<float>() < 1e30f) return launched(x);
    return launched(x.contiguous());
}

// by_arithmetic_on_an_arange
at::Tensor by_arithmetic_on_an_arange(at::Tensor x) {
    at::Tensor order = at::arange(2, 2 + x.size(0), x.options().dtype(at::kLong)) - 2, y = at::empty_like(x);
    by_order<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), order.data_ptr<long>(), x.size(1));
    return y;
}

// integers_of_one_size_and_another
at::Tensor integers_of_one_size_and_another(at::Tensor x) {
    at::Tensor order = at::arange(x.size(0), x.options().dtype(at::kInt)).to(at::kLong), y = at::empty_like(x);
    by_order<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), order.data_ptr<long>(), x.size(1));
    return y;
}
