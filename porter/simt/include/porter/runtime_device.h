// The emulated device: one, called as the device of its dialect is. What asks for its name must not find out more.
//
// The number of multiprocessors and the limits of a block are the job's.
#pragma once

#include <cstring>

#include "porter/runtime_memory.h"

namespace porter::simt {
constexpr char DEVICE_NAME[] = PORTER_DEVICE_NAME;
}  // namespace porter::simt

namespace porter {

inline constexpr int kThreadsPerMultiprocessor = 2048;
inline constexpr int kBlocksPerMultiprocessor = 32;

}  // namespace porter

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    std::size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    std::size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    std::size_t totalConstMem;
    int major, minor;
    std::size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2], maxTexture2DLayered[3];
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
    int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    std::size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    std::size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    std::size_t reservedSharedMemPerBlock;
    int memoryPoolsSupported, clusterLaunch;
};

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (device != 0) return porter::returned(cudaErrorInvalidDevice);
    cudaDeviceProp p = {};
    std::strcpy(p.name, porter::simt::DEVICE_NAME);
    p.totalGlobalMem = porter::simt::device_bytes_total();
    p.sharedMemPerBlock = porter::simt::static_shared_limit();
    p.sharedMemPerBlockOptin = p.sharedMemPerMultiprocessor = porter::simt::dynamic_shared_limit();
    p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.warpSize = porter::simt::claimed_warp_size();
    p.memPitch = 2147483647;
    p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = porter::simt::thread_limit();
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 2147483647;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.totalConstMem = 65536;
    p.major = 8;
    p.clockRate = p.memoryClockRate = 1000000;
    p.memoryBusWidth = 128;
    p.textureAlignment = p.texturePitchAlignment = 512;
    p.multiProcessorCount = porter::simt::multiprocessors();
    p.maxThreadsPerMultiProcessor = porter::kThreadsPerMultiprocessor;
    p.maxBlocksPerMultiProcessor = porter::kBlocksPerMultiprocessor;
    p.l2CacheSize = 4 << 20;
    p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.managedMemory = p.concurrentManagedAccess = 1;
    p.streamPrioritiesSupported = p.cooperativeLaunch = p.memoryPoolsSupported = p.asyncEngineCount = 1;
    p.globalL1CacheSupported = p.localL1CacheSupported = 1;
    if (porter::simt::like_a_device()) {
        p.l2CacheSize = 8 << 20;
        p.clockRate = 1600000, p.memoryClockRate = 1800000, p.memoryBusWidth = 4096;
        p.pciBusID = 0x2b, p.asyncEngineCount = 3, p.regsPerMultiprocessor = 131072;
        std::memset(&p.uuid, 0x5a, sizeof p.uuid);
    }
    *properties = p;
    return cudaSuccess;
}

// Name, CUDA's number, value.
#define PORTER_ATTRIBUTES(X) \
    X(MaxThreadsPerBlock, 1, p.maxThreadsPerBlock) \
    X(MaxBlockDimX, 2, p.maxThreadsDim[0]) \
    X(MaxBlockDimY, 3, p.maxThreadsDim[1]) \
    X(MaxBlockDimZ, 4, p.maxThreadsDim[2]) \
    X(MaxGridDimX, 5, p.maxGridSize[0]) \
    X(MaxGridDimY, 6, p.maxGridSize[1]) \
    X(MaxGridDimZ, 7, p.maxGridSize[2]) \
    X(MaxSharedMemoryPerBlock, 8, int(p.sharedMemPerBlock)) \
    X(TotalConstantMemory, 9, int(p.totalConstMem)) \
    X(WarpSize, 10, p.warpSize) \
    X(MaxPitch, 11, int(p.memPitch)) \
    X(MaxRegistersPerBlock, 12, p.regsPerBlock) \
    X(ClockRate, 13, p.clockRate) \
    X(GpuOverlap, 15, p.deviceOverlap) \
    X(MultiProcessorCount, 16, p.multiProcessorCount) \
    X(Integrated, 18, p.integrated) \
    X(CanMapHostMemory, 19, p.canMapHostMemory) \
    X(ComputeMode, 20, p.computeMode) \
    X(ConcurrentKernels, 31, p.concurrentKernels) \
    X(MemoryClockRate, 36, p.memoryClockRate) \
    X(GlobalMemoryBusWidth, 37, p.memoryBusWidth) \
    X(L2CacheSize, 38, p.l2CacheSize) \
    X(MaxThreadsPerMultiProcessor, 39, p.maxThreadsPerMultiProcessor) \
    X(AsyncEngineCount, 40, p.asyncEngineCount) \
    X(UnifiedAddressing, 41, p.unifiedAddressing) \
    X(ComputeCapabilityMajor, 75, p.major) \
    X(ComputeCapabilityMinor, 76, p.minor) \
    X(StreamPrioritiesSupported, 78, p.streamPrioritiesSupported) \
    X(MaxSharedMemoryPerMultiprocessor, 81, int(p.sharedMemPerMultiprocessor)) \
    X(MaxRegistersPerMultiprocessor, 82, p.regsPerMultiprocessor) \
    X(ManagedMemory, 83, p.managedMemory) \
    X(PageableMemoryAccess, 88, p.pageableMemoryAccess) \
    X(ConcurrentManagedAccess, 89, p.concurrentManagedAccess) \
    X(CooperativeLaunch, 95, p.cooperativeLaunch) \
    X(MaxSharedMemoryPerBlockOptin, 97, int(p.sharedMemPerBlockOptin)) \
    X(MaxBlocksPerMultiprocessor, 106, p.maxBlocksPerMultiProcessor) \
    X(ReservedSharedMemoryPerBlock, 111, int(p.reservedSharedMemPerBlock)) \
    X(MemoryPoolsSupported, 115, p.memoryPoolsSupported)

enum cudaDeviceAttr {
#define PORTER_ENUMERATE(name, number, value) cudaDevAttr##name = number,
    PORTER_ATTRIBUTES(PORTER_ENUMERATE)
#undef PORTER_ENUMERATE
};

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, device) != cudaSuccess) return cudaErrorInvalidDevice;
    switch (attribute) {
#define PORTER_VALUE(name, number, expression) \
    case cudaDevAttr##name: *value = expression; return cudaSuccess;
        PORTER_ATTRIBUTES(PORTER_VALUE)
#undef PORTER_VALUE
    }
    return porter::returned(cudaErrorInvalidValue);
}

inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return porter::returned(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
inline cudaError_t cudaSetDeviceFlags(unsigned int) { return cudaSuccess; }
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return porter::simt::host_waits_for_all(), cudaSuccess; }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaDeviceReset() { return porter::simt::device_reset(), cudaSuccess; }
inline cudaError_t cudaThreadExit() { return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return porter::returned(cudaErrorPeerAccessUnsupported); }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return porter::returned(cudaErrorPeerAccessNotEnabled); }
inline cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit) { return *value = 8 << 20, cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) { return *config = cudaFuncCachePreferNone, cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return *least = 0, *greatest = -5, cudaSuccess;
}
inline cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int) { 
    return std::snprintf(text, bytes, porter::simt::like_a_device() ? "0000:2B:00.0" : "0000:00:00.0"), cudaSuccess;
}
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) { return *pool = nullptr, cudaSuccess; }

inline cudaError_t cudaGetLastError() { return cudaError_t(porter::simt::take_last_error()); }
inline cudaError_t cudaPeekAtLastError() { return cudaError_t(porter::simt::last_error()); }
