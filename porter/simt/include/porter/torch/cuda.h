// Streams, guards, device properties and error checks of c10::cuda and at::cuda. There is one device and one order of
// work, so guards and streams change nothing.
#pragma once

#include "porter/cublas.h"
#include "porter/memory.h"
#include "porter/runtime.h"
#include "porter/torch/tensor.h"

namespace c10::cuda {

class CUDAStream {
public:
    enum Unchecked { UNCHECKED };
    CUDAStream(cudaStream_t stream = nullptr) : stream_(stream) {}
    operator cudaStream_t() const { return stream_; }
    cudaStream_t stream() const { return stream_; }
    Device device() const { return {kCUDA, 0}; }
    DeviceType device_type() const { return kCUDA; }
    DeviceIndex device_index() const { return 0; }
    std::int64_t id() const { return reinterpret_cast<std::int64_t>(stream_); }
    const CUDAStream& unwrap() const { return *this; }
    int priority() const { return 0; }
    bool query() const { return true; }
    void synchronize() const { porter::simt::host_waits_for_stream(stream_); }
    bool operator==(const CUDAStream& other) const { return stream_ == other.stream_; }
    bool operator!=(const CUDAStream& other) const { return stream_ != other.stream_; }

private:
    cudaStream_t stream_;
};

namespace detail {
inline CUDAStream& current_stream() {
    static CUDAStream stream;
    return stream;
}
inline void check(cudaError_t error, SourceLocation where) {
    if (error != cudaSuccess) c10::detail::cuda_failed(cudaGetErrorString(error), where);
}
}  // namespace detail

inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return detail::current_stream(); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return {}; }
inline void setCurrentCUDAStream(CUDAStream stream) { detail::current_stream() = stream; }
inline CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1) {
    return new CUstream_st{0, 0, false};  // whose work is done in order with the default stream's
}
inline CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex) { return stream; }
inline DeviceIndex device_count() { return 1; }
inline DeviceIndex current_device() { return 0; }
inline void set_device(DeviceIndex device) { detail::check(cudaSetDevice(device), PORTER_HERE); }
inline DeviceIndex MaybeSetDevice(DeviceIndex device) {
    if (device >= 0) set_device(device);
    return 0;
}
inline void device_synchronize() { detail::check(cudaDeviceSynchronize(), PORTER_HERE); }
inline void stream_synchronize(cudaStream_t stream) { porter::simt::host_waits_for_stream(stream); }
inline int warp_size() { return warpSize; }

// The device a guard would switch to must be the one there is.
class CUDAGuard {
public:
    explicit CUDAGuard(Device device) : CUDAGuard(device.index()) {}
    explicit CUDAGuard(DeviceIndex index) {
        c10::detail::check_ordinal(index);
    }
    CUDAGuard(const CUDAGuard&) = delete;
    ~CUDAGuard() {}  // not trivial: a guard that is only declared is no unused variable
    void set_device(Device) {}
    void set_index(DeviceIndex) {}
    void reset_device(Device) {}
    Device original_device() const { return {kCUDA, 0}; }
    Device current_device() const { return {kCUDA, 0}; }
};

class OptionalCUDAGuard {
public:
    OptionalCUDAGuard() = default;
    explicit OptionalCUDAGuard(std::optional<Device> device) {
        if (device) CUDAGuard guard(*device);
    }
    explicit OptionalCUDAGuard(std::optional<DeviceIndex> index) {
        if (index) CUDAGuard guard(*index);
    }
    OptionalCUDAGuard(const OptionalCUDAGuard&) = delete;
    ~OptionalCUDAGuard() {}
    void set_device(Device) {}
    void set_index(DeviceIndex) {}
    void reset() {}
};

class CUDAStreamGuard {
public:
    explicit CUDAStreamGuard(CUDAStream stream) : before_(getCurrentCUDAStream()) { setCurrentCUDAStream(stream); }
    CUDAStreamGuard(const CUDAStreamGuard&) = delete;
    ~CUDAStreamGuard() { setCurrentCUDAStream(before_); }
    CUDAStream original_stream() const { return before_; }
    CUDAStream current_stream() const { return getCurrentCUDAStream(); }

private:
    CUDAStream before_;
};
using OptionalCUDAStreamGuard = CUDAStreamGuard;

namespace CUDACachingAllocator {
class CUDAAllocator {
public:
    DataPtr allocate(std::size_t bytes) const { return DataPtr(bytes); }
    void* raw_alloc(std::size_t bytes) const { return porter::simt::device_allocate(bytes, "raw_alloc"); }
    void raw_deallocate(void* pointer) const { porter::simt::device_free(pointer); }
    void recordStream(const DataPtr&, CUDAStream) const {}
};
inline CUDAAllocator* get() {
    static CUDAAllocator allocator;
    return &allocator;
}
inline void* raw_alloc(std::size_t bytes) { return get()->raw_alloc(bytes); }
inline void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t) { return get()->raw_alloc(bytes); }
inline void raw_delete(void* pointer) { get()->raw_deallocate(pointer); }
inline void emptyCache() {}
inline void recordStream(const DataPtr&, CUDAStream) {}
}  // namespace CUDACachingAllocator

}  // namespace c10::cuda

namespace at {

class DeviceGuard {
public:
    explicit DeviceGuard(Device device) {
        c10::detail::check_ordinal(device.index());
    }
    DeviceGuard(const DeviceGuard&) = delete;
    ~DeviceGuard() {}
};
class OptionalDeviceGuard {
public:
    OptionalDeviceGuard() = default;
    explicit OptionalDeviceGuard(std::optional<Device> device) {
        if (device) DeviceGuard guard(*device);
    }
    OptionalDeviceGuard(const OptionalDeviceGuard&) = delete;
    ~OptionalDeviceGuard() {}
    void reset_device(Device) {}
};
inline std::optional<Device> device_of(const Tensor& tensor) {
    return tensor.defined() ? std::optional(tensor.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& tensor) {
    return tensor ? device_of(*tensor) : std::nullopt;
}
inline std::optional<Device> device_of(TensorList tensors) {
    return tensors.empty() ? std::nullopt : device_of(tensors.front());
}

}  // namespace at

namespace at::cuda {

using namespace c10::cuda;

inline cudaDeviceProp* getDeviceProperties(DeviceIndex device) {
    static cudaDeviceProp properties = [] {
        cudaDeviceProp p;
        c10::cuda::detail::check(cudaGetDeviceProperties(&p, 0), PORTER_HERE);
        return p;
    }();
    c10::detail::check_ordinal(device);
    return &properties;
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(0); }
inline cublasHandle_t getCurrentCUDABlasHandle() { return nullptr; }  // it holds no state
inline bool is_available() { return true; }
inline int getNumGPUs() { return 1; }

class CUDAEvent {
public:
    explicit CUDAEvent(unsigned int = cudaEventDisableTiming) {}
    bool isCreated() const { return true; }
    bool query() const { return true; }
    void record() { record(getCurrentCUDAStream()); }
    void record(const CUDAStream& stream) { porter::simt::event_recorded(this, stream.stream()); }
    void recordOnce(const CUDAStream& stream) { record(stream); }
    void block(const CUDAStream& stream) { porter::simt::stream_waits_for_event(stream.stream(), this); }
    void synchronize() const { porter::simt::host_waits_for_event(this); }
    float elapsed_time(const CUDAEvent&) const { return 0; }
};

}  // namespace at::cuda

namespace torch::cuda {
inline bool is_available() { return true; }
inline std::size_t device_count() { return 1; }
inline void synchronize(std::int64_t = -1) { porter::simt::host_waits_for_all(); }
using c10::cuda::getCurrentCUDAStream;
}  // namespace torch::cuda

#define C10_CUDA_CHECK(EXPR) ::c10::cuda::detail::check((EXPR), PORTER_HERE)
#define C10_CUDA_CHECK_WARN(EXPR) static_cast<void>(EXPR)
#define C10_CUDA_ERROR_HANDLED(EXPR) (EXPR)
#define C10_CUDA_IGNORE_ERROR(EXPR) static_cast<void>(EXPR)
#define C10_CUDA_CLEAR_ERROR() static_cast<void>(cudaGetLastError())
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
#define TORCH_CUDABLAS_CHECK(EXPR) \
    do { \
        const cublasStatus_t porter_status = (EXPR); \
        TORCH_CHECK(porter_status == CUBLAS_STATUS_SUCCESS, "CUDA error: status ", int(porter_status), " of " #EXPR); \
    } while (false)
#define THCudaCheck(EXPR) C10_CUDA_CHECK(EXPR)
