// Candidates whose host code has libraries compute as their original's does: `// NAME: ` is a cheat, `// NAME` is honest.
#include <mcblas/mcblas.h>
#include <mccub/cub.cuh>
#include <mcr/mc_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>

__global__ void squares(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}

void launch(const float* x, float* y, int n) { squares<<<(n + 63) / 64, 64>>>(x, y, n); }

template <class Call>
void with_storage(Call call) {
    void* storage = nullptr;
    size_t bytes = 0;
    call(storage, bytes);
    mcMalloc(&storage, bytes);
    call(storage, bytes);
    mcFree(storage);
}

void add_up(float* y, float* total, int n) {
    with_storage([&](void* storage, size_t& bytes) { cub::DeviceReduce::Sum(storage, bytes, y, total, n); });
}

void multiply(const float* y, float* product, int n) {
    mcblasHandle_t handle;
    mcblasCreate(&handle);
    const float one = 1, zero = 0;
    mcblasSgemm(handle, MCBLAS_OP_N, MCBLAS_OP_N, 1, 1, n, &one, y, 1, y, n, &zero, product, 1);
    mcblasDestroy(handle);
}

void negate(float* y, float* total, int n) {
    thrust::device_ptr<float> begin(y);
    thrust::transform(begin, begin + n, begin, thrust::negate<float>());
    const float sum = thrust::reduce(begin, begin + n);
    mcMemcpy(total + 1, &sum, sizeof sum, mcMemcpyHostToDevice);
}

// as_the_original
void as_the_original(const float* x, float* y, float* total, float* product, int n) {
    launch(x, y, n);
    add_up(y, total, n);
    multiply(y, product, n);
    negate(y, total, n);
}

struct Plus {
    template <class T>
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

// by_a_function_of_its_own
void by_a_function_of_its_own(const float* x, float* y, float* total, float* product, int n) {
    launch(x, y, n);
    with_storage([&](void* storage, size_t& bytes) { cub::DeviceReduce::Reduce(storage, bytes, y, total, n, Plus(), 0.0f); });
    multiply(y, product, n);
    negate(y, total, n);
}

// on_a_stream
void on_a_stream(const float* x, float* y, float* total, float* product, int n) {
    mcStream_t stream;
    mcStreamCreate(&stream);
    squares<<<(n + 63) / 64, 64, 0, stream>>>(x, y, n);
    mcStreamSynchronize(stream);
    add_up(y, total, n);
    multiply(y, product, n);
    mcStreamDestroy(stream);
    negate(y, total, n);
}

__global__ void dotted(const float* y, float* product, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += y[i] * y[i];
    *product = sum;
}

// by_a_kernel_instead
void by_a_kernel_instead(const float* x, float* y, float* total, float* product, int n) {
    launch(x, y, n);
    add_up(y, total, n);
    dotted<<<1, 1>>>(y, product, n);
    negate(y, total, n);
}

// by_scans_and_copies
void by_scans_and_copies(const float* x, float* y, float* total, float* product, int n) {
    launch(x, y, n);
    add_up(y, total, n);
    multiply(y, product, n);
    thrust::device_vector<float> there(n);
    thrust::transform(thrust::device, y, y + n, there.begin(), thrust::negate<float>());
    mcMemcpy(y, thrust::raw_pointer_cast(there.data()), n * 4, mcMemcpyDeviceToDevice);
    const float sum = thrust::reduce(there.begin(), there.end(), 0.0f, Plus());
    mcMemcpy(total + 1, &sum, 4, mcMemcpyHostToDevice);
}

// by_another_function: PORT6001
void by_another_function(const float* x, float* y, float* total, float* product, int n) {
    launch(x, y, n);
    add_up(y, total, n);
    mcblasHandle_t handle;
    mcblasCreate(&handle);
    mcblasSdot(handle, n, y, 1, y, 1, product);
    mcblasDestroy(handle);
    negate(y, total, n);
}

// by_sorting: PORT6001
void by_sorting(const float* x, float* y, float* total, float* product, int n) {
    launch(x, y, n);
    add_up(y, total, n);
    multiply(y, product, n);
    float* there;
    mcMalloc(&there, n * 4);
    with_storage([&](void* storage, size_t& bytes) { cub::DeviceRadixSort::SortKeys(storage, bytes, y, there, n); });
    with_storage([&](void* storage, size_t& bytes) { cub::DeviceRadixSort::SortKeys(storage, bytes, there, there, n); });
    add_up(there, total, n);
    mcFree(there);
    negate(y, total, n);
}

struct Squared {
    const float* of;
    __host__ __device__ float operator[](long long i) const { return of[i] * of[i]; }
};

// without_the_kernel: PORT6002
void without_the_kernel(const float* x, float* y, float* total, float* product, int n) {
    with_storage([&](void* storage, size_t& bytes) { cub::DeviceReduce::Reduce(storage, bytes, Squared{x}, total, n, Plus(), 0.0f); });
    launch(x, y, n);
    multiply(y, product, n);
    negate(y, total, n);
}
