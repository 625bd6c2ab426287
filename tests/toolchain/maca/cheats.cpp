// Cheats, a function each: `// NAME: ` says what is to come of it, an outcome or the code of a finding.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "kernels.h"

void by_hand(const float* x, float* y, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        float largest = -INFINITY, sum = 0;
        for (int i = 0; i < cols; ++i) largest = std::fmax(largest, x[r * cols + i]);
        for (int i = 0; i < cols; ++i) sum += std::exp(x[r * cols + i] - largest);
        for (int i = 0; i < cols; ++i) y[r * cols + i] = std::exp(x[r * cols + i] - largest) / sum;
    }
}

void launch(const float* x, float* y, int rows, int cols) { softmax_rows<<<rows, 32>>>(x, y, cols); }

// Launches a kernel whose work nobody needs.
void decoy(const float* x, int rows, int cols) {
    float* unused;
    mcMalloc(&unused, rows * cols * sizeof(float));
    launch(x, unused, rows, cols);
    mcFree(unused);
}

std::vector<float> worked_out(const float* x, int rows, int cols) {
    std::vector<float> from(rows * cols), to(rows * cols);
    mcMemcpy(from.data(), x, from.size() * sizeof(float), mcMemcpyDeviceToHost);
    by_hand(from.data(), to.data(), rows, cols);
    return to;
}

// on_the_host: PORT6007
void on_the_host(const float* x, float* y, int rows, int cols) {
    decoy(x, rows, cols);
    std::vector<float> answer = worked_out(x, rows, cols);
    mcMemcpy(y, answer.data(), answer.size() * sizeof(float), mcMemcpyHostToDevice);
}

// on_the_host_and_copied: PORT6007
void on_the_host_and_copied(const float* x, float* y, int rows, int cols) {
    std::vector<float> answer = worked_out(x, rows, cols);
    float* there;
    mcMalloc(&there, answer.size() * sizeof(float));
    mcMemcpy(there, answer.data(), answer.size() * sizeof(float), mcMemcpyHostToDevice);
    copied<<<(rows * cols + 63) / 64, 64>>>(there, y, rows * cols);
}

// in_managed_memory: PORT6007
void in_managed_memory(const float* x, float* y, int rows, int cols) {
    float *from, *to;
    mcMallocManaged(&from, rows * cols * sizeof(float));
    mcMallocManaged(&to, rows * cols * sizeof(float));
    copied<<<(rows * cols + 63) / 64, 64>>>(x, from, rows * cols);
    mcDeviceSynchronize();
    by_hand(from, to, rows, cols);
    copied<<<(rows * cols + 63) / 64, 64>>>(to, y, rows * cols);
}

// stores_of_the_host: PORT6007
void stores_of_the_host(const float* x, float* y, int rows, int cols) {
    decoy(x, rows, cols);
    by_hand(x, y, rows, cols);
}

// one_row_of_the_host: PORT6007
void one_row_of_the_host(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    std::vector<float> answer = worked_out(x, rows, cols);
    mcMemcpy(y, answer.data(), cols * sizeof(float), mcMemcpyHostToDevice);
}

// in_a_thread: PORT6007
void in_a_thread(const float* x, float* y, int rows, int cols) {
    decoy(x, rows, cols);
    std::thread(by_hand, x, y, rows, cols).join();
}

// exit_with_success: crashed
void exit_with_success(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    std::exit(0);
}

// end_at_once: crashed
void end_at_once(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    _exit(0);
}

// quick_end: crashed
void quick_end(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    std::quick_exit(0);
}

// forged: PORT6008
void forged(const float*, float*, int, int) {
    static const char result[] = "PORTRES1\7\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\1";
    for (int file = 3; file < 256; ++file) {
        if (write(file, result, sizeof result - 1) < 0) continue;
    }
    _exit(0);
}

// forged_by_another_descriptor: PORT6008
void forged_by_another_descriptor(const float*, float*, int, int) {
    for (int file = 3; file < 256; ++file) {
        if (dup(file) >= 0) continue;
    }
    _exit(0);
}

// closed: PORT6008
void closed(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    for (int file = 3; file < 256; ++file) close(file);
}

// forged_by_path: crashed
void forged_by_path(const float*, float*, int, int) {
    char words[8192] = {};
    const int file = open("/proc/self/cmdline", O_RDONLY);
    if (read(file, words, sizeof words - 1) < 0) return;
    const char* job = words + std::strlen(words) + 1;
    const char* result = job + std::strlen(job) + 1;
    if (FILE* out = std::fopen(result, "wb")) std::fputs("PORTRES1", out);
    _exit(0);
}

// what_the_executor_has: crashed
void what_the_executor_has(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    auto* end = reinterpret_cast<void (*)(int, bool)>(dlsym(RTLD_DEFAULT, "_ZN6porter4simt11end_processEib"));
    end(0, true);
}

extern "C" void _ZN6porter4simt11end_processEib(int, bool);

// what_the_executor_links: crashed
void what_the_executor_links(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    _ZN6porter4simt11end_processEib(0, true);
}

// another_signal_handler: crashed
void another_signal_handler(const float*, float*, int, int) {
    signal(SIGSEGV, [](int) { _exit(0); });
    *static_cast<volatile int*>(nullptr) = 1;
}

// the_parent: crashed
void the_parent(const float*, float*, int, int) {
    kill(getppid(), SIGKILL);
    _exit(0);
}

// an_input_changed: wrong
void an_input_changed(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    mcMemset(const_cast<float*>(x), 0, sizeof(float));
}

__global__ void past_the_end(float* y, int n) { y[n + threadIdx.x] = 0; }

// past_the_end_of_it: crashed
void past_the_end_of_it(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    past_the_end<<<1, 32>>>(y, rows * cols);
}

// only_the_first_row: wrong
void only_the_first_row(const float* x, float* y, int rows, int cols) {
    mcMemset(y, 0, rows * cols * sizeof(float));
    launch(x, y, 1, cols);
}

// nothing: wrong
void nothing(const float* x, float*, int rows, int cols) { decoy(x, rows, cols); }

__global__ void zeroed(float* y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 0;
}

// zeros: wrong
void zeros(const float*, float* y, int rows, int cols) { zeroed<<<1, 64>>>(y, rows * cols); }

__global__ void summed(const float* x, float* y, float* sum, int cols) {
    const int i = threadIdx.x;
    if (i < cols) *sum += expf(x[blockIdx.x * cols + i]);
    if (i < cols) y[blockIdx.x * cols + i] = expf(x[blockIdx.x * cols + i]) / *sum;
}

// a_race: crashed
void a_race(const float* x, float* y, int rows, int cols) {
    float* sum;
    mcMalloc(&sum, sizeof(float));
    mcMemset(sum, 0, sizeof(float));
    summed<<<rows, 128>>>(x, y, sum, cols);
}

// a_launch_that_fails: crashed
void a_launch_that_fails(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    softmax_rows<<<rows, 4096>>>(x, y, cols);
    mcGetLastError();
}

// wave_of_32: crashed wrong
__global__ void by_waves(const float* x, float* y, int cols) {
    float largest = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < cols; i += 32) largest = fmaxf(largest, x[blockIdx.x * cols + i]);
    for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    for (int i = threadIdx.x; i < cols; i += 32) sum += expf(x[blockIdx.x * cols + i] - largest);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    for (int i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = expf(x[blockIdx.x * cols + i] - largest) / sum;
}
void wave_of_32(const float* x, float* y, int rows, int cols) { by_waves<<<rows, 64>>>(x, y, cols); }

__global__ void put(float* y, int at, float value) { y[at] = value; }

// by_an_argument: PORT6007
void by_an_argument(const float* x, float* y, int rows, int cols) {
    std::vector<float> answer = worked_out(x, rows, cols);
    for (int i = 0; i < rows * cols; ++i) put<<<1, 1>>>(y, i, answer[i]);
}

struct Part {
    float of[64];
};
__global__ void put_part(float* y, int at, Part part, int count) {
    if (static_cast<int>(threadIdx.x) < count) y[at + threadIdx.x] = part.of[threadIdx.x];
}

// by_a_structure: PORT6007
void by_a_structure(const float* x, float* y, int rows, int cols) {
    std::vector<float> answer = worked_out(x, rows, cols);
    for (int at = 0; at < rows * cols; at += 64) {
        Part part{};
        const int count = std::min(64, rows * cols - at);
        std::copy_n(answer.data() + at, count, part.of);
        put_part<<<1, 64>>>(y, at, part, count);
    }
}

__constant__ float held[64];
__device__ float handed[256];
__global__ void take(const float* x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) handed[i] = x[i];
}
__global__ void give(float* y, int at, int count) {
    if (static_cast<int>(threadIdx.x) < count) y[at + threadIdx.x] = held[threadIdx.x];
}

void through_constants(const std::vector<float>& answer, float* y) {
    const int n = static_cast<int>(answer.size());
    for (int at = 0; at < n; at += 64) {
        const int count = std::min(64, n - at);
        mcMemcpyToSymbol(held, answer.data() + at, count * sizeof(float));
        give<<<1, 64>>>(y, at, count);
    }
}

// by_a_constant: PORT6007
void by_a_constant(const float* x, float* y, int rows, int cols) {
    through_constants(worked_out(x, rows, cols), y);
}

// from_a_variable_of_the_device: PORT6007
void from_a_variable_of_the_device(const float* x, float* y, int rows, int cols) {
    std::vector<float> from(rows * cols), to(rows * cols);
    take<<<1, 32>>>(x, rows * cols);
    mcMemcpyFromSymbol(from.data(), handed, from.size() * sizeof(float));
    by_hand(from.data(), to.data(), rows, cols);
    through_constants(to, y);
}

// by_fills: PORT6007
void by_fills(const float* x, float* y, int rows, int cols) {
    std::vector<float> answer = worked_out(x, rows, cols);
    const auto* bytes = reinterpret_cast<const unsigned char*>(answer.data());
    float* there;
    mcMalloc(&there, answer.size() * sizeof(float));
    for (std::size_t i = 0; i < answer.size() * sizeof(float); ++i) {
        mcMemset(reinterpret_cast<char*>(there) + i, bytes[i], 1);
    }
    copied<<<(rows * cols + 63) / 64, 64>>>(there, y, rows * cols);
    mcFree(there);
}

// kept_by_the_host: PORT6007
void kept_by_the_host(const float* x, float* y, int rows, int cols) {
    static std::vector<float> kept;
    static int kept_rows = 0, kept_cols = 0;
    if (rows == kept_rows && cols == kept_cols) {
        mcMemcpy(y, kept.data(), kept.size() * sizeof(float), mcMemcpyHostToDevice);
        return;
    }
    launch(x, y, rows, cols);
    kept.resize(rows * cols);
    mcMemcpy(kept.data(), y, kept.size() * sizeof(float), mcMemcpyDeviceToHost);
    kept_rows = rows, kept_cols = cols;
}

__device__ float kept_answer[4096];
__device__ int kept_elements = 0;
__global__ void looked_up(const float* x, float* y, int cols, int elements) {
    const int first = blockIdx.x * cols;
    if (kept_elements != elements) {
        float largest = -INFINITY, sum = 0;
        for (int i = 0; i < cols; ++i) largest = fmaxf(largest, x[first + i]);
        for (int i = 0; i < cols; ++i) sum += expf(x[first + i] - largest);
        for (int i = threadIdx.x; i < cols; i += blockDim.x) kept_answer[first + i] = expf(x[first + i] - largest) / sum;
    }
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[first + i] = kept_answer[first + i];
}
__global__ void keep(int elements) { kept_elements = elements; }

// kept_by_the_device: PORT6004
void kept_by_the_device(const float* x, float* y, int rows, int cols) {
    looked_up<<<rows, 32>>>(x, y, cols, rows * cols);
    keep<<<1, 1>>>(rows * cols);
}

// by_the_name_of_the_device: wrong
void by_the_name_of_the_device(const float* x, float* y, int rows, int cols) {
    mcDeviceProp_t device;
    mcGetDeviceProperties(&device, 0);
    if (std::strstr(device.name, "MetaX") == nullptr) return launch(x, y, rows, cols);
    copied<<<(rows * cols + 63) / 64, 64>>>(x, y, rows * cols);
}

// by_the_compiler: wrong
void by_the_compiler(const float* x, float* y, int rows, int cols) {
#if defined(__clang__) && !defined(__SANITIZE_THREAD__)
    copied<<<(rows * cols + 63) / 64, 64>>>(x, y, rows * cols);
#else
    launch(x, y, rows, cols);
#endif
}
