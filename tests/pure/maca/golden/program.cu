// A whole program: cudaMalloc in a comment and "cudaFree" in a string stay as they are.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                              \
    do {                                                                              \
        cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) {                                                  \
            fprintf(stderr, "cudaError: %s\n", cudaGetErrorString(status));           \
            exit(EXIT_FAILURE);                                                       \
        }                                                                             \
    } while (0)

__constant__ float scale[2];

__global__ void axpb(const float* __restrict__ x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = scale[0] * x[i] + scale[1];
}

static void describe(const struct cudaDeviceProp& prop, enum cudaMemcpyKind kind) {
    printf("%s, %d lanes, kind %d\n", prop.name, prop.warpSize, (int)kind);
}

int main() {
    const int n = 1 << 10;
    float *x, *y, host[1 << 10];
    cudaDeviceProp prop;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    describe(prop, cudaMemcpyHostToDevice);
    int shared = 0;
    cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    CUDA_CHECK(cudaMalloc((void**)&x, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void**)&y, n * sizeof(float)));
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
    float factors[2] = {2.0f, 1.0f};
    cudaMemcpyToSymbol(scale, factors, sizeof(factors));
    cudaStream_t stream;
    cudaEvent_t start, stop;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start, stream);
    axpb<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    cudaEventRecord(stop, stream);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(host, y, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(::cudaStreamSynchronize(stream));
    printf("%f\n", host[n - 1]);
    cudaFree(x), cudaFree(y);
    return cudaDeviceReset();
}
