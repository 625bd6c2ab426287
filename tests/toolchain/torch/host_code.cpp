// Host code in the manner of an extension: each line printed is a claim that test_host_code.py checks.
#include <ATen/AccumulateType.h>
#include <ATen/Parallel.h>
#include <ATen/cuda/ApplyGridUtils.cuh>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/detail/TensorInfo.cuh>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#include <iostream>
#include <optional>
#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) AT_ASSERTM(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

static const char* branch = "none";

template <typename scalar_t>
void scale(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in,
           torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> out, float factor) {
    using acc_t = at::acc_type<scalar_t, true>;
    for (int i = 0; i < in.size(0); ++i) {
        for (int j = 0; j < in.size(1); ++j) out[i][j] = static_cast<scalar_t>(static_cast<acc_t>(in[i][j]) * factor);
    }
}

torch::Tensor scaled(const torch::Tensor& x, double factor, c10::optional<torch::Tensor> out_ = c10::nullopt) {
    CHECK_INPUT(x);
    const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
    auto out = out_.has_value() ? out_.value() : torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "scaled", [&] {
        branch = std::is_same<scalar_t, at::Half>::value       ? "half"
                 : std::is_same<scalar_t, at::BFloat16>::value ? "bfloat16"
                                                               : "wide";
        scale<scalar_t>(x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                        out.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), factor);
    });
    return out;
}

struct Scaled : public torch::autograd::Function<Scaled> {
    static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x, double factor) {
        ctx->save_for_backward({x});
        ctx->saved_data["factor"] = factor;
        at::AutoDispatchBelowADInplaceOrView guard;
        return scaled(x, ctx->saved_data["factor"].toDouble());
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                   torch::autograd::variable_list grads) {
        return {scaled(grads[0], ctx->saved_data["factor"].toDouble()), torch::Tensor()};
    }
};

TORCH_LIBRARY(sample, m) {
    m.def("scaled(Tensor x, float factor, Tensor? out=None) -> Tensor");
}
TORCH_LIBRARY_IMPL(sample, CUDA, m) { m.impl("scaled", TORCH_FN(scaled)); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "sample";
    m.def("scaled", &scaled, "x * factor", py::arg("x"), py::arg("factor") = 1.0, py::arg("out") = py::none());
    m.def("twice", [](at::Tensor x) { return x + x; }, py::call_guard<py::gil_scoped_release>());
    py::enum_<c10::DeviceType>(m, "DeviceType").value("CPU", at::kCPU).export_values();
}

template <class F>
void claim(const char* name, const F& value) {
    try {
        const auto result = value();
        std::cout << name << ": " << result << "\n";
    } catch (const c10::Error& error) {
        std::cout << name << ": " << error.what() << " at line " << error.where.line << "\n";
    }
}

int main() {
    auto options = torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA, 0).requires_grad(false);
    auto x = torch::arange(6, options).view({2, 3});
    claim("device", [&] { return x.device(); });
    claim("dtype", [&] {
        return x.dtype() == torch::kFloat32 && x.scalar_type() == at::ScalarType::Float && x.type().is_cuda();
    });
    claim("wide", [&] { return scaled(x, 2).sum().item<float>(); });
    claim("half", [&] { return scaled(x.to(at::kHalf), 0.5, x.to(at::kHalf)).sum().item().toFloat(); });
    claim("branch", [&] { return branch; });
    claim("not contiguous", [&] { return scaled(x.t(), 2).numel(); });
    claim("not on the GPU", [&] { return scaled(x.cpu(), 2).numel(); });
    claim("not dispatched", [&] { return scaled(x.to(at::kInt), 2).numel(); });
    claim("wrong pointer", [&] { return x.data_ptr<double>() != nullptr; });
    claim("wrong rank", [&] { return x.packed_accessor64<float, 1>().size(0); });
    claim("mixed devices", [&] { return (x + x.cpu()).numel(); });
    claim("autograd", [&] { return Scaled::apply(x, 3.0).sum().item<double>(); });
    claim("sizes", [&] { return c10::str(x.sizes(), " ", x.strides(), " ", x.options().dtype()); });
    claim("half arithmetic", [&] { return at::Half(1.5f) * 2 + 0.25f; });
    claim("half keeps its type", [&] { return std::is_same<decltype(at::Half() * 2), at::Half>::value; });
    claim("half bits", [&] { return reinterpret_cast<__half*>(x.to(at::kHalf).data_ptr<at::Half>()) != nullptr; });
    claim("comparison", [&] { TORCH_CHECK_EQ(x.dim(), 3) << "dims"; return "not reached"; });
    claim("empty is poisoned", [&] { return torch::empty({1}, options).isnan().item<bool>(); });
    claim("one type", [&] {
        at::TensorArg a{x, "a", 1}, b{x.to(at::kInt), "b", 2};
        at::checkAllSameGPU("f", {a, b});
        at::globalContext().alertNotDeterministic("f");
        at::checkDim("f", a, 2), at::checkAllContiguous("f", {a, b}), at::checkAllSameType("f", {a, a});
        at::checkAllSameType("f", {a, b});
        return a->dim();
    });
    claim("one device", [&] {
        at::checkAllSameGPU("f", {{x, "a", 1}, {x.cpu(), "b", 2}});
        return "not reached";
    });
    claim("walked", [&] {
        using at::cuda::detail::IndexToOffset;
        auto info = at::cuda::detail::getTensorInfo<float, int>(x.t().unsqueeze(1));
        float sum = 0;
        for (int i = 0; i < 6; ++i) sum = 10 * sum + info.data[IndexToOffset<float, int, -1>::get(i, info)];
        const int place = info.collapseDims(0);
        return c10::str(sum, " ", place, " ", info.dims, " ", info.isContiguous());
    });
    claim("joined axes", [&] {
        auto info = at::cuda::detail::getTensorInfo<const float, std::int64_t>(x.view({2, 1, 3}));
        const int place = info.collapseDims();
        return c10::str(place, " ", info.dims, " ", info.sizes[0], " ", info.isContiguous());
    });
    claim("on threads of the host", [&] {
        std::int64_t sum = 0;
        at::parallel_for(2, 5, 1, [&](std::int64_t begin, std::int64_t end) {
            for (auto i = begin; i < end; ++i) sum += i;
        });
        return sum;
    });
    claim("block", [&] { return c10::str(at::cuda::getApplyBlockSize(), " ", at::cuda::getApplyBlock().x); });
    claim("index types", [&] {
        return AT_DISPATCH_INDEX_TYPES(at::kLong, "index", [&] { return int(sizeof(index_t)); });
    });
    claim("type by its device", [&] {
        auto size = AT_DISPATCH_FLOATING_TYPES(at::CUDA(at::kDouble), "size", [&] { return int(sizeof(scalar_t)); });
        return c10::str(size, " ", torch::zeros({1}, at::CUDA(at::kFloat)).is_cuda());
    });
}
