// Inputs that Python makes alike, and results as lines Python reads.
#pragma once

#include <cstdio>

#include "porter/torch/torch.h"

inline torch::Tensor input(int seed, torch::IntArrayRef sizes, torch::ScalarType type = torch::kFloat) {
    torch::Tensor numbers = torch::arange(c10::numel_of(sizes), torch::kLong);
    numbers = numbers.mul(7).add(3 * seed).remainder(11).sub(5);
    if (at::isFloatingType(type)) numbers = numbers.to(torch::kDouble).div(4);
    return numbers.to(type).to(torch::kCUDA).view(sizes);
}

inline void show(int id, const torch::Tensor& x) {
    std::printf("%d|%s|", id, c10::toString(x.scalar_type()));
    for (auto size : x.sizes()) std::printf("%ld,", long(size));
    std::printf("|");
    for (auto stride : x.strides()) std::printf("%ld,", long(stride));
    std::printf("|");
    const torch::Tensor flat = x.to(at::isFloatingType(x.scalar_type()) ? torch::kDouble : torch::kLong).contiguous();
    for (long i = 0; i < flat.numel(); ++i) std::printf("%.17g ", flat.view({-1})[i].item<double>());
    std::printf("\n");
}
inline void show(int id, double number) { show(id, torch::full({}, number, torch::kDouble)); }
inline void show(int id, const std::vector<torch::Tensor>& list) {
    for (const auto& x : list) show(id, x);
}
template <class A, class B>
void show(int id, const std::tuple<A, B>& pair) {
    show(id, std::get<0>(pair)), show(id, std::get<1>(pair));
}
template <class F>
void show_case(int id, const F& make) {
    try {
        show(id, make());
    } catch (const c10::Error& error) {
        std::printf("%d|error||| %s\n", id, error.what());
    }
}
