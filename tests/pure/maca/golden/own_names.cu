#include <cuda_runtime.h>

#define cudaCheckErrors(message) checkLast(message, __LINE__)

struct cudaBuffer {
    float* data;
    cudaError_t cudaStatus;
    int cudaMallocCount();
};

inline void cudaCheck(cudaError_t error, int line) { (void)line; (void)error; }
void checkLast(const char* message, int line);

void use(cudaBuffer* buffer, int cudaDeviceIndex) {
    cudaCheck(cudaSetDevice(cudaDeviceIndex), __LINE__);
    buffer->cudaStatus = cudaMalloc(&buffer->data, 16);
    cudaCheckErrors("cudaMalloc failed");
    cudaHelperFromElsewhere(buffer);
    buffer->cudaMallocCount();
}
