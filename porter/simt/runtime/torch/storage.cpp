// Memory, geometry and factories.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "loops.h"
#include "porter/plan_tensors.h"

namespace c10 {

Storage::Storage(void* data, std::size_t bytes, Device device, std::function<void(void*)> deleter)
    : data_(data), bytes_(bytes), device_(device), deleter_(std::move(deleter)) {}

Storage::~Storage() {
    if (deleter_) deleter_(data_);
}

Storage::Storage(std::size_t bytes, Device device)
    : data_(nullptr), bytes_(bytes), device_(device.is_cuda() ? Device(kCUDA, 0) : Device(kCPU)) {
    TORCH_CHECK(device.is_cuda() || device.is_cpu(), "no device ", device, " here");
    detail::check_ordinal(device.index());
    if (bytes == 0) return;
    if (device.is_cuda()) {
        data_ = porter::simt::device_allocate(bytes, "tensor");
        deleter_ = [](void* data) { porter::simt::device_free(data); };
    } else {
        data_ = std::malloc(bytes);
        deleter_ = [](void* data) { std::free(data); };
        if (data_) std::memset(data_, 0xFF, bytes);
    }
    if (!data_)
        detail::check_failed<OutOfMemoryError>(PORTER_HERE, "",
                                               str("out of memory: tried to allocate ", bytes, " bytes"));
}

DimVector dense_strides(IntArrayRef sizes, MemoryFormat format) {
    const auto rank = static_cast<std::int64_t>(sizes.size());
    DimVector order(rank), strides(rank);  // order: from the innermost dimension out
    for (std::int64_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
    if (format != MemoryFormat::Contiguous) {
        TORCH_CHECK(rank == (format == MemoryFormat::ChannelsLast ? 4 : 5),
                    "required rank 4 tensor to use channels_last format");
        order.erase(order.end() - 2);
        order.insert(order.begin(), 1);
    }
    std::int64_t stride = 1;
    for (std::int64_t d : order) strides[d] = stride, stride *= std::max<std::int64_t>(sizes[d], 1);
    return strides;
}

}  // namespace c10

c10::DataPtr::DataPtr(std::size_t bytes) : storage_(std::make_shared<Storage>(bytes, kCUDA)) {}

namespace at {

void Tensor::set_data(const Tensor& other) const { get() = other.get(); }

Tensor& Tensor::become(const Tensor& other) const { return get() = TensorImpl(other.get()), self(); }

namespace {

Tensor make(std::shared_ptr<Storage> storage, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) {
    auto impl = std::make_shared<TensorImpl>();
    impl->storage = std::move(storage);
    impl->sizes = DimVector(sizes);
    impl->strides = DimVector(strides);
    impl->dtype = options.scalar_type();
    impl->requires_grad = options.requires_grad();
    return Tensor(std::move(impl));
}

TensorOptions options_like(const Tensor& like, TensorOptions options) { return like.options().merge_in(options); }

}  // namespace

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, TensorOptions options) {
    TORCH_CHECK(options.layout() == kStrided, "sparse tensors are not offered");
    std::int64_t last = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        TORCH_CHECK(sizes[i] >= 0, "Trying to create tensor with negative dimension ", sizes[i], ": ", sizes);
        last += (sizes[i] - 1) * strides[i];
    }
    const std::size_t elements = numel_of(sizes) == 0 ? 0 : static_cast<std::size_t>(last + 1);
    auto storage = std::make_shared<Storage>(elements * elementSize(options.scalar_type()), options.device());
    return make(std::move(storage), sizes, strides, options);
}

Tensor empty(IntArrayRef sizes, TensorOptions options, std::optional<MemoryFormat> format) {
    const MemoryFormat chosen = format.value_or(options.memory_format_opt().value_or(MemoryFormat::Contiguous));
    return empty_strided(sizes, dense_strides(sizes, chosen), options);
}

Tensor empty_like(const Tensor& like, TensorOptions options, std::optional<MemoryFormat> format) {
    const TensorOptions merged = options_like(like, options);
    const MemoryFormat chosen = format.value_or(merged.memory_format_opt().value_or(MemoryFormat::Preserve));
    if (chosen != MemoryFormat::Preserve) return empty(like.sizes(), merged, chosen);
    if (like.is_non_overlapping_and_dense()) return empty_strided(like.sizes(), like.strides(), merged);
    return empty_strided(like.sizes(), detail::result_of(like, like.sizes(), like.scalar_type()).strides(), merged);
}

Tensor full(IntArrayRef sizes, const Scalar& value, TensorOptions options) {
    const ScalarType inferred = value.isFloatingPoint() ? kFloat : value.type();
    return empty(sizes, TensorOptions(inferred).merge_in(options)).fill_(value);
}
Tensor zeros(IntArrayRef sizes, TensorOptions options) { return empty(sizes, options).zero_(); }
Tensor ones(IntArrayRef sizes, TensorOptions options) { return empty(sizes, options).fill_(1); }
Tensor full_like(const Tensor& like, const Scalar& value, TensorOptions options, std::optional<MemoryFormat> format) {
    return empty_like(like, options, format).fill_(value);
}
Tensor zeros_like(const Tensor& like, TensorOptions options, std::optional<MemoryFormat> format) {
    return empty_like(like, options, format).zero_();
}
Tensor ones_like(const Tensor& like, TensorOptions options, std::optional<MemoryFormat> format) {
    return empty_like(like, options, format).fill_(1);
}
Tensor scalar_tensor(const Scalar& value, TensorOptions options) { return empty({}, options).fill_(value); }

Tensor detail::wrap(const Scalar& number) {
    const Tensor tensor = scalar_tensor(number, number.type());
    tensor.impl()->wrapped_number = true;
    return tensor;
}

namespace {

// Element i becomes value(i), in the dtype of `tensor`.
template <class Value>
Tensor fill_by_index(const Tensor& tensor, const Value& value) {
    using N = decltype(value(std::int64_t(0)));
    if (porter::simt::planning() && tensor.is_cuda()) {
        return tensor.copy_(fill_by_index(empty(tensor.sizes(), tensor.options().device(kCPU)), value));
    }
    const auto store = detail::storer<N>(tensor.scalar_type());
    std::int64_t i = 0;
    detail::walk(tensor.sizes(), {detail::operand(tensor)}, [&](char* const* at) { store(at[0], value(i++)); });
    detail::wrote(tensor);
    return tensor;
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, TensorOptions options) {
    const bool whole = start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true);
    TORCH_CHECK(step.toDouble() != 0, "step must be nonzero");
    const double extent = (end.toDouble() - start.toDouble()) / step.toDouble();
    TORCH_CHECK(extent >= 0, "upper bound and lower bound inconsistent with step sign");
    const Tensor out =
        empty({static_cast<std::int64_t>(std::ceil(extent))}, TensorOptions(whole ? kLong : kFloat).merge_in(options));
    if (whole) return fill_by_index(out, [&](std::int64_t i) { return start.toLong() + i * step.toLong(); });
    return fill_by_index(out, [&](std::int64_t i) { return start.toDouble() + double(i) * step.toDouble(); });
}
Tensor arange(const Scalar& start, const Scalar& end, TensorOptions options) { return arange(start, end, 1, options); }
Tensor arange(const Scalar& end, TensorOptions options) { return arange(0, end, 1, options); }

Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, TensorOptions options) {
    const double step = steps > 1 ? (end.toDouble() - start.toDouble()) / double(steps - 1) : 0;
    return fill_by_index(empty({steps}, options), [&](std::int64_t i) {
        return i < steps / 2 ? start.toDouble() + double(i) * step : end.toDouble() - double(steps - 1 - i) * step;
    });
}

Tensor eye(std::int64_t n, TensorOptions options) {
    Tensor out = zeros({n, n}, options);
    out.diagonal().fill_(1);
    return out;
}

namespace {

std::mt19937_64& generator() {
    static std::mt19937_64 instance(0);
    return instance;
}
double uniform() { return double(generator()() >> 11) * 0x1p-53; }
// Box-Muller: std::normal_distribution differs between standard libraries.
double normal() {
    const double u = 1 - uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

}  // namespace

void manual_seed(std::uint64_t seed) { generator().seed(seed); }
Tensor& Tensor::uniform_(double from, double to) const {
    fill_by_index(*this, [&](std::int64_t) { return from + (to - from) * uniform(); });
    return self();
}
Tensor& Tensor::normal_(double mean, double std) const {
    fill_by_index(*this, [&](std::int64_t) { return mean + std * normal(); });
    return self();
}
Tensor rand(IntArrayRef sizes, TensorOptions options) { return empty(sizes, options).uniform_(); }
Tensor randn(IntArrayRef sizes, TensorOptions options) { return empty(sizes, options).normal_(); }
Tensor rand_like(const Tensor& like, TensorOptions options) { return empty_like(like, options).uniform_(); }
Tensor randn_like(const Tensor& like, TensorOptions options) { return empty_like(like, options).normal_(); }
Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef sizes, TensorOptions options) {
    TORCH_CHECK(low < high, "random_ expects 'from' to be less than 'to', but got from=", low, " >= to=", high);
    return fill_by_index(empty(sizes, TensorOptions(kLong).merge_in(options)), [&](std::int64_t) {
        return low + static_cast<std::int64_t>(generator()() % static_cast<std::uint64_t>(high - low));
    });
}
Tensor randint(std::int64_t high, IntArrayRef sizes, TensorOptions options) { return randint(0, high, sizes, options); }
Tensor randperm(std::int64_t n, TensorOptions options) {
    std::vector<std::int64_t> order(n);
    for (std::int64_t i = 0; i < n; ++i) order[i] = i;
    for (std::int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[generator()() % std::uint64_t(i + 1)]);
    return fill_by_index(empty({n}, TensorOptions(kLong).merge_in(options)), [&](std::int64_t i) { return order[i]; });
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) {
    const Device device = options.device().is_cuda() ? Device(kCUDA, 0) : options.device();
    const std::size_t bytes = static_cast<std::size_t>(numel_of(sizes)) * elementSize(options.scalar_type());
    return make(std::make_shared<Storage>(data, bytes, device, nullptr), sizes, strides, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, TensorOptions options) {
    return from_blob(data, sizes, dense_strides(sizes), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter, TensorOptions options) {
    const Device device = options.device().is_cuda() ? Device(kCUDA, 0) : options.device();
    const std::size_t bytes = static_cast<std::size_t>(numel_of(sizes)) * elementSize(options.scalar_type());
    return make(std::make_shared<Storage>(data, bytes, device, deleter), sizes, dense_strides(sizes), options);
}

Tensor Tensor::new_empty(IntArrayRef sizes, TensorOptions options) const {
    return empty(sizes, options_like(*this, options));
}
Tensor Tensor::new_zeros(IntArrayRef sizes, TensorOptions options) const {
    return zeros(sizes, options_like(*this, options));
}
Tensor Tensor::new_ones(IntArrayRef sizes, TensorOptions options) const {
    return ones(sizes, options_like(*this, options));
}
Tensor Tensor::new_full(IntArrayRef sizes, const Scalar& value, TensorOptions options) const {
    return full(sizes, value, options_like(*this, options));
}
Tensor Tensor::new_empty_strided(IntArrayRef sizes, IntArrayRef strides, TensorOptions options) const {
    return empty_strided(sizes, strides, options_like(*this, options));
}

}  // namespace at
