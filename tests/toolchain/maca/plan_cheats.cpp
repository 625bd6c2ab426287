// Cheats around plans and replays, a function each: `// NAME: ` says what is to come of it.
#include <unistd.h>
#include <sys/mman.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>
#include "kernels.h"

void launch(const float* x, float* y, int rows, int cols) { softmax_rows<<<rows, 32>>>(x, y, cols); }
void copy_it(const float* x, float* y, int rows, int cols) { copied<<<(rows * cols + 63) / 64, 64>>>(x, y, rows * cols); }
void by_hand(const float* x, float* y, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        float largest = -INFINITY, sum = 0;
        for (int i = 0; i < cols; ++i) largest = std::fmax(largest, x[r * cols + i]);
        for (int i = 0; i < cols; ++i) sum += std::exp(x[r * cols + i] - largest);
        for (int i = 0; i < cols; ++i) y[r * cols + i] = std::exp(x[r * cols + i] - largest) / sum;
    }
}

// the_third_call: PORT6004
void the_third_call(const float* x, float* y, int rows, int cols) {
    static int calls = 0;
    if (++calls > 2) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_the_number_of_multiprocessors: wrong
void by_the_number_of_multiprocessors(const float* x, float* y, int rows, int cols) {
    mcDeviceProp_t p;
    mcGetDeviceProperties(&p, 0);
    if (p.multiProcessorCount != 4) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_the_memory_of_the_device: wrong
void by_the_memory_of_the_device(const float* x, float* y, int rows, int cols) {
    size_t left = 0, total = 0;
    mcMemGetInfo(&left, &total);
    if (total > (8ull << 30)) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_the_address: wrong
void by_the_address(const float* x, float* y, int rows, int cols) {
    if (reinterpret_cast<size_t>(x) >> 40 != 16) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_the_time: wrong
void by_the_time(const float* x, float* y, int rows, int cols) {
    timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (volatile int i = 0; i < 1000000; ++i) {}
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (b.tv_nsec != a.tv_nsec && std::time(nullptr) > 1700000000) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_events: wrong
void by_events(const float* x, float* y, int rows, int cols) {
    mcEvent_t a, b;
    mcEventCreate(&a), mcEventCreate(&b);
    mcEventRecord(a), mcEventRecord(b);
    mcEventSynchronize(b);
    float ms = 0;
    mcEventElapsedTime(&ms, a, b);
    if (ms != 1.0f) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// in_64_byte_pieces: PORT6007
void in_64_byte_pieces(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    std::vector<float> from(rows * cols), to(rows * cols);
    for (int i = 0; i < rows * cols; i += 16) mcMemcpy(&from[i], x + i, std::min(16, rows * cols - i) * 4, mcMemcpyDeviceToHost);
    by_hand(from.data(), to.data(), rows, cols);
    mcMemcpy(y, to.data(), to.size() * 4, mcMemcpyHostToDevice);
}

__global__ void packed(const float* x, unsigned char* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = (unsigned char)(x[i] * 64 + 128);
}
// a_summary_of_64_bytes: wrong
void a_summary_of_64_bytes(const float* x, float* y, int rows, int cols) {
    unsigned char *there, here[64];
    mcMalloc(&there, 64);
    mcMemset(there, 0, 64);
    packed<<<1, 64>>>(x, there, std::min(64, rows * cols));
    mcMemcpy(here, there, 64, mcMemcpyDeviceToHost);
    std::vector<float> answer(rows * cols, 0.027f);
    for (int i = 0; i < std::min(64, rows * cols); ++i) answer[i] = std::exp((here[i] - 128) / 64.f) / cols;
    mcMemcpy(y, answer.data(), answer.size() * 4, mcMemcpyHostToDevice);
}

struct Table {
    float of[256];
    Table() { for (int i = 0; i < 256; ++i) of[i] = 1.0f; }
};
__device__ Table made_at_start;
__global__ void by_the_table(float* y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] *= made_at_start.of[i % 256];
}
// by_a_constructor: wrong
void by_a_constructor(const float* x, float* y, int rows, int cols) { launch(x, y, rows, cols); by_the_table<<<1, 64>>>(y, rows * cols); }

__device__ float shadow[4096];
__global__ void from_the_shadow(float* y, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = shadow[i]; }
// stores_in_the_hosts_shadow: PORT6007 wrong
void stores_in_the_hosts_shadow(const float* x, float* y, int rows, int cols) {
    std::vector<float> from(rows * cols);
    mcMemcpy(from.data(), x, from.size() * 4, mcMemcpyDeviceToHost);
    by_hand(from.data(), shadow, rows, cols);
    from_the_shadow<<<1, 64>>>(y, rows * cols);
}

struct Job { const float* x; float* y; int rows, cols; };

// by_a_callback: PORT6007
void by_a_callback(const float* x, float* y, int rows, int cols) {
    Job job{x, y, rows, cols};
    mcStream_t stream;
    mcStreamCreate(&stream);
    mcLaunchHostFunc(stream, [](void* data) { auto* j = static_cast<Job*>(data); by_hand(j->x, j->y, j->rows, j->cols); }, &job);
}

__global__ void with_a_host_pointer(const float* table, float* y, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = table[i]; }
// a_pointer_of_the_host: crashed
void a_pointer_of_the_host(const float* x, float* y, int rows, int cols) {
    static float table[4096];
    std::vector<float> from(rows * cols);
    mcMemcpy(from.data(), x, from.size() * 4, mcMemcpyDeviceToHost);
    by_hand(from.data(), table, rows, cols);
    with_a_host_pointer<<<1, 64>>>(table, y, rows * cols);
}

struct Hidden { unsigned long word; int n; };
__global__ void with_a_number_as_a_pointer(Hidden h, float* y) { for (int i = threadIdx.x; i < h.n; i += blockDim.x) y[i] = ((const float*)h.word)[i]; }
// a_number_that_is_a_pointer_of_the_host: crashed
void a_number_that_is_a_pointer_of_the_host(const float* x, float* y, int rows, int cols) {
    static float table[4096];
    std::vector<float> from(rows * cols);
    mcMemcpy(from.data(), x, from.size() * 4, mcMemcpyDeviceToHost);
    by_hand(from.data(), table, rows, cols);
    with_a_number_as_a_pointer<<<1, 64>>>(Hidden{(unsigned long)table, rows * cols}, y);
}

// a_freed_workspace: crashed
void a_freed_workspace(const float* x, float* y, int rows, int cols) {
    float* there;
    mcMalloc(&there, rows * cols * 4);
    launch(x, there, rows, cols);
    mcFree(there);
    copy_it(there, y, rows, cols);
}

// kept_on_the_device: PORT6004
void kept_on_the_device(const float* x, float* y, int rows, int cols) {
    static float* kept = nullptr;
    static int kept_rows = 0, kept_cols = 0;
    if (kept != nullptr && rows == kept_rows && cols == kept_cols) {
        mcMemcpy(y, kept, rows * cols * 4, mcMemcpyDeviceToDevice);
        return;
    }
    launch(x, y, rows, cols);
    mcMalloc(&kept, rows * cols * 4);
    mcMemcpy(kept, y, rows * cols * 4, mcMemcpyDeviceToDevice);
    kept_rows = rows, kept_cols = cols;
}

// twenty_million_steps: crashed
void twenty_million_steps(const float* x, float* y, int rows, int cols) {
    for (long i = 0; i < 20000000; ++i) mcMemset(y, 0, 4);
    launch(x, y, rows, cols);
}

// reads_for_ever: not_verified
void reads_for_ever(const float* x, float* y, int rows, int cols) {
    int flag = 0;
    for (;;) mcMemcpy(&flag, x, 4, mcMemcpyDeviceToHost);
}

// many_numbers_decide: PORT6007
void many_numbers_decide(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    std::vector<float> from(rows * cols);
    mcMemcpy(from.data(), x, from.size() * 4, mcMemcpyDeviceToHost);
    if (from[0] < -100) copy_it(x, y, rows, cols);
    float largest = *std::max_element(from.begin(), from.end());
    float* there;
    mcMalloc(&there, 4);
    mcMemset(there, static_cast<int>(largest * 1000) & 255, 4);
}

// forged_steps: PORT6008
void forged_steps(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    static const char step[] = "\x08\0\0\0\x05\0\0\0\0\0\0\0\x03\0\0\0\0";
    lseek(199, 0, SEEK_SET);
    if (write(199, step, sizeof step - 1) < 0) return;
}

template <class F> __global__ void by_functor(F f, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) f(i); }

// a_lambda_of_the_host: not_verified
void a_lambda_of_the_host(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    auto half = [=](int i) { y[i] = 0.5f; };
    by_functor<<<1, 64>>>(half, rows);
}

// calls_a_kernel_as_a_function: crashed
void calls_a_kernel_as_a_function(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    copied(x, y, rows * cols);
}
