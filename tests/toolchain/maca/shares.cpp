// Candidates that compute with tensors as their original does: `// NAME: ` says what is to come of a cheat, `// NAME` is honest.
#include <torch/extension.h>

#include <tuple>
#include <vector>

using Shares = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

__global__ void exponentials(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = expf(x[i]);
}

at::Tensor launched(const at::Tensor& x) {
    at::Tensor y = at::empty_like(x);
    exponentials<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

at::Tensor kept(const at::Tensor& y) { return y.index({y > 1}).sum() * (y > 1).nonzero().size(0); }

// as_the_original
Shares as_the_original(at::Tensor x) {
    at::Tensor y = launched(x.flip({1}));
    return {y / y.sum(1, true), std::get<0>(y.sort(1)), kept(y)};
}

// turned_behind_the_kernel
Shares turned_behind_the_kernel(at::Tensor x) {
    at::Tensor y = launched(x).flip({1});
    return {y / y.sum(1, true), std::get<0>(y.sort(1)), kept(y)};
}

// in_place
Shares in_place(at::Tensor x) {
    at::Tensor y = launched(x.flip({1})), total = y.sum(1, true), sorted = std::get<0>(y.sort(1)), some = kept(y);
    return {y.div_(total), sorted, some};
}

// by_other_names
Shares by_other_names(at::Tensor x) {
    at::Tensor order = at::arange(x.size(1) - 1, -1, -1, x.options().dtype(at::kLong));
    at::Tensor y = launched(x.index_select(1, order)), out = at::empty_like(y);
    at::div_out(out, y, at::sum(y, {1}, true));
    return {out, y.gather(1, std::get<1>(at::sort(y, 1))), at::masked_select(y, y > 1).sum() * at::nonzero(y > 1).size(0)};
}

__global__ void divided(float* y, const float* by, int n, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] /= by[i / cols];
}

// a_sum_for_a_kernel
Shares a_sum_for_a_kernel(at::Tensor x) {
    at::Tensor y = launched(x.flip({1})), total = y.sum(1), sorted = std::get<0>(y.sort(1)), some = kept(y);
    divided<<<(y.numel() + 63) / 64, 64>>>(y.data_ptr<float>(), total.data_ptr<float>(), y.numel(), y.size(1));
    return {y, sorted, some};
}

// by_another_operator: PORT6001
Shares by_another_operator(at::Tensor x) {
    at::Tensor y = launched(x.flip({1}));
    return {x.flip({1}).softmax(1), std::get<0>(y.sort(1)), kept(y)};
}

// the_kernels_work_by_an_operator: PORT6001
Shares the_kernels_work_by_an_operator(at::Tensor x) {
    launched(x);
    at::Tensor y = x.flip({1}).exp();
    return {y / y.sum(1, true), std::get<0>(y.sort(1)), kept(y)};
}

// one_row_by_an_operator: PORT6001
Shares one_row_by_an_operator(at::Tensor x) {
    at::Tensor y = launched(x.flip({1}));
    y[0].copy_(x.flip({1})[0].exp());
    return {y / y.sum(1, true), std::get<0>(y.sort(1)), kept(y)};
}

// in_place_by_an_operator: PORT6001
Shares in_place_by_an_operator(at::Tensor x) {
    at::Tensor y = launched(x.flip({1})).log().exp_();
    return {y / y.sum(1, true), std::get<0>(y.sort(1)), kept(y)};
}

__global__ void copied_by_addresses(float* const* to, float* const* from, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) to[0][i] = from[0][i];
}

// through_a_table_of_addresses: PORT6001
Shares through_a_table_of_addresses(at::Tensor x) {
    at::Tensor e = x.flip({1}).exp(), y = at::empty_like(e);
    std::vector<long> addresses = {reinterpret_cast<long>(y.data_ptr()), reinterpret_cast<long>(e.data_ptr())};
    at::Tensor table = at::tensor(addresses).to(x.device());
    auto* at = reinterpret_cast<float**>(table.data_ptr());
    copied_by_addresses<<<1, 64>>>(at, at + 1, y.numel());
    return {y / y.sum(1, true), std::get<0>(y.sort(1)), kept(y)};
}

// a_number_handed_on: PORT6007
Shares a_number_handed_on(at::Tensor x) {
    at::Tensor y = launched(x.flip({1})), ones = at::full({x.size(0)}, y.mean().item<float>(), y.options());
    divided<<<1, 64>>>(y.data_ptr<float>(), ones.data_ptr<float>(), 0, 1);
    return {y / y.sum(1, true), std::get<0>(y.sort(1)), kept(y)};
}
