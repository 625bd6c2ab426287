// own_names.cu ported to MACA xcore1000 by porter 0.1.0, source b1fae8c85bc524e0
#include <mc_runtime.h>

#define cudaCheckErrors(message) checkLast(message, __LINE__)

struct cudaBuffer {
    float* data;
    mcError_t cudaStatus;
    int cudaMallocCount();
};

inline void cudaCheck(mcError_t error, int line) { (void)line; (void)error; }
void checkLast(const char* message, int line);

void use(cudaBuffer* buffer, int cudaDeviceIndex) {
    cudaCheck(mcSetDevice(cudaDeviceIndex), __LINE__);
    buffer->cudaStatus = mcMalloc(&buffer->data, 16);
    cudaCheckErrors("cudaMalloc failed");
    cudaHelperFromElsewhere(buffer);
    buffer->cudaMallocCount();
}
