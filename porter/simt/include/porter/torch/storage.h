// The memory of a tensor and its geometry.
#pragma once

#include <functional>
#include <memory>

#include "porter/torch/options.h"

namespace c10 {

// CUDA memory is the executor's device memory; CPU memory is plain and poisoned, too. Empty storage has no address.
class Storage {
public:
    Storage(std::size_t bytes, Device device);
    Storage(void* data, std::size_t bytes, Device device, std::function<void(void*)> deleter);
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    void* data() const { return data_; }
    std::size_t nbytes() const { return bytes_; }
    Device device() const { return device_; }

private:
    void* data_;
    std::size_t bytes_;
    Device device_;
    std::function<void(void*)> deleter_;
};

// Device memory with an owner, as the caching allocator hands it out.
class DataPtr {
public:
    DataPtr() = default;
    explicit DataPtr(std::size_t bytes);
    void* get() const { return storage_ ? storage_->data() : nullptr; }
    void* mutable_get() const { return get(); }
    void clear() { storage_.reset(); }
    Device device() const { return {kCUDA, 0}; }
    explicit operator bool() const { return get() != nullptr; }

private:
    std::shared_ptr<Storage> storage_;
};

// What tensors that are copies of one another share; sizes, strides and offset count elements.
struct TensorImpl {
    std::shared_ptr<Storage> storage;
    DimVector sizes, strides;
    std::int64_t offset = 0;
    ScalarType dtype = ScalarType::Undefined;
    bool requires_grad = false;
    bool wrapped_number = false;  // made from a Scalar: weak in type promotion
};

// Dense strides of `sizes` in that order of dimensions.
DimVector dense_strides(IntArrayRef sizes, MemoryFormat format = MemoryFormat::Contiguous);

}  // namespace c10
