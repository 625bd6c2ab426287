// Launches by function call, attributes of kernels, and occupancy.
#pragma once

#include <utility>

#include "porter/runtime_device.h"

namespace porter {

template <class... Parameters, std::size_t... I>
inline cudaError_t launch_packed(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                 std::size_t shared_bytes, const void* stream, Where where, std::index_sequence<I...>) {
    const simt::AtStream at(stream);
    return cudaError_t(simt::launch("kernel", grid, block, shared_bytes, where, [&] {
        kernel(*static_cast<std::remove_reference_t<Parameters>*>(arguments[I])...);
    }));
}
inline cudaError_t launch_untyped(Where where) {
    simt::note(simt::FaultKind::UNKNOWN, where, "a kernel launched through an untyped pointer: its parameters are not known");
    return returned(cudaErrorInvalidDeviceFunction);
}

// Blocks of this shape that a multiprocessor of the emulated device holds.
inline int resident_blocks(int threads, std::size_t shared_bytes) {
    if (threads <= 0 || threads > simt::thread_limit()) return 0;
    const int by_threads = kThreadsPerMultiprocessor / threads;
    const std::size_t by_shared = shared_bytes == 0 ? kBlocksPerMultiprocessor : simt::dynamic_shared_limit() / shared_bytes;
    const int blocks = by_threads < kBlocksPerMultiprocessor ? by_threads : kBlocksPerMultiprocessor;
    return by_shared < std::size_t(blocks) ? int(by_shared) : blocks;
}

}  // namespace porter

template <class... Parameters>
inline cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    porter::Where where = porter::Where::here()) {
    return porter::launch_packed(kernel, grid, block, arguments, shared_bytes, stream, where,
                                 std::index_sequence_for<Parameters...>());
}
inline cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t = 0, cudaStream_t = nullptr,
                                    porter::Where where = porter::Where::here()) {
    return porter::launch_untyped(where);
}
template <class... Parameters>
inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                               std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                               porter::Where where = porter::Where::here()) {
    return porter::launch_packed(kernel, grid, block, arguments, shared_bytes, stream, where,
                                 std::index_sequence_for<Parameters...>());
}
inline cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t = 0, cudaStream_t = nullptr,
                                               porter::Where where = porter::Where::here()) {
    return porter::launch_untyped(where);
}
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
    const porter::simt::AtStream at(config->stream);
    return cudaError_t(porter::simt::launch("kernel", config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                            porter::Where{}, [&] { kernel(Parameters(arguments)...); }));
}

template <class Kernel>
inline cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute attribute, int value) {
    const bool of_shared = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize;
    const bool too_much = of_shared && (value < 0 || std::size_t(value) > porter::simt::dynamic_shared_limit());
    if (of_shared && !too_much) porter::simt::opt_in_dynamic_shared(std::size_t(value));
    return porter::returned(too_much ? cudaErrorInvalidValue : cudaSuccess);
}
template <class Kernel>
inline cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) {
    return cudaSuccess;
}
template <class Kernel>
inline cudaError_t cudaFuncSetSharedMemConfig(Kernel, cudaSharedMemConfig) {
    return cudaSuccess;
}
template <class Kernel>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel) {
    *attributes = {};
    attributes->maxThreadsPerBlock = porter::simt::thread_limit();
    attributes->maxDynamicSharedSizeBytes = int(porter::simt::dynamic_shared_limit());
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 80;
    return cudaSuccess;
}

template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int threads, std::size_t shared_bytes) {
    return *blocks = porter::resident_blocks(threads, shared_bytes), cudaSuccess;
}
template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel, int threads,
                                                                          std::size_t shared_bytes, unsigned int) {
    return *blocks = porter::resident_blocks(threads, shared_bytes), cudaSuccess;
}
template <class Kernel>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, Kernel, int blocks, int) {
    return *bytes = porter::simt::dynamic_shared_limit() / (blocks > 0 ? blocks : 1), cudaSuccess;
}
template <class Kernel, class SharedBytes>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Kernel, SharedBytes bytes_of, int limit = 0) {
    *block = limit > 0 && limit < porter::simt::thread_limit() ? limit : porter::simt::thread_limit();
    while (*block > PORTER_WARP_SIZE && porter::resident_blocks(*block, bytes_of(*block)) == 0) *block -= PORTER_WARP_SIZE;
    return *grid = porter::simt::multiprocessors() * porter::resident_blocks(*block, bytes_of(*block)), cudaSuccess;
}
template <class Kernel>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel kernel, std::size_t shared_bytes = 0, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, [=](int) { return shared_bytes; }, limit);
}
