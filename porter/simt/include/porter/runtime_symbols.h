// `__device__` and `__constant__` variables seen from the host, and questions about pointers.
#pragma once

#include "porter/runtime_memory.h"

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyHostToDevice,
                                      porter::Where where = porter::Where::here()) {
    if (offset + bytes > sizeof(T)) return porter::returned(cudaErrorInvalidValue);
    if (!porter::within(from, bytes, "cudaMemcpyToSymbol", where)) return porter::returned(cudaErrorInvalidValue);
    porter::simt::host_used(from, bytes, false);
    porter::simt::device_copy((char*)porter::simt::device_variable(std::addressof(symbol), sizeof(T)) + offset, from, bytes);
    porter::simt::host_waits_for_work();
    return cudaSuccess;
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes, std::size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                                           porter::Where where = porter::Where::here()) {
    const porter::simt::AtStream at(stream);
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind, where);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                        cudaMemcpyKind = cudaMemcpyDeviceToHost,
                                        porter::Where where = porter::Where::here()) {
    if (offset + bytes > sizeof(T)) return porter::returned(cudaErrorInvalidValue);
    if (!porter::within(to, bytes, "cudaMemcpyFromSymbol", where)) return porter::returned(cudaErrorInvalidValue);
    porter::simt::host_used(to, bytes, true);
    porter::simt::device_copy(to, (const char*)porter::simt::device_variable(std::addressof(symbol), sizeof(T)) + offset, bytes);
    return cudaSuccess;
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset,
                                             cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                                             porter::Where where = porter::Where::here()) {
    const porter::simt::AtStream at(stream);
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind, where);
}
template <class P, class T>
inline cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
    *pointer = (P*)porter::simt::device_variable(std::addressof(symbol), sizeof(T));
    return cudaSuccess;
}
template <class T>
inline cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
    *bytes = sizeof(T);
    return cudaSuccess;
}

inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    const porter::simt::Extent extent = porter::simt::device_extent(pointer);
    void* const address = const_cast<void*>(pointer);
    const bool device = porter::is_device(pointer);
    attributes->type = extent.managed ? cudaMemoryTypeManaged : device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    attributes->device = device ? 0 : cudaInvalidDeviceId;
    attributes->devicePointer = device ? address : nullptr;
    attributes->hostPointer = extent.managed || !device ? address : nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *free = porter::simt::device_bytes_free();
    *total = porter::simt::device_bytes_total();
    return cudaSuccess;
}
inline cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, int, cudaStream_t = nullptr) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
