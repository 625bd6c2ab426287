// CUB's caching allocator, which here has no reason to cache.
#pragma once

#include "porter/runtime_memory.h"

namespace cub {

struct CachingDeviceAllocator {
    template <class... Settings>
    explicit CachingDeviceAllocator(Settings...) {}

    cudaError_t DeviceAllocate(void** memory, std::size_t bytes, cudaStream_t = nullptr) {
        return cudaMalloc(memory, bytes);
    }
    cudaError_t DeviceAllocate(int, void** memory, std::size_t bytes, cudaStream_t = nullptr) {
        return cudaMalloc(memory, bytes);
    }
    cudaError_t DeviceFree(void* memory) { return cudaFree(memory); }
    cudaError_t DeviceFree(int, void* memory) { return cudaFree(memory); }
    cudaError_t FreeAllCached() { return cudaSuccess; }
};

}  // namespace cub
