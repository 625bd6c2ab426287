#include "loops.h"
#include "porter/plan_tensors.h"

#include <algorithm>
#include <numeric>

namespace at::detail {

template <class N>
Load<N> loader(ScalarType type) {
    switch (type) {
#define PORTER_CASE(T, Name) \
    case ScalarType::Name: \
        return [](const void* p) { \
            T value; \
            __builtin_memcpy(&value, p, sizeof value); \
            if constexpr (std::is_class_v<T>) return static_cast<N>(static_cast<porter::Float>(value)); \
            else return static_cast<N>(value); \
        };
        PORTER_TORCH_SCALAR_TYPES(PORTER_CASE)
#undef PORTER_CASE
        default: TORCH_CHECK(false, "no tensor has the type ", type);
    }
    __builtin_unreachable();
}

template <class N>
Store<N> storer(ScalarType type) {
    switch (type) {
#define PORTER_CASE(T, Name) \
    case ScalarType::Name: \
        return [](void* p, N number) { \
            T value; \
            if constexpr (std::is_class_v<T>) value = T(static_cast<porter::Float>(number)); \
            else value = static_cast<T>(number); \
            __builtin_memcpy(p, &value, sizeof value); \
        };
        PORTER_TORCH_SCALAR_TYPES(PORTER_CASE)
#undef PORTER_CASE
        default: TORCH_CHECK(false, "no tensor has the type ", type);
    }
    __builtin_unreachable();
}

template Load<double> loader(ScalarType);
template Load<std::int64_t> loader(ScalarType);
template Store<double> storer(ScalarType);
template Store<std::int64_t> storer(ScalarType);

Operand operand(const Tensor& tensor) {
    if (porter::simt::planning() && tensor.is_cuda() && tensor.numel() != 0) porter::simt::plan_library(tensor.data_ptr());
    Operand result{static_cast<char*>(tensor.data_ptr()), DimVector(tensor.strides())};
    for (std::int64_t& stride : result.strides) stride *= static_cast<std::int64_t>(tensor.element_size());
    return result;
}

void walk(IntArrayRef sizes, ArrayRef<Operand> operands, FunctionRef<char* const*> body) {
    constexpr std::size_t MOST = 4;
    const std::size_t k_end = operands.size();
    TORCH_INTERNAL_ASSERT(k_end <= MOST);
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const std::int64_t inner = rank ? sizes[rank - 1] : 1, count = numel_of(sizes);
    char* row[MOST];
    std::int64_t step[MOST] = {};
    for (std::size_t k = 0; k < k_end; ++k) {
        row[k] = operands[k].data;
        if (rank) step[k] = operands[k].strides[rank - 1];
    }
    DimVector position(rank, 0);
    for (std::int64_t done = 0; done < count; done += inner) {
        char* address[MOST];
        std::copy(row, row + k_end, address);
        for (std::int64_t i = 0; i < inner; ++i) {
            body(address);
            for (std::size_t k = 0; k < k_end; ++k) address[k] += step[k];
        }
        for (std::int64_t d = rank - 2; d >= 0; --d) {
            for (std::size_t k = 0; k < k_end; ++k) row[k] += operands[k].strides[d];
            if (++position[d] < sizes[d]) break;
            for (std::size_t k = 0; k < k_end; ++k) row[k] -= operands[k].strides[d] * sizes[d];
            position[d] = 0;
        }
    }
}

void wrote(const Tensor& tensor) {
    if (!tensor.is_cuda() || tensor.numel() == 0) return;
    if (tensor.is_non_overlapping_and_dense()) return porter::simt::host_wrote(tensor.data_ptr(), tensor.nbytes());
    const std::size_t bytes = tensor.element_size();
    walk(tensor.sizes(), {operand(tensor)}, [&](char* const* at) { porter::simt::host_wrote(at[0], bytes); });
}

DimVector broadcast_sizes(TensorList tensors) {
    DimVector sizes;
    for (const Tensor& tensor : tensors) {
        const IntArrayRef other = tensor.sizes();
        if (other.size() > sizes.size()) sizes.insert(sizes.begin(), other.size() - sizes.size(), 1);
        const std::size_t shift = sizes.size() - other.size();
        for (std::size_t i = 0; i < other.size(); ++i) {
            std::int64_t& size = sizes[shift + i];
            TORCH_CHECK(size == other[i] || size == 1 || other[i] == 1, "The size of tensor a (", size,
                        ") must match the size of tensor b (", other[i], ") at non-singleton dimension ", shift + i);
            if (size == 1) size = other[i];
        }
    }
    return sizes;
}

Device common_device(TensorList tensors) {
    const auto on_gpu = std::find_if(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.is_cuda(); });
    const Device device = on_gpu == tensors.end() ? Device(kCPU) : on_gpu->device();
    for (const Tensor& tensor : tensors) {
        TORCH_CHECK(tensor.device() == device || tensor.dim() == 0,
                    "Expected all tensors to be on the same device, but found at least two devices, ", device, " and ",
                    tensor.device(), "!");
    }
    return device;
}

// A higher class of operand (tensors with dimensions, zero-dimensional tensors, numbers) decides unless a lower one is
// of a higher kind (floating, integer, bool).
ScalarType result_type(TensorList tensors) {
    std::array<ScalarType, 3> by_class;
    by_class.fill(ScalarType::Undefined);
    for (const Tensor& tensor : tensors) {
        const bool number = tensor.impl()->wrapped_number;
        ScalarType& type = by_class[number ? 2 : tensor.dim() == 0 ? 1 : 0];
        type = promoteTypes(type, number && tensor.is_floating_point() ? kFloat : tensor.scalar_type());
    }
    const auto combine = [](ScalarType higher, ScalarType lower) {
        if (isFloatingType(higher) || lower == ScalarType::Undefined) return higher;
        if (higher == kBool || higher == ScalarType::Undefined || isFloatingType(lower))
            return promoteTypes(higher, lower);
        return higher;
    };
    return combine(by_class[0], combine(by_class[1], by_class[2]));
}

namespace {

// Positive when dimension `a` must be outside `b`, negative when inside, 0 when no input tells.
int compare_dimensions(const std::vector<Tensor>& inputs, IntArrayRef sizes, std::int64_t a, std::int64_t b) {
    for (const Tensor& input : inputs) {
        const std::int64_t stride_a = input.stride(a), stride_b = input.stride(b);
        if (stride_a == 0 || stride_b == 0) continue;
        if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
        if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
}

}  // namespace

Tensor result_of(TensorList inputs, IntArrayRef sizes, ScalarType type) {
    std::vector<Tensor> expanded;
    for (const Tensor& input : inputs) expanded.push_back(input.expand(sizes));
    const auto rank = static_cast<std::int64_t>(sizes.size());
    DimVector order(rank);  // from the innermost dimension out
    for (std::int64_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
    for (std::int64_t i = 1; i < rank; ++i) {
        std::int64_t moving = i;
        for (std::int64_t other = i - 1; other >= 0; --other) {
            const int comparison = compare_dimensions(expanded, sizes, order[other], order[moving]);
            if (comparison < 0) break;
            if (comparison > 0) std::swap(order[other], order[moving]), moving = other;
        }
    }
    DimVector strides(rank);
    std::int64_t stride = 1;
    for (std::int64_t d : order) strides[d] = stride, stride *= std::max<std::int64_t>(sizes[d], 1);
    return empty_strided(sizes, strides, TensorOptions(type).device(common_device(inputs)));
}

Tensor& resize_output(Tensor& out, IntArrayRef sizes) {
    if (out.sizes() != sizes) out.resize_(sizes);
    return out;
}

std::int64_t wrap_dim(std::int64_t dim, const Tensor& x) { return maybe_wrap_dim(dim, x.dim()); }

}  // namespace at::detail
