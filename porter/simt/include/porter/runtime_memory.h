// Memory of the runtime API: every allocation is known to the watch, every copy is checked against the allocations.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "porter/cache.h"
#include "porter/launch.h"
#include "porter/memory.h"
#include "porter/runtime_error.h"
#include "porter/runtime_types.h"

extern "C" char __data_start[], _end[];  // the executable's static storage, where `__device__` variables live

namespace porter {

using simt::Where;

// What every call of the runtime returns through: a failure is also the last error.
inline cudaError_t returned(cudaError_t error) {
    if (error != cudaSuccess) simt::set_last_error(error);
    return error;
}

inline cudaError_t allocate(void** pointer, std::size_t bytes, const char* label, bool managed) {
    if (pointer == nullptr) return returned(cudaErrorInvalidValue);
    *pointer = bytes == 0 ? nullptr : simt::device_allocate(bytes, label, managed);
    // Stores of the host are not watched, so what it may write counts as written.
    if (managed && *pointer != nullptr) simt::host_wrote(*pointer, bytes);
    return returned(bytes != 0 && *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
inline cudaError_t release(void* pointer) {
    return returned(pointer == nullptr || simt::device_free(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

inline bool is_device(const void* pointer) {
    const char* address = static_cast<const char*>(pointer);
    return simt::device_extent(pointer).base != nullptr || (address >= __data_start && address < _end);
}
// False, with a fault, when `[pointer, pointer + bytes)` leaves the allocation it starts in.
inline bool within(const void* pointer, std::size_t bytes, const char* call, Where where) {
    const simt::Extent extent = simt::device_extent(pointer);
    if (extent.base == nullptr) return true;
    const std::size_t offset = std::size_t(static_cast<const char*>(pointer) - static_cast<char*>(extent.base));
    if (offset + bytes <= extent.bytes) return true;
    simt::note(simt::FaultKind::OUT_OF_BOUNDS, where,
               std::string(call) + " of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                   " of an allocation of " + std::to_string(extent.bytes) + " bytes");
    return false;
}

inline cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, Where where) {
    if (bytes == 0) return cudaSuccess;
    if (to == nullptr || from == nullptr) return returned(cudaErrorInvalidValue);
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return returned(cudaErrorInvalidMemcpyDirection);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((to_device && !is_device(to)) || (from_device && !is_device(from))) return returned(cudaErrorInvalidValue);
    const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
    const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
    if ((to_host && !simt::is_host_memory(to)) || (from_host && !simt::is_host_memory(from))) return returned(cudaErrorInvalidValue);
    if (!within(to, bytes, "cudaMemcpy", where) || !within(from, bytes, "cudaMemcpy", where))
        return returned(cudaErrorInvalidValue);
    simt::host_used(from, bytes, false);
    simt::host_used(to, bytes, true);
    simt::device_copy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t fill(void* to, int byte, std::size_t bytes, Where where) {
    if (bytes == 0) return cudaSuccess;
    if (!is_device(to) || !within(to, bytes, "cudaMemset", where)) return returned(cudaErrorInvalidValue);
    simt::host_used(to, bytes, true);
    simt::device_fill(to, byte, bytes);
    return cudaSuccess;
}
inline std::size_t pitch_of(std::size_t width) { return (width + 511) / 512 * 512; }

}  // namespace porter

template <class T>
inline cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
    return porter::allocate((void**)pointer, bytes, "cudaMalloc", false);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t) {
    return porter::allocate((void**)pointer, bytes, "cudaMallocAsync", false);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t, cudaStream_t) {
    return porter::allocate((void**)pointer, bytes, "cudaMallocFromPoolAsync", false);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned int = cudaMemAttachGlobal) {
    return porter::allocate((void**)pointer, bytes, "cudaMallocManaged", true);
}
// Page-locked memory is also reachable from kernels, at the same address.
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned int = cudaHostAllocDefault) {
    return porter::allocate((void**)pointer, bytes, "cudaMallocHost", true);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned int = cudaHostAllocDefault) {
    return porter::allocate((void**)pointer, bytes, "cudaHostAlloc", true);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    *pitch = porter::pitch_of(width);
    return porter::allocate((void**)pointer, *pitch * height, "cudaMallocPitch", false);
}
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
    *pitched = {nullptr, porter::pitch_of(extent.width), extent.width, extent.height};
    return porter::allocate(&pitched->ptr, pitched->pitch * extent.height * extent.depth, "cudaMalloc3D", false);
}
inline cudaError_t cudaFree(void* pointer) {
    porter::simt::host_waits_for_all();
    return porter::release(pointer);
}
inline cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return porter::release(pointer); }
inline cudaError_t cudaFreeHost(void* pointer) { return porter::release(pointer); }
inline cudaError_t cudaHostRegister(void*, std::size_t, unsigned int) { return porter::returned(cudaErrorNotSupported); }
inline cudaError_t cudaHostUnregister(void*) { return porter::returned(cudaErrorHostMemoryNotRegistered); }
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int) {
    if (porter::simt::device_extent(host).base == nullptr) return porter::returned(cudaErrorInvalidValue);
    *device = static_cast<T*>(host);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                              porter::Where where = porter::Where::here()) {
    const cudaError_t error = porter::copy(to, from, bytes, kind, where);
    if (kind != cudaMemcpyDeviceToDevice) porter::simt::host_waits_for_stream(nullptr);
    return error;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr, porter::Where where = porter::Where::here()) {
    const porter::simt::AtStream at(stream);
    return porter::copy(to, from, bytes, kind, where);
}
inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes,
                                  porter::Where where = porter::Where::here()) {
    return porter::copy(to, from, bytes, cudaMemcpyDeviceToDevice, where);
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream,
                                       porter::Where where = porter::Where::here()) {
    const porter::simt::AtStream at(stream);
    return porter::copy(to, from, bytes, cudaMemcpyDeviceToDevice, where);
}
inline cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                porter::Where where = porter::Where::here()) {
    if (width > to_pitch || width > from_pitch) return porter::returned(cudaErrorInvalidPitchValue);
    for (std::size_t row = 0; row < height; ++row) {
        const cudaError_t error = porter::copy(static_cast<char*>(to) + row * to_pitch,
                                               static_cast<const char*>(from) + row * from_pitch, width, kind, where);
        if (error != cudaSuccess) return error;
    }
    if (kind != cudaMemcpyDeviceToDevice) porter::simt::host_waits_for_work();
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                                     porter::Where where = porter::Where::here()) {
    const porter::simt::AtStream at(stream);
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind, where);
}
inline cudaError_t cudaMemset(void* to, int byte, std::size_t bytes, porter::Where where = porter::Where::here()) {
    return porter::fill(to, byte, bytes, where);
}
inline cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream = nullptr,
                                   porter::Where where = porter::Where::here()) {
    const porter::simt::AtStream at(stream);
    return porter::fill(to, byte, bytes, where);
}
inline cudaError_t cudaMemset2D(void* to, std::size_t pitch, int byte, std::size_t width, std::size_t height,
                                porter::Where where = porter::Where::here()) {
    for (std::size_t row = 0; row < height; ++row) {
        const cudaError_t error = porter::fill(static_cast<char*>(to) + row * pitch, byte, width, where);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int byte, std::size_t width, std::size_t height,
                                     cudaStream_t stream = nullptr, porter::Where where = porter::Where::here()) {
    const porter::simt::AtStream at(stream);
    return cudaMemset2D(to, pitch, byte, width, height, where);
}
