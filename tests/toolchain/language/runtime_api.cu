// The runtime API as host programs use it; prints the names that fail.
#include <cuda/std/limits>
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <curand.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

__constant__ float factors[4];
__device__ int counter;

__global__ void scale(float* x, int n, float by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * by * factors[i % 4];
    if (i == 0) counter = n;
}

#define EXPECT(name, condition) \
    if (!(condition)) printf("%s\n", name)

void memory() {
    float *x = nullptr, *host = nullptr, *managed = nullptr;
    EXPECT("libcu++", cuda::std::numeric_limits<float>::max() == FLT_MAX);
    EXPECT("malloc", cudaMalloc(&x, 1000 * sizeof(float)) == cudaSuccess && x != nullptr);
    EXPECT("malloc host", cudaMallocHost((void**)&host, 4000) == cudaSuccess);
    EXPECT("malloc managed", cudaMallocManaged(&managed, 4000) == cudaSuccess);
    for (int i = 0; i < 1000; ++i) host[i] = managed[i] = float(i);
    EXPECT("copy", cudaMemcpy(x, host, 4000, cudaMemcpyHostToDevice) == cudaSuccess);
    EXPECT("too large a copy", cudaMemcpy(x, host, 5000, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT("error is the last one", cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
    EXPECT("to a host pointer", cudaMemcpy(&host, host, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    const float four[4] = {1, 2, 3, 4};
    EXPECT("to symbol", cudaMemcpyToSymbol(factors, four, sizeof four) == cudaSuccess);
    scale<<<4, 256>>>(x, 1000, 2.0f);
    void* arguments[] = {&x, new int(1000), new float(0.5f)};
    EXPECT("launch by call", cudaLaunchKernel((const void*)scale, dim3(4), dim3(256), arguments) == cudaSuccess);
    cudaLaunchConfig_t config = {};
    config.gridDim = 4, config.blockDim = 256;
    EXPECT("launch by config", cudaLaunchKernelEx(&config, scale, x, 1000, 1.0f) == cudaSuccess);
    EXPECT("back", cudaMemcpy(host, x, 4000, cudaMemcpyDeviceToHost) == cudaSuccess && host[7] == 7.0f * 64 && host[8] == 8.0f);
    int seen = 0;
    EXPECT("from symbol", cudaMemcpyFromSymbol(&seen, counter, sizeof seen) == cudaSuccess && seen == 1000);
    cudaPointerAttributes attributes;
    EXPECT("pointer attributes", cudaPointerGetAttributes(&attributes, x) == cudaSuccess && attributes.type == cudaMemoryTypeDevice);
    EXPECT("free", cudaFree(x) == cudaSuccess && cudaFree(nullptr) == cudaSuccess);
    EXPECT("free twice", cudaFree(x) == cudaErrorInvalidValue);
    EXPECT("error name", std::string(cudaGetErrorName(cudaGetLastError())) == "cudaErrorInvalidValue");
    cudaFreeHost(host), cudaFree(managed);
    float* pitched;
    size_t pitch;
    EXPECT("pitch", cudaMallocPitch(&pitched, &pitch, 100, 3) == cudaSuccess && pitch >= 100);
    float rows[3][25] = {{1}, {2}, {3}}, back[3][25];
    EXPECT("2D copy", cudaMemcpy2D(pitched, pitch, rows, 100, 100, 3, cudaMemcpyHostToDevice) == cudaSuccess);
    EXPECT("2D back", cudaMemcpy2D(back, 100, pitched, pitch, 100, 3, cudaMemcpyDeviceToHost) == cudaSuccess && back[2][0] == 3);
}

void devices() {
    cudaDeviceProp properties;
    int count = 0, warp = 0, blocks = 0, grid = 0, block = 0;
    EXPECT("count", cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
    EXPECT("properties", cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.warpSize == PORTER_WARP_SIZE);
    EXPECT("attribute", cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0) == cudaSuccess && warp == PORTER_WARP_SIZE);
    EXPECT("no second device", cudaSetDevice(1) == cudaErrorInvalidDevice);
    cudaGetLastError();
    EXPECT("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 512, 0) == cudaSuccess && blocks == 4);
    EXPECT("potential", cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale) == cudaSuccess && block == 1024 && grid > 0);
    cudaStream_t stream;
    cudaEvent_t begin, end;
    float elapsed = 0;
    cudaStreamCreate(&stream), cudaEventCreate(&begin), cudaEventCreate(&end);
    EXPECT("unrecorded event", cudaEventElapsedTime(&elapsed, begin, end) != cudaSuccess);
    cudaGetLastError(), cudaEventRecord(begin, stream), cudaEventRecord(end, stream);
    EXPECT("elapsed", cudaEventElapsedTime(&elapsed, begin, end) == cudaSuccess && elapsed == 1.0f);
    cudaStreamDestroy(stream), cudaEventDestroy(begin), cudaEventDestroy(end);
}

void libraries() {
    thrust::host_vector<float> h = {3, 1, 2};
    thrust::device_vector<float> d = h;
    thrust::sort(d.begin(), d.end());
    EXPECT("sort", d[0] == 1.0f && d[2] == 3.0f);
    EXPECT("reduce", thrust::reduce(d.begin(), d.end()) == 6.0f);
    scale<<<1, 32>>>(thrust::raw_pointer_cast(d.data()), 3, 1.0f);
    h = d;
    EXPECT("vector in a kernel", h[1] == 4.0f);

    const float a[6] = {1, 2, 3, 4, 5, 6}, b[3] = {1, 1, 1}, one = 1, zero = 0;
    float *da, *db, *dc, c[2];
    cudaMalloc(&da, 24), cudaMalloc(&db, 12), cudaMalloc(&dc, 8);
    cudaMemcpy(da, a, 24, cudaMemcpyHostToDevice), cudaMemcpy(db, b, 12, cudaMemcpyHostToDevice);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 3, &one, da, 2, db, 3, &zero, dc, 2);
    cudaMemcpy(c, dc, 8, cudaMemcpyDeviceToHost);
    EXPECT("column-major product", c[0] == 9.0f && c[1] == 12.0f);

    curandGenerator_t generator;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandSetPseudoRandomGeneratorSeed(generator, 1);
    curandGenerateUniform(generator, da, 6);
    float uniform[6];
    cudaMemcpy(uniform, da, 24, cudaMemcpyDeviceToHost);
    EXPECT("uniform", uniform[0] > 0 && uniform[0] <= 1 && uniform[0] != uniform[1]);
}

int main() {
    memory(), devices(), libraries();
    printf("done, %s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
