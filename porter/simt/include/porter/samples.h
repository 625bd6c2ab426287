// The helpers that sample programs carry along: error checks, command-line flags, a stopwatch.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "porter/runtime.h"

inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
template <class Result>
inline void check(Result result, const char* call, const char* file, int line) {
    if (int(result) == 0) return;
    std::fprintf(stderr, "CUDA error at %s:%d code=%d \"%s\"\n", file, line, int(result), call);
    std::exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
inline void __getLastCudaError(const char* message, const char* file, int line) {
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s(%d): CUDA error: %s: (%d) %s\n", file, line, message, int(error), cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
}

inline int findCudaDevice(int, const char**) { return 0; }
inline int gpuDeviceInit(int) { return 0; }
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int _ConvertSMVer2Cores(int, int) { return 64; }
inline const char* _ConvertSMVer2ArchName(int, int) { return "emulated"; }
inline bool checkCudaCapabilities(int major, int minor) { return major * 10 + minor <= 80; }
#define EXIT_WAIVED 2
#define DEVICE_RESET cudaDeviceReset();
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

// The value behind `-name=` or `--name=`; null without such an argument, empty for a bare flag.
inline const char* commandLineValue(int count, const char** arguments, const char* name) {
    for (int i = 1; i < count; ++i) {
        const char* argument = arguments[i] + std::strspn(arguments[i], "-");
        const std::size_t length = std::strlen(name);
        if (std::strncmp(argument, name, length) != 0) continue;
        if (argument[length] == '=') return argument + length + 1;
        if (argument[length] == '\0') return argument + length;
    }
    return nullptr;
}
inline bool checkCmdLineFlag(int count, const char** arguments, const char* name) {
    return commandLineValue(count, arguments, name) != nullptr;
}
inline int getCmdLineArgumentInt(int count, const char** arguments, const char* name) {
    const char* value = commandLineValue(count, arguments, name);
    return value == nullptr ? 0 : std::atoi(value);
}
inline float getCmdLineArgumentFloat(int count, const char** arguments, const char* name) {
    const char* value = commandLineValue(count, arguments, name);
    return value == nullptr ? 0.0f : float(std::atof(value));
}
inline bool getCmdLineArgumentString(int count, const char** arguments, const char* name, char** value) {
    *value = const_cast<char*>(commandLineValue(count, arguments, name));
    return *value != nullptr;
}

// A stopwatch on which every interval takes a millisecond, like an event's.
class StopWatchInterface {
public:
    void start() {}
    void stop() { total_ += 1.0f; }
    void reset() { total_ = 0.0f; }
    float getTime() { return total_; }
    float getAverageTime() { return 1.0f; }

private:
    float total_ = 0.0f;
};
inline bool sdkCreateTimer(StopWatchInterface** timer) { return *timer = new StopWatchInterface, true; }
inline bool sdkDeleteTimer(StopWatchInterface** timer) { return delete *timer, *timer = nullptr, true; }
inline bool sdkStartTimer(StopWatchInterface** timer) { return (*timer)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface** timer) { return (*timer)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** timer) { return (*timer)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return (*timer)->getAverageTime(); }

template <class T, class Epsilon>
inline bool sdkWriteFile(const char* path, const T* data, unsigned int count, Epsilon, bool, bool append = false) {
    std::FILE* file = std::fopen(path, append ? "a" : "w");
    if (file == nullptr) return false;
    for (unsigned int i = 0; i < count; ++i) std::fprintf(file, "%g ", double(data[i]));
    return std::fclose(file) == 0;
}
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned int count, float epsilon) {
    double error = 0.0, size = 0.0;
    for (unsigned int i = 0; i < count; ++i) {
        error += (double(reference[i]) - data[i]) * (double(reference[i]) - data[i]);
        size += double(reference[i]) * reference[i];
    }
    return std::sqrt(error) <= epsilon * std::sqrt(size);
}
template <class T>
inline bool compareData(const T* reference, const T* data, unsigned int count, float epsilon, float threshold) {
    unsigned int wrong = 0;
    for (unsigned int i = 0; i < count; ++i) wrong += !(std::fabs(float(reference[i]) - float(data[i])) <= epsilon);
    return float(wrong) <= float(count) * threshold;
}
