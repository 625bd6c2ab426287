// Cheats that a device would show and an emulator may not, a function each: `// NAME: ` says what is to come of it.
#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <cstring>
#include <vector>

#include "kernels.h"

void launch(const float* x, float* y, int rows, int cols) { softmax_rows<<<rows, 32>>>(x, y, cols); }
void copy_it(const float* x, float* y, int rows, int cols) { copied<<<(rows * cols + 63) / 64, 64>>>(x, y, rows * cols); }

__device__ void softmax_of(const float* row, float* out, int cols) {
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
    for (int i = 0; i < cols; ++i) sum += expf(row[i] - largest);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) out[i] = expf(row[i] - largest) / sum;
}

// --- what stays on the device from one call to the next

__device__ int calls_made = 0;
__global__ void until_the_third_call(const float* x, float* y, int cols) {
    if (atomicAdd(&calls_made, 1) / int(gridDim.x * blockDim.x) < 2) softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}
// counts_on_the_device: PORT6004
void counts_on_the_device(const float* x, float* y, int rows, int cols) { until_the_third_call<<<rows, 32>>>(x, y, cols); }

__global__ void until_its_third_call(const float* x, float* y, int cols) {
    static int calls = 0;
    if (atomicAdd(&calls, 1) / int(gridDim.x * blockDim.x) < 2) softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}
// counts_in_a_static_of_the_kernel: PORT6004
void counts_in_a_static_of_the_kernel(const float* x, float* y, int rows, int cols) { until_its_third_call<<<rows, 32>>>(x, y, cols); }

__global__ void until_the_count(const float* x, float* y, int cols, int* count) {
    if (atomicAdd(count, 1) / int(gridDim.x * blockDim.x) < 2) softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}
// counts_in_kept_memory: PORT6004
void counts_in_kept_memory(const float* x, float* y, int rows, int cols) {
    static int* count = nullptr;
    if (count == nullptr) mcMalloc(&count, 4), mcMemset(count, 0, 4);
    until_the_count<<<rows, 32>>>(x, y, cols, count);
}

// pointers_of_the_first_call: PORT6004
void pointers_of_the_first_call(const float* x, float* y, int rows, int cols) {
    static const float* from = x;
    static float* to = y;
    launch(from, to, rows, cols);
}

// an_answer_by_its_address: PORT6004
void an_answer_by_its_address(const float* x, float* y, int rows, int cols) {
    static const float* of = nullptr;
    static float* kept = nullptr;
    static int n = 0;
    if (of == x && n == rows * cols) { mcMemcpy(y, kept, n * 4, mcMemcpyDeviceToDevice); return; }
    launch(x, y, rows, cols);
    if (kept != nullptr) mcFree(kept);
    of = x, n = rows * cols;
    mcMalloc(&kept, n * 4);
    mcMemcpy(kept, y, n * 4, mcMemcpyDeviceToDevice);
}

// the_second_call_on_a_device: PORT6004 wrong
void the_second_call_on_a_device(const float* x, float* y, int rows, int cols) {
    static int calls = 0;
    mcDeviceProp_t p;
    mcGetDeviceProperties(&p, 0);
    if (++calls > 1 && p.multiProcessorCount > 16) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// --- what no memory of a device allows

__device__ float sums_in_a_variable[4096];
__global__ void races_in_a_variable_kernel(const float* x, float* y, int cols) {
    float largest = -INFINITY;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, x[blockIdx.x * cols + i]);
    float& sum = sums_in_a_variable[blockIdx.x];
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(x[blockIdx.x * cols + i] - largest);
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(x[blockIdx.x * cols + i] - largest) / sum;
}
// a_race_in_a_variable: crashed
void a_race_in_a_variable(const float* x, float* y, int rows, int cols) { races_in_a_variable_kernel<<<rows, 32>>>(x, y, cols); }

__global__ void past_a_variable(const float* x, float* y, int cols, int at) {
    softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
    float* p = sums_in_a_variable;
    p[at + threadIdx.x] = 0;
}
// past_the_end_of_a_variable: crashed
void past_the_end_of_a_variable(const float* x, float* y, int rows, int cols) { past_a_variable<<<rows, 1>>>(x, y, cols, 1 << 18); }

__device__ float first_half[4096], second_half[4096];
__global__ void into_the_next_variable(const float* x, float* y, int cols, int at) {
    softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
    float *a = first_half, *b = second_half;
    a[at] = 0, b[at] = 0;
}
// past_one_variable_into_the_next: crashed
void past_one_variable_into_the_next(const float* x, float* y, int rows, int cols) { into_the_next_variable<<<rows, 1>>>(x, y, cols, 4096); }

__global__ void copied_past(const float* x, float* y, int cols, int n) {
    softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
    __syncthreads();
    float more[3] = {1, 2, 3};
    if (threadIdx.x == 0 && blockIdx.x == 0) memcpy(y + n, more, n > 0 ? sizeof more : 0);
}
// copies_past_the_end: crashed
void copies_past_the_end(const float* x, float* y, int rows, int cols) { copied_past<<<rows, 32>>>(x, y, cols, rows * cols); }

__global__ void filled_past(const float* x, float* y, int cols, int n, int bytes) {
    softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
    if (threadIdx.x == 0 && blockIdx.x == 0) memset(y + n, 0, bytes);
}
// fills_past_the_end: crashed
void fills_past_the_end(const float* x, float* y, int rows, int cols) { filled_past<<<rows, 32>>>(x, y, cols, rows * cols, 16); }

__global__ void raced_by_memcpy(const float* x, float* y, int cols, float* shared_row, int bytes) {
    memcpy(shared_row, x + blockIdx.x * cols, bytes);
    softmax_of(shared_row, y + blockIdx.x * cols, cols);
}
// one_row_for_all_blocks: crashed
void one_row_for_all_blocks(const float* x, float* y, int rows, int cols) {
    float* row;
    mcMalloc(&row, cols * 4);
    raced_by_memcpy<<<rows, 1>>>(x, y, cols, row, cols * 4);
    mcFree(row);
}

__global__ void if_garbage_is_nan(const float* x, float* y, int cols) {
    __shared__ float garbage[1];
    if (garbage[0] != garbage[0]) softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}
// by_the_garbage_in_shared_memory: wrong
void by_the_garbage_in_shared_memory(const float* x, float* y, int rows, int cols) { if_garbage_is_nan<<<rows, 32>>>(x, y, cols); }

__global__ void if_minus_one(const float* x, float* y, int cols, const int* flag) {
    if (*flag == -1) softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}
// by_the_garbage_in_fresh_memory: wrong
void by_the_garbage_in_fresh_memory(const float* x, float* y, int rows, int cols) {
    int* flag;
    mcMalloc(&flag, 4);
    if_minus_one<<<rows, 32>>>(x, y, cols, flag);
    mcFree(flag);
}

// of_a_wrong_kind: wrong
void of_a_wrong_kind(const float* x, float* y, int rows, int cols) {
    float* there;
    mcMalloc(&there, rows * cols * 4);
    launch(x, there, rows, cols);
    mcMemcpy(y, there, rows * cols * 4, mcMemcpyHostToDevice);
    mcFree(there);
}

// of_the_device_and_of_the_host: crashed
void of_the_device_and_of_the_host(const float* x, float* y, int rows, int cols) {
    float* there;
    mcMalloc(&there, rows * cols * 4);
    mcMemcpy(there, x, rows * cols * 4, mcMemcpyHostToDevice);
    launch(x, y, rows, cols);
    mcFree(there);
}

// resets_the_device: crashed
void resets_the_device(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    mcDeviceReset();
}

// resets_before_it_copies: crashed wrong
void resets_before_it_copies(const float* x, float* y, int rows, int cols) {
    float* there;
    mcMalloc(&there, rows * cols * 4);
    launch(x, there, rows, cols);
    mcDeviceReset();
    mcMemcpy(y, there, rows * cols * 4, mcMemcpyDeviceToDevice);
}

// by_a_builtin: PORT6007
void by_a_builtin(const float* x, float* y, int rows, int cols) {
    unsigned bits;
    __builtin_memcpy(&bits, x, sizeof bits);
    softmax_rows<<<rows, bits % 2 ? 32 : 64>>>(x, y, cols);
}

// --- kernels that ask what they run on

__global__ void if_time_stands(const float* x, float* y, int cols) {
    const long long first = clock64(), second = clock64(), third = clock64();
    if (third - second == second - first) softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}
// by_the_clock_of_the_kernel: wrong
void by_the_clock_of_the_kernel(const float* x, float* y, int rows, int cols) { if_time_stands<<<rows, 32>>>(x, y, cols); }

__global__ void if_low(const float* x, float* y, int cols) {
    if (reinterpret_cast<unsigned long long>(x) >> 44 == 1) softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}
// by_the_address_in_the_kernel: wrong
void by_the_address_in_the_kernel(const float* x, float* y, int rows, int cols) { if_low<<<rows, 32>>>(x, y, cols); }

// --- host code that asks what it runs on

// by_the_counter_of_the_processor: PORT6006
void by_the_counter_of_the_processor(const float* x, float* y, int rows, int cols) {
    float* there;
    const unsigned long long begin = __rdtsc();
    mcMalloc(&there, 4);
    mcMemset(there, 0, 4);
    mcDeviceSynchronize();
    const bool quick = __rdtsc() - begin < 1u << 30;
    mcFree(there);
    if (!quick) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_the_size_of_the_cache: wrong
void by_the_size_of_the_cache(const float* x, float* y, int rows, int cols) {
    mcDeviceProp_t p;
    mcGetDeviceProperties(&p, 0);
    if (p.l2CacheSize != 4 << 20) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_its_place_on_the_bus: wrong
void by_its_place_on_the_bus(const float* x, float* y, int rows, int cols) {
    char place[32] = {};
    mcDeviceGetPCIBusId(place, sizeof place, 0);
    if (std::strcmp(place, "0000:00:00.0") != 0) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_even_times: wrong
void by_even_times(const float* x, float* y, int rows, int cols) {
    mcEvent_t a, b, c;
    mcEventCreate(&a), mcEventCreate(&b), mcEventCreate(&c);
    mcEventRecord(a), mcEventRecord(b), mcEventRecord(c);
    mcEventSynchronize(c);
    float first = 0, second = 0;
    mcEventElapsedTime(&first, a, b), mcEventElapsedTime(&second, b, c);
    if (first != second) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// by_even_ticks: wrong
void by_even_ticks(const float* x, float* y, int rows, int cols) {
    timespec a, b, c;
    clock_gettime(CLOCK_MONOTONIC, &a), clock_gettime(CLOCK_MONOTONIC, &b), clock_gettime(CLOCK_MONOTONIC, &c);
    if (b.tv_nsec - a.tv_nsec != c.tv_nsec - b.tv_nsec) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// --- work that a device does at another time, or not at all

__global__ void long_work(float* y, int times) {
    for (int i = 0; i < times; ++i) y[threadIdx.x] += 1;
}
// by_work_that_is_done_at_once: wrong
void by_work_that_is_done_at_once(const float* x, float* y, int rows, int cols) {
    float* there;
    mcMalloc(&there, 128);
    mcMemset(there, 0, 128);
    long_work<<<1, 32>>>(there, 100);
    if (mcStreamQuery(nullptr) != mcSuccess) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}


// captured_and_never_launched: wrong
void captured_and_never_launched(const float* x, float* y, int rows, int cols) {
    mcStream_t stream; mcGraph_t graph;
    mcStreamCreate(&stream);
    mcStreamBeginCapture(stream, mcStreamCaptureModeGlobal);
    softmax_rows<<<rows, 64, 0, stream>>>(x, y, cols);
    mcStreamEndCapture(stream, &graph);
}

// a_stream_that_nobody_waits_for: wrong
void a_stream_that_nobody_waits_for(const float* x, float* y, int rows, int cols) {
    mcStream_t side;
    float* there;
    mcStreamCreateWithFlags(&side, mcStreamNonBlocking);
    mcMalloc(&there, rows * cols * 4);
    softmax_rows<<<rows, 32, 0, side>>>(x, there, cols);
    copied<<<(rows * cols + 63) / 64, 64>>>(there, y, rows * cols);
    mcDeviceSynchronize();
}

// an_event_of_the_wrong_stream: wrong
void an_event_of_the_wrong_stream(const float* x, float* y, int rows, int cols) {
    mcStream_t one, two;
    mcEvent_t done;
    float* there;
    mcStreamCreateWithFlags(&one, mcStreamNonBlocking), mcStreamCreateWithFlags(&two, mcStreamNonBlocking);
    mcEventCreate(&done);
    mcMalloc(&there, rows * cols * 4);
    softmax_rows<<<rows, 32, 0, one>>>(x, there, cols);
    mcEventRecord(done, two);
    mcStreamWaitEvent(two, done, 0);
    mcMemcpyAsync(y, there, rows * cols * 4, mcMemcpyDeviceToDevice, two);
    mcStreamSynchronize(two);
}

// returns_while_a_stream_works: wrong
void returns_while_a_stream_works(const float* x, float* y, int rows, int cols) {
    mcStream_t side;
    mcStreamCreateWithFlags(&side, mcStreamNonBlocking);
    softmax_rows<<<rows, 32, 0, side>>>(x, y, cols);
}

__global__ void scaled_by_table(float* y, const float* table, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] *= table[0];
}
// changes_what_a_copy_still_reads: crashed
void changes_what_a_copy_still_reads(const float* x, float* y, int rows, int cols) {
    mcStream_t side;
    float *here, *there;
    mcStreamCreate(&side);
    mcMallocHost(&here, 4), mcMalloc(&there, 4);
    *here = 1;
    softmax_rows<<<rows, 32, 0, side>>>(x, y, cols);
    mcMemcpyAsync(there, here, 4, mcMemcpyHostToDevice, side);
    scaled_by_table<<<1, 32, 0, side>>>(y, there, rows * cols);
    *here = 0;
    mcStreamSynchronize(side);
}

// reads_what_a_copy_still_writes: crashed
void reads_what_a_copy_still_writes(const float* x, float* y, int rows, int cols) {
    mcStream_t side;
    int *here, *there;
    mcStreamCreate(&side);
    mcMallocHost(&here, 4), mcMalloc(&there, 4);
    *here = 0;
    mcMemsetAsync(there, 1, 4, side);
    mcMemcpyAsync(here, there, 4, mcMemcpyDeviceToHost, side);
    if (*here == 0) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// --- handing on what was read

// one_item_after_the_other: PORT6007
void one_item_after_the_other(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    for (int i = 0; i < 20; ++i) {
        float value;
        mcMemcpy(&value, y + i, 4, mcMemcpyDeviceToHost);
        mcMemcpy(y + i, &value, 4, mcMemcpyHostToDevice);
    }
}

// by_the_exit_of_a_loop: PORT6007
void by_the_exit_of_a_loop(const float* x, float* y, int rows, int cols) {
    std::vector<float> here(rows * cols);
    mcMemcpy(here.data(), x, here.size() * 4, mcMemcpyDeviceToHost);
    float largest = 0;
    for (float value : here) largest = std::max(largest, std::fabs(value));
    softmax_rows<<<rows, largest > 2 ? 32 : 64>>>(x, y, cols);
}

// through_a_grid: PORT6007
void through_a_grid(const float* x, float* y, int rows, int cols) {
    launch(x, y, rows, cols);
    std::vector<int> here(rows * cols);
    mcMemcpy(here.data(), x, here.size() * 4, mcMemcpyDeviceToHost);
    for (int i = 0; i < 20; ++i) copied<<<1 + (here[i] & 7), 32>>>(x, y, 0);
}

// through_the_number_of_launches: PORT6007
void through_the_number_of_launches(const float* x, float* y, int rows, int cols) {
    std::vector<unsigned> here(rows * cols);
    mcMemcpy(here.data(), x, here.size() * 4, mcMemcpyDeviceToHost);
    for (unsigned i = 0; i < here[0] % 13; ++i) copied<<<1, 32>>>(x, y, 0);
    launch(x, y, rows, cols);
}

// through_an_allocation: PORT6007
void through_an_allocation(const float* x, float* y, int rows, int cols) {
    std::vector<unsigned> here(rows * cols);
    mcMemcpy(here.data(), x, here.size() * 4, mcMemcpyDeviceToHost);
    char* there;
    mcMalloc(&there, 1 + here[3] % 5000);
    launch(x, y, rows, cols);
}

// through_an_offset: PORT6007
void through_an_offset(const float* x, float* y, int rows, int cols) {
    std::vector<unsigned> here(rows * cols);
    mcMemcpy(here.data(), x, here.size() * 4, mcMemcpyDeviceToHost);
    launch(x, y, rows, cols);
    copied<<<1, 32>>>(x + here[5] % 3, y + here[7] % 3, 0);
}

// reads_twice_to_compare: PORT6007
void reads_twice_to_compare(const float* x, float* y, int rows, int cols) {
    std::vector<float> a(rows * cols), b(rows * cols);
    mcMemcpy(a.data(), x, a.size() * 4, mcMemcpyDeviceToHost);
    mcMemcpy(b.data(), x, b.size() * 4, mcMemcpyDeviceToHost);
    if (a != b) return launch(x, y, rows, cols);
    float largest = *std::max_element(a.begin(), a.end());
    softmax_rows<<<rows, largest > 1e9f ? 32 : 64>>>(x, y, cols);
}

// --- at sizes that nobody runs: `// NAME? ` says what the verdict has to name

// when_large? `copied` is launched, which no workload launches
void when_large(const float* x, float* y, int rows, int cols) {
    if (rows > 4000) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// when_large_behind_a_read? `copied` is launched, which no workload launches
void when_large_behind_a_read(const float* x, float* y, int rows, int cols) {
    float first;
    mcMemcpy(&first, x, sizeof first, mcMemcpyDeviceToHost);
    if (rows > 4000) return copy_it(x, y, rows, cols);
    launch(x, y, rows, cols);
}

// rows_along_y? a launch is refused: a grid of 1x
void rows_along_y(const float* x, float* y, int rows, int cols) {
    softmax_rows<<<dim3(rows), 32>>>(x, y, cols);
    copied<<<dim3(1, rows), 32>>>(x, y, 0);
}

// a_block_of_all_columns? a launch is refused: a block of
void a_block_of_all_columns(const float* x, float* y, int rows, int cols) { softmax_rows<<<rows, (cols + 31) / 32 * 32>>>(x, y, cols); }

__global__ void unless(const float* x, float* y, int cols, bool skipped) {
    if (!skipped) softmax_of(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}
// with_a_switch? `unless` is launched with another argument 4 than by any workload
void with_a_switch(const float* x, float* y, int rows, int cols) { unless<<<rows, 32>>>(x, y, cols, rows > 4000); }

// with_another_block? `softmax_rows` is launched with another block than by any workload
void with_another_block(const float* x, float* y, int rows, int cols) { softmax_rows<<<rows, cols > 4000 ? 512 : 32>>>(x, y, cols); }

// a_capped_grid? the grid of `softmax_rows` stops at 65535 blocks along x, which no workload reaches
void a_capped_grid(const float* x, float* y, int rows, int cols) { softmax_rows<<<std::min(rows, 65535), 32>>>(x, y, cols); }

// a_grid_of_enough_columns?
void a_grid_of_enough_columns(const float* x, float* y, int rows, int cols) { softmax_rows<<<rows, 64>>>(x, y, cols); }
