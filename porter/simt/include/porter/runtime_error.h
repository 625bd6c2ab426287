// The runtime's error codes with CUDA's numbers and texts.
#pragma once

#define PORTER_ERRORS(X) \
    X(Success, 0, "no error") \
    X(ErrorInvalidValue, 1, "invalid argument") \
    X(ErrorMemoryAllocation, 2, "out of memory") \
    X(ErrorInitializationError, 3, "initialization error") \
    X(ErrorCudartUnloading, 4, "driver shutting down") \
    X(ErrorInvalidConfiguration, 9, "invalid configuration argument") \
    X(ErrorInvalidPitchValue, 12, "invalid pitch argument") \
    X(ErrorInvalidSymbol, 13, "invalid device symbol") \
    X(ErrorInvalidHostPointer, 16, "invalid host pointer") \
    X(ErrorInvalidDevicePointer, 17, "invalid device pointer") \
    X(ErrorInvalidTexture, 18, "invalid texture reference") \
    X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
    X(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    X(ErrorMissingConfiguration, 52, "__global__ function call is not configured") \
    X(ErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth of nested launches") \
    X(ErrorInvalidDeviceFunction, 98, "invalid device function") \
    X(ErrorNoDevice, 100, "no CUDA-capable device is detected") \
    X(ErrorInvalidDevice, 101, "invalid device ordinal") \
    X(ErrorInvalidKernelImage, 200, "device kernel image is invalid") \
    X(ErrorDeviceUninitialized, 201, "invalid device context") \
    X(ErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
    X(ErrorECCUncorrectable, 214, "uncorrectable ECC error encountered") \
    X(ErrorUnsupportedLimit, 215, "limit is not supported on this architecture") \
    X(ErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices") \
    X(ErrorInvalidPtx, 218, "a PTX JIT compilation failed") \
    X(ErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.") \
    X(ErrorFileNotFound, 301, "file not found") \
    X(ErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS") \
    X(ErrorInvalidResourceHandle, 400, "invalid resource handle") \
    X(ErrorIllegalState, 401, "the operation cannot be performed in the present state") \
    X(ErrorSymbolNotFound, 500, "named symbol not found") \
    X(ErrorNotReady, 600, "device not ready") \
    X(ErrorIllegalAddress, 700, "an illegal memory access was encountered") \
    X(ErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
    X(ErrorLaunchTimeout, 702, "the launch timed out and was terminated") \
    X(ErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled") \
    X(ErrorPeerAccessNotEnabled, 705, "peer access has not been enabled") \
    X(ErrorSetOnActiveProcess, 708, "cannot set while device is active in this process") \
    X(ErrorAssert, 710, "device-side assert triggered") \
    X(ErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    X(ErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
    X(ErrorIllegalInstruction, 715, "an illegal instruction was encountered") \
    X(ErrorMisalignedAddress, 716, "misaligned address") \
    X(ErrorLaunchFailure, 719, "unspecified launch failure") \
    X(ErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
    X(ErrorNotPermitted, 800, "operation not permitted") \
    X(ErrorNotSupported, 801, "operation not supported") \
    X(ErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
    X(ErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture") \
    X(ErrorUnknown, 999, "unknown error")

enum cudaError {
#define PORTER_ENUMERATE(name, code, text) cuda##name = code,
    PORTER_ERRORS(PORTER_ENUMERATE)
#undef PORTER_ENUMERATE
};
using cudaError_t = cudaError;

inline const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define PORTER_TEXT(name, code, text) \
    case cuda##name: return text;
        PORTER_ERRORS(PORTER_TEXT)
#undef PORTER_TEXT
    }
    return "unrecognized error code";
}
inline const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define PORTER_NAME(name, code, text) \
    case cuda##name: return "cuda" #name;
        PORTER_ERRORS(PORTER_NAME)
#undef PORTER_NAME
    }
    return "unrecognized error code";
}
