// The part of the driver API that needs no module: devices, contexts, memory.
#pragma once

#include "porter/runtime.h"

#define PORTER_DRIVER_ERRORS(X) \
    X(CUDA_SUCCESS, 0, cudaSuccess) \
    X(CUDA_ERROR_INVALID_VALUE, 1, cudaErrorInvalidValue) \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2, cudaErrorMemoryAllocation) \
    X(CUDA_ERROR_NOT_INITIALIZED, 3, cudaErrorInitializationError) \
    X(CUDA_ERROR_DEINITIALIZED, 4, cudaErrorCudartUnloading) \
    X(CUDA_ERROR_NO_DEVICE, 100, cudaErrorNoDevice) \
    X(CUDA_ERROR_INVALID_DEVICE, 101, cudaErrorInvalidDevice) \
    X(CUDA_ERROR_INVALID_CONTEXT, 201, cudaErrorDeviceUninitialized) \
    X(CUDA_ERROR_INVALID_HANDLE, 400, cudaErrorInvalidResourceHandle) \
    X(CUDA_ERROR_NOT_FOUND, 500, cudaErrorSymbolNotFound) \
    X(CUDA_ERROR_NOT_READY, 600, cudaErrorNotReady) \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700, cudaErrorIllegalAddress) \
    X(CUDA_ERROR_LAUNCH_FAILED, 719, cudaErrorLaunchFailure) \
    X(CUDA_ERROR_NOT_SUPPORTED, 801, cudaErrorNotSupported) \
    X(CUDA_ERROR_UNKNOWN, 999, cudaErrorUnknown)

enum CUresult {
#define PORTER_ENUMERATE(name, code, runtime) name = code,
    PORTER_DRIVER_ERRORS(PORTER_ENUMERATE)
#undef PORTER_ENUMERATE
};
inline CUresult cuGetErrorName(CUresult error, const char** text) {
    switch (error) {
#define PORTER_NAME(name, code, runtime) \
    case name: return *text = #name, CUDA_SUCCESS;
        PORTER_DRIVER_ERRORS(PORTER_NAME)
#undef PORTER_NAME
    }
    return CUDA_ERROR_INVALID_VALUE;
}
inline CUresult cuGetErrorString(CUresult error, const char** text) {
    return *text = cudaGetErrorString(cudaError_t(int(error))), CUDA_SUCCESS;
}

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUdevice_attribute = cudaDeviceAttr;

#define CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK cudaDevAttrMaxThreadsPerBlock
#define CU_DEVICE_ATTRIBUTE_WARP_SIZE cudaDevAttrWarpSize
#define CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT cudaDevAttrMultiProcessorCount
#define CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR cudaDevAttrComputeCapabilityMajor
#define CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR cudaDevAttrComputeCapabilityMinor
#define CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK cudaDevAttrMaxSharedMemoryPerBlock
#define CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN cudaDevAttrMaxSharedMemoryPerBlockOptin

namespace porter {

inline CUresult driver_result(cudaError_t error) { return CUresult(int(error)); }
inline void* host_view(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace porter

inline CUresult cuInit(unsigned int) { return CUDA_SUCCESS; }
inline CUresult cuDriverGetVersion(int* version) { return porter::driver_result(cudaDriverGetVersion(version)); }
inline CUresult cuDeviceGetCount(int* count) { return *count = 1, CUDA_SUCCESS; }
inline CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return *device = ordinal, ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
inline CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
    return std::snprintf(name, std::size_t(bytes), "%s", porter::simt::DEVICE_NAME), CUDA_SUCCESS;
}
inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    return porter::driver_result(cudaDeviceGetAttribute(value, attribute, device));
}
inline CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
    return *bytes = porter::simt::device_bytes_total(), CUDA_SUCCESS;
}
inline CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) { return *context = nullptr, CUDA_SUCCESS; }
inline CUresult cuCtxCreate(CUcontext* context, unsigned int, CUdevice) { return *context = nullptr, CUDA_SUCCESS; }
inline CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
inline CUresult cuCtxGetCurrent(CUcontext* context) { return *context = nullptr, CUDA_SUCCESS; }
inline CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
inline CUresult cuCtxDestroy(CUcontext) { return CUDA_SUCCESS; }
inline CUresult cuCtxSynchronize() { return porter::simt::host_waits_for_all(), CUDA_SUCCESS; }
inline CUresult cuStreamSynchronize(CUstream stream) { return porter::simt::host_waits_for_stream(stream), CUDA_SUCCESS; }
inline CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
    void* pointer = nullptr;
    const cudaError_t error = cudaMalloc(&pointer, bytes);
    *address = reinterpret_cast<CUdeviceptr>(pointer);
    return porter::driver_result(error);
}
inline CUresult cuMemFree(CUdeviceptr address) { return porter::driver_result(cudaFree(porter::host_view(address))); }
inline CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes, porter::Where where = porter::Where::here()) {
    return porter::driver_result(cudaMemcpy(porter::host_view(to), from, bytes, cudaMemcpyHostToDevice, where));
}
inline CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes, porter::Where where = porter::Where::here()) {
    return porter::driver_result(cudaMemcpy(to, porter::host_view(from), bytes, cudaMemcpyDeviceToHost, where));
}
inline CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, porter::Where where = porter::Where::here()) {
    return porter::driver_result(cudaMemcpy(porter::host_view(to), porter::host_view(from), bytes, cudaMemcpyDeviceToDevice, where));
}
inline CUresult cuMemsetD8(CUdeviceptr to, unsigned char byte, std::size_t bytes, porter::Where where = porter::Where::here()) {
    return porter::driver_result(cudaMemset(porter::host_view(to), byte, bytes, where));
}
