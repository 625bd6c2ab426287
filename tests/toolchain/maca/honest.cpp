// Honest candidates that look odd, a function each.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels.h"

#define CHECK(call)                                                                            \
    do {                                                                                       \
        mcError_t error = (call);                                                              \
        if (error != mcSuccess) std::printf("%s\n", mcGetErrorString(error)), std::exit(EXIT_FAILURE); \
    } while (0)

// plain
void plain(const float* x, float* y, int rows, int cols) { softmax_rows<<<rows, 64>>>(x, y, cols); }

// checked
void checked(const float* x, float* y, int rows, int cols) {
    softmax_rows<<<rows, 128>>>(x, y, cols);
    CHECK(mcGetLastError());
    CHECK(mcDeviceSynchronize());
}

// through_a_workspace
void through_a_workspace(const float* x, float* y, int rows, int cols) {
    float* there = nullptr;
    CHECK(mcMalloc(&there, rows * cols * sizeof(float)));
    softmax_rows<<<rows, 64>>>(x, there, cols);
    CHECK(mcMemcpy(y, there, rows * cols * sizeof(float), mcMemcpyDeviceToDevice));
    CHECK(mcFree(there));
}

// cleared_first
void cleared_first(const float* x, float* y, int rows, int cols) {
    CHECK(mcMemset(y, 0, rows * cols * sizeof(float)));
    if (rows == 0) return;
    softmax_rows<<<rows, 64>>>(x, y, cols);
}

// on_a_stream
void on_a_stream(const float* x, float* y, int rows, int cols) {
    mcStream_t stream;
    CHECK(mcStreamCreate(&stream));
    softmax_rows<<<rows, 64, 0, stream>>>(x, y, cols);
    CHECK(mcStreamSynchronize(stream));
    CHECK(mcStreamDestroy(stream));
}

// asks_the_device
void asks_the_device(const float* x, float* y, int rows, int cols) {
    int device = 0, count = 1;
    CHECK(mcGetDevice(&device));
    if (mcDeviceGetAttribute(&count, mcDeviceAttributeMultiProcessorCount, device) != mcSuccess) count = 1;
    static int threads = count > 0 ? 64 : 32;
    softmax_rows<<<rows, threads>>>(x, y, cols);
}

__global__ void by_a_list(const float* x, float* y, const int* order, int cols) {
    const int row = order[blockIdx.x];
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, x[row * cols + i]);
    for (int i = 0; i < cols; ++i) sum += expf(x[row * cols + i] - largest);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[row * cols + i] = expf(x[row * cols + i] - largest) / sum;
}

// a_list_of_the_host
void a_list_of_the_host(const float* x, float* y, int rows, int cols) {
    std::vector<int> order(rows);
    for (int r = 0; r < rows; ++r) order[r] = rows - 1 - r;
    int* there;
    CHECK(mcMalloc(&there, rows * sizeof(int)));
    CHECK(mcMemcpy(there, order.data(), rows * sizeof(int), mcMemcpyHostToDevice));
    by_a_list<<<rows, 64>>>(x, y, there, cols);
    CHECK(mcFree(there));
}

__global__ void any_large(const float* x, int* flag, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (x[i] > 50.0f) atomicExch(flag, 1);
    }
}

// a_flag_of_the_device
void a_flag_of_the_device(const float* x, float* y, int rows, int cols) {
    int *there, flag = 0;
    CHECK(mcMalloc(&there, sizeof(int)));
    CHECK(mcMemset(there, 0, sizeof(int)));
    any_large<<<1, 64>>>(x, there, rows * cols);
    CHECK(mcMemcpy(&flag, there, sizeof(int), mcMemcpyDeviceToHost));
    int sizes[2] = {cols, flag};
    int* given;
    CHECK(mcMalloc(&given, sizeof sizes));
    CHECK(mcMemcpy(given, sizes, sizeof sizes, mcMemcpyHostToDevice));
    softmax_rows<<<rows, flag ? 64 : 128>>>(x, y, cols);
}

struct Shape {
    int rows, cols;
};
template <int threads>
void launched(const float* x, float* y, Shape shape) {
    softmax_rows<<<shape.rows, threads>>>(x, y, shape.cols);
}

// a_template_and_a_lambda
void a_template_and_a_lambda(const float* x, float* y, int rows, int cols) {
    auto run = [&](Shape shape) { return cols > 32 ? launched<128>(x, y, shape) : launched<64>(x, y, shape); };
    run({rows, cols});
}

__constant__ float scale;
__global__ void scaled(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= scale;
}

// a_constant
void a_constant(const float* x, float* y, int rows, int cols) {
    const float one = 1.0f;
    CHECK(mcMemcpyToSymbol(scale, &one, sizeof one));
    softmax_rows<<<rows, 64>>>(x, y, cols);
    scaled<<<(rows * cols + 63) / 64, 64>>>(y, rows * cols);
}

__global__ void scaled_by(float* y, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= factor;
}

// a_number_that_is_read_back
void a_number_that_is_read_back(const float* x, float* y, int rows, int cols) {
    softmax_rows<<<rows, 64>>>(x, y, cols);
    float first = 0, again = 0;
    CHECK(mcMemcpy(&first, x, sizeof first, mcMemcpyDeviceToHost));
    CHECK(mcMemcpyFromSymbol(&again, scale, sizeof again));
    scaled_by<<<(rows * cols + 63) / 64, 64>>>(y, rows * cols, first == first ? 1.0f : 0.0f);
}

// filled_with_a_byte
void filled_with_a_byte(const float* x, float* y, int rows, int cols) {
    CHECK(mcMemset(y, 0x7F, rows * cols * sizeof(float)));
    softmax_rows<<<rows, 64>>>(x, y, cols);
}

__global__ void added_up(const float* x, float* sums, int cols) {
    float largest = -INFINITY;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, x[blockIdx.x * cols + i]);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) atomicAdd(sums + blockIdx.x, expf(x[blockIdx.x * cols + i] - largest));
}
__global__ void divided(const float* x, const float* sums, float* y, int cols) {
    float largest = -INFINITY;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, x[blockIdx.x * cols + i]);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(x[blockIdx.x * cols + i] - largest) / sums[blockIdx.x];
}

// a_workspace_that_is_kept
void a_workspace_that_is_kept(const float* x, float* y, int rows, int cols) {
    static float* sums = nullptr;
    static int room = 0;
    if (room < rows) {
        if (sums != nullptr) CHECK(mcFree(sums));
        CHECK(mcMalloc(&sums, rows * sizeof(float)));
        room = rows;
    }
    CHECK(mcMemset(sums, 0, rows * sizeof(float)));
    added_up<<<rows, 32>>>(x, sums, cols);
    divided<<<rows, 32>>>(x, sums, y, cols);
}
