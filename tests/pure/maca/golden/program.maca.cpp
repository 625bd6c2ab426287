// program.cu ported to MACA xcore1000 by porter 0.1.0, source 09850d549c574035
// A whole program: cudaMalloc in a comment and "cudaFree" in a string stay as they are.
#include <cstdio>
#include <cstdlib>
#include <mc_runtime.h>

#define CUDA_CHECK(call)                                                              \
    do {                                                                              \
        mcError_t status = (call);                                                    \
        if (status != mcSuccess) {                                                    \
            fprintf(stderr, "cudaError: %s\n", mcGetErrorString(status));             \
            exit(EXIT_FAILURE);                                                       \
        }                                                                             \
    } while (0)

__constant__ float scale[2];

__global__ void axpb(const float* __restrict__ x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = scale[0] * x[i] + scale[1];
}

static void describe(const mcDeviceProp_t& prop, enum mcMemcpyKind kind) {
    printf("%s, %d lanes, kind %d\n", prop.name, prop.warpSize, (int)kind);
}

int main() {
    const int n = 1 << 10;
    float *x, *y, host[1 << 10];
    mcDeviceProp_t prop;
    CUDA_CHECK(mcGetDeviceProperties(&prop, 0));
    describe(prop, mcMemcpyHostToDevice);
    int shared = 0;
    mcDeviceGetAttribute(&shared, mcDeviceAttributeMaxSharedMemoryPerBlock, 0);
    CUDA_CHECK(mcMalloc((void**)&x, n * sizeof(float)));
    CUDA_CHECK(mcMalloc((void**)&y, n * sizeof(float)));
    for (int i = 0; i < n; i++) host[i] = i;
    mcMemcpy(x, host, n * sizeof(float), mcMemcpyHostToDevice);
    float factors[2] = {2.0f, 1.0f};
    mcMemcpyToSymbol(scale, factors, sizeof(factors));
    mcStream_t stream;
    mcEvent_t start, stop;
    mcStreamCreateWithFlags(&stream, mcStreamNonBlocking);
    mcEventCreate(&start);
    mcEventCreate(&stop);
    mcEventRecord(start, stream);
    axpb<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    mcEventRecord(stop, stream);
    CUDA_CHECK(mcGetLastError());
    CUDA_CHECK(mcMemcpyAsync(host, y, n * sizeof(float), mcMemcpyDeviceToHost, stream));
    CUDA_CHECK(::mcStreamSynchronize(stream));
    printf("%f\n", host[n - 1]);
    mcFree(x), mcFree(y);
    return mcDeviceReset();
}
