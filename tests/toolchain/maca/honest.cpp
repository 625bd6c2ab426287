// Honest candidates that look odd, a function each.
#include <cstdio>
#include <cstdlib>
#include <map>
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

struct Params { const float* x; float* y; int rows, cols; float scale; };
__global__ void by_params(Params p) {
    const float* row = p.x + blockIdx.x * p.cols;
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < p.cols; ++i) largest = fmaxf(largest, row[i]);
    for (int i = 0; i < p.cols; ++i) sum += expf(row[i] - largest);
    for (int i = threadIdx.x; i < p.cols; i += blockDim.x) p.y[blockIdx.x * p.cols + i] = p.scale * expf(row[i] - largest) / sum;
}

// a_struct_of_pointers
void a_struct_of_pointers(const float* x, float* y, int rows, int cols) { by_params<<<rows, 64>>>(Params{x, y, rows, cols, 1.0f}); }

__global__ void by_rows(const float* const* rows, float* const* out, int cols) {
    const float* row = rows[blockIdx.x];
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
    for (int i = 0; i < cols; ++i) sum += expf(row[i] - largest);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) out[blockIdx.x][i] = expf(row[i] - largest) / sum;
}

// an_array_of_pointers
void an_array_of_pointers(const float* x, float* y, int rows, int cols) {
    std::vector<const float*> from(rows);
    std::vector<float*> to(rows);
    for (int r = 0; r < rows; ++r) from[r] = x + r * cols, to[r] = y + r * cols;
    const float** from_there; float** to_there;
    CHECK(mcMalloc(&from_there, rows * sizeof *from_there));
    CHECK(mcMalloc(&to_there, rows * sizeof *to_there));
    CHECK(mcMemcpy(from_there, from.data(), rows * sizeof *from_there, mcMemcpyHostToDevice));
    CHECK(mcMemcpy(to_there, to.data(), rows * sizeof *to_there, mcMemcpyHostToDevice));
    by_rows<<<rows, 64>>>(from_there, to_there, cols);
    CHECK(mcFree(from_there)); CHECK(mcFree(to_there));
}

__global__ void by_sizes(const float* x, float* y, const int* sizes) {
    const int cols = sizes[1];
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, x[blockIdx.x * cols + i]);
    for (int i = 0; i < cols; ++i) sum += expf(x[blockIdx.x * cols + i] - largest);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(x[blockIdx.x * cols + i] - largest) / sum;
}
// sizes_in_managed_memory
void sizes_in_managed_memory(const float* x, float* y, int rows, int cols) {
    int* sizes;
    CHECK(mcMallocManaged(&sizes, 2 * sizeof(int)));
    sizes[0] = rows, sizes[1] = cols;
    by_sizes<<<rows, 64>>>(x, y, sizes);
    CHECK(mcDeviceSynchronize());
    if (sizes[1] != cols) std::exit(1);
    CHECK(mcFree(sizes));
}

__global__ void count_large(const float* x, int* count, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) if (x[i] > 1) atomicAdd(count, 1); }

// a_count_in_pinned_memory
void a_count_in_pinned_memory(const float* x, float* y, int rows, int cols) {
    int *there, *here;
    CHECK(mcMalloc(&there, 4)); CHECK(mcMallocHost(&here, 4));
    CHECK(mcMemset(there, 0, 4));
    count_large<<<1, 64>>>(x, there, rows * cols);
    CHECK(mcMemcpy(here, there, 4, mcMemcpyDeviceToHost));
    softmax_rows<<<rows, *here > 10 ? 64 : 128>>>(x, y, cols);
    CHECK(mcFreeHost(here)); CHECK(mcFree(there));
}

__global__ void step(int* left) { if (*left > 0) --*left; }

// until_it_is_done
void until_it_is_done(const float* x, float* y, int rows, int cols) {
    int *there, left = 5;
    CHECK(mcMalloc(&there, 4));
    CHECK(mcMemcpy(there, &left, 4, mcMemcpyHostToDevice));
    while (left > 0) {
        step<<<1, 1>>>(there);
        CHECK(mcMemcpy(&left, there, 4, mcMemcpyDeviceToHost));
    }
    softmax_rows<<<rows, 64>>>(x, y, cols);
}

// prints_what_it_made
void prints_what_it_made(const float* x, float* y, int rows, int cols) {
    softmax_rows<<<rows, 64>>>(x, y, cols);
    std::vector<float> here(rows * cols);
    CHECK(mcMemcpy(here.data(), y, here.size() * 4, mcMemcpyDeviceToHost));
    std::printf("%f %f\n", here[0], here.back());
}

namespace { template <class T, int N, bool last> __global__ void in_a_namespace(const T* x, T* y, int cols) {
    const T* row = x + blockIdx.x * cols;
    T largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
    for (int i = 0; i < cols; ++i) sum += expf(row[i] - largest);
    for (int i = threadIdx.x; i < cols; i += N) y[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
} }

// by_a_table_of_kernels
void by_a_table_of_kernels(const float* x, float* y, int rows, int cols) {
    using Kernel = void (*)(const float*, float*, int);
    static const std::map<int, Kernel> table{{32, in_a_namespace<float, 32, true>}, {64, in_a_namespace<float, 64, false>}};
    const int threads = cols > 40 ? 64 : 32;
    table.at(threads)<<<rows, threads>>>(x, y, cols);
}

// by_launch_kernel
void by_launch_kernel(const float* x, float* y, int rows, int cols) {
    void* arguments[] = {&x, &y, &cols};
    CHECK(mcLaunchKernel((void*)softmax_rows, dim3(rows), dim3(64), arguments, 0, nullptr));
}

enum class Mode { plain, halved };
template <Mode mode, class Op> __global__ void with_a_mode(const float* x, float* y, int cols, Op op) {
    const float* row = x + blockIdx.x * cols;
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
    for (int i = 0; i < cols; ++i) sum += expf(row[i] - largest);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = op(expf(row[i] - largest) / sum) * (mode == Mode::halved ? 0.5f : 1.0f);
}
struct Same { __device__ float operator()(float v) const { return v; } };

// an_enumerator_and_a_functor
void an_enumerator_and_a_functor(const float* x, float* y, int rows, int cols) { with_a_mode<Mode::plain><<<rows, 64>>>(x, y, cols, Same{}); }

static __constant__ float factors[2];
__device__ int launches = 0;
__global__ void counted(float* y, int n) {
    if (threadIdx.x == 0) atomicAdd(&launches, 1);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] *= factors[1];
}

// static_constants_and_a_counter
void static_constants_and_a_counter(const float* x, float* y, int rows, int cols) {
    const float one = 1;
    CHECK(mcMemcpyToSymbol(factors, &one, sizeof one, sizeof one));
    softmax_rows<<<rows, 64>>>(x, y, cols);
    counted<<<1, 64>>>(y, rows * cols);
}

__device__ float workspace[4096];

// a_symbols_address
void a_symbols_address(const float* x, float* y, int rows, int cols) {
    float* there;
    CHECK(mcGetSymbolAddress((void**)&there, workspace));
    softmax_rows<<<rows, 64>>>(x, there, cols);
    CHECK(mcMemcpy(y, there, rows * cols * 4, mcMemcpyDeviceToDevice));
}

// in_a_graph
void in_a_graph(const float* x, float* y, int rows, int cols) {
    mcStream_t stream; mcGraph_t graph; mcGraphExec_t instance;
    CHECK(mcStreamCreate(&stream));
    CHECK(mcStreamBeginCapture(stream, mcStreamCaptureModeGlobal));
    softmax_rows<<<rows, 64, 0, stream>>>(x, y, cols);
    CHECK(mcStreamEndCapture(stream, &graph));
    CHECK(mcGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
    CHECK(mcGraphLaunch(instance, stream));
    CHECK(mcStreamSynchronize(stream));
}

#define MAKE_KERNEL(name, last) \
    __global__ void name(const float* x, float* y, int cols) { \
        const float* row = x + blockIdx.x * cols; \
        float largest = -INFINITY, sum = 0; \
        for (int i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]); \
        for (int i = 0; i < cols; ++i) sum += expf(row[i] - largest); \
        for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = last; \
    }
MAKE_KERNEL(made_by_a_macro, expf(row[i] - largest) / sum)

// by_a_macro
void by_a_macro(const float* x, float* y, int rows, int cols) { made_by_a_macro<<<rows, 64>>>(x, y, cols); }

// ping_pong
void ping_pong(const float* x, float* y, int rows, int cols) {
    static float* buffers[2] = {};
    static int room = 0, turn = 0;
    if (room < rows * cols) { for (float*& b : buffers) { if (b) CHECK(mcFree(b)); CHECK(mcMalloc(&b, rows * cols * 4)); } room = rows * cols; }
    float* there = buffers[turn++ % 2];
    softmax_rows<<<rows, 64>>>(x, there, cols);
    CHECK(mcMemcpy(y, there, rows * cols * 4, mcMemcpyDeviceToDevice));
}

__device__ inline void softmax_of(const float* row, float* out, int cols) {
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
    for (int i = 0; i < cols; ++i) sum += expf(row[i] - largest);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) out[i] = expf(row[i] - largest) / sum;
}

template <class Self>
struct Launchable {
    void run(const float* x, float* y, int rows, int cols) const { static_cast<const Self*>(this)->launch(x, y, rows, cols); }
};
struct OfRows : Launchable<OfRows> {
    void launch(const float* x, float* y, int rows, int cols) const { softmax_rows<<<rows, 64>>>(x, y, cols); }
};
// by_a_class_of_its_own_base
void by_a_class_of_its_own_base(const float* x, float* y, int rows, int cols) { OfRows{}.run(x, y, rows, cols); }

__global__ void staged(const float* x, float* y, int cols) {
    extern __shared__ float row[];
    for (int i = threadIdx.x; i < cols; i += blockDim.x) row[i] = x[blockIdx.x * cols + i];
    __syncthreads();
    softmax_of(row, y + blockIdx.x * cols, cols);
}
// dynamic_shared_memory_with_consent
void dynamic_shared_memory_with_consent(const float* x, float* y, int rows, int cols) {
    CHECK(mcFuncSetAttribute((const void*)staged, mcFuncAttributeMaxDynamicSharedMemorySize, 60000));
    staged<<<rows, 64, cols * sizeof(float)>>>(x, y, cols);
}

__global__ void the_last_block_divides(const float* x, float* sums, float* y, unsigned* done, int rows, int cols) {
    for (int i = threadIdx.x; i < cols; i += blockDim.x) atomicAdd(sums + blockIdx.x, expf(x[blockIdx.x * cols + i] - 64));
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x) softmax_of(x + i / cols * cols, y + i / cols * cols, 0);
    for (int r = 0; r < rows; ++r) softmax_of(x + r * cols, y + r * cols, cols);
}
// a_semaphore_that_is_kept
void a_semaphore_that_is_kept(const float* x, float* y, int rows, int cols) {
    static unsigned* done = nullptr;
    if (done == nullptr) { CHECK(mcMalloc(&done, 4)); CHECK(mcMemset(done, 0, 4)); }
    float* sums;
    CHECK(mcMallocAsync(&sums, rows * 4, nullptr));
    CHECK(mcMemsetAsync(sums, 0, rows * 4, nullptr));
    the_last_block_divides<<<rows, 64>>>(x, sums, y, done, rows, cols);
    CHECK(mcFreeAsync(sums, nullptr));
}

__constant__ float exponents[16];
__global__ void by_a_constant_table(float* y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] *= exponents[i % 16];
}
// a_table_that_is_filled_once
void a_table_that_is_filled_once(const float* x, float* y, int rows, int cols) {
    static const bool filled = [] {
        float ones[16];
        for (float& one : ones) one = 1;
        return mcMemcpyToSymbol(exponents, ones, sizeof ones) == mcSuccess;
    }();
    if (!filled) std::exit(1);
    softmax_rows<<<rows, 64>>>(x, y, cols);
    by_a_constant_table<<<1, 64>>>(y, rows * cols);
}

// two_streams_and_an_event
void two_streams_and_an_event(const float* x, float* y, int rows, int cols) {
    mcStream_t one, two;
    mcEvent_t done;
    float* there;
    CHECK(mcStreamCreateWithFlags(&one, mcStreamNonBlocking)); CHECK(mcStreamCreateWithFlags(&two, mcStreamNonBlocking));
    CHECK(mcEventCreateWithFlags(&done, mcEventDisableTiming));
    CHECK(mcMalloc(&there, rows * cols * 4));
    softmax_rows<<<rows, 64, 0, one>>>(x, there, cols);
    CHECK(mcEventRecord(done, one));
    CHECK(mcStreamWaitEvent(two, done, 0));
    CHECK(mcMemcpyAsync(y, there, rows * cols * 4, mcMemcpyDeviceToDevice, two));
    CHECK(mcStreamSynchronize(two));
    CHECK(mcFree(there)); CHECK(mcEventDestroy(done)); CHECK(mcStreamDestroy(one)); CHECK(mcStreamDestroy(two));
}

// a_stream_that_waits_by_itself
void a_stream_that_waits_by_itself(const float* x, float* y, int rows, int cols) {
    mcStream_t side;
    float* there;
    CHECK(mcStreamCreate(&side));
    CHECK(mcMalloc(&there, rows * cols * 4));
    softmax_rows<<<rows, 64, 0, side>>>(x, there, cols);
    CHECK(mcMemcpyAsync(y, there, rows * cols * 4, mcMemcpyDeviceToDevice, nullptr));  // waits for streams that block
}

// halves_on_two_streams
void halves_on_two_streams(const float* x, float* y, int rows, int cols) {
    static mcStream_t streams[2] = {};
    for (mcStream_t& stream : streams) if (stream == nullptr) CHECK(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    const int half = rows / 2;
    if (half > 0) softmax_rows<<<half, 64, 0, streams[0]>>>(x, y, cols);
    softmax_rows<<<rows - half, 64, 0, streams[1]>>>(x + half * cols, y + half * cols, cols);
    for (mcStream_t stream : streams) CHECK(mcStreamSynchronize(stream));
}

// staged_in_pinned_memory
void staged_in_pinned_memory(const float* x, float* y, int rows, int cols) {
    static int* here = nullptr;
    mcStream_t side;
    int* there;
    if (here == nullptr) CHECK(mcMallocHost(&here, 2 * sizeof(int)));
    CHECK(mcStreamCreate(&side)); CHECK(mcMalloc(&there, 2 * sizeof(int)));
    here[0] = rows, here[1] = cols;
    CHECK(mcMemcpyAsync(there, here, 2 * sizeof(int), mcMemcpyHostToDevice, side));
    by_sizes<<<rows, 64, 0, side>>>(x, y, there);
    CHECK(mcStreamSynchronize(side));
    CHECK(mcFree(there)); CHECK(mcStreamDestroy(side));
}

// waits_for_a_count_in_pinned_memory
void waits_for_a_count_in_pinned_memory(const float* x, float* y, int rows, int cols) {
    mcStream_t side;
    mcEvent_t done;
    int *here, *there;
    CHECK(mcStreamCreate(&side)); CHECK(mcEventCreate(&done)); CHECK(mcMallocHost(&here, 4)); CHECK(mcMalloc(&there, 4));
    CHECK(mcMemsetAsync(there, 0, 4, side));
    count_large<<<1, 64, 0, side>>>(x, there, rows * cols);
    CHECK(mcMemcpyAsync(here, there, 4, mcMemcpyDeviceToHost, side));
    CHECK(mcEventRecord(done, side));
    while (mcEventQuery(done) == mcErrorNotReady) {}
    CHECK(mcEventSynchronize(done));
    softmax_rows<<<rows, *here >= 0 ? 64 : 32, 0, side>>>(x, y, cols);
    CHECK(mcDeviceSynchronize());
    CHECK(mcFreeHost(here)); CHECK(mcFree(there));
}

// a_graph_that_is_launched_twice
void a_graph_that_is_launched_twice(const float* x, float* y, int rows, int cols) {
    mcStream_t stream; mcGraph_t graph; mcGraphExec_t instance;
    CHECK(mcStreamCreate(&stream));
    CHECK(mcStreamBeginCapture(stream, mcStreamCaptureModeGlobal));
    CHECK(mcMemsetAsync(y, 0, rows * cols * 4, stream));
    softmax_rows<<<rows, 64, 0, stream>>>(x, y, cols);
    CHECK(mcStreamEndCapture(stream, &graph));
    CHECK(mcGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
    CHECK(mcGraphLaunch(instance, stream));
    CHECK(mcGraphLaunch(instance, stream));
    CHECK(mcStreamSynchronize(stream));
    CHECK(mcGraphExecDestroy(instance)); CHECK(mcGraphDestroy(graph)); CHECK(mcStreamDestroy(stream));
}

template <int width>
__global__ void __launch_bounds__(256) by_warps(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    const int row = blockIdx.x * (blockDim.x / width) + threadIdx.x / width, lane = threadIdx.x % width;
    if (row >= rows) return;
    float largest = -INFINITY, sum = 0;
    for (int i = lane; i < cols; i += width) largest = fmaxf(largest, __ldg(x + row * cols + i));
    for (int step = width / 2; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0ull, largest, step, width));
    for (int i = lane; i < cols; i += width) sum += expf(__ldg(x + row * cols + i) - largest);
    for (int step = width / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0ull, sum, step, width);
    for (int i = lane; i < cols; i += width) y[row * cols + i] = expf(x[row * cols + i] - largest) / sum;
}
// a_template_over_the_width_of_a_wave
void a_template_over_the_width_of_a_wave(const float* x, float* y, int rows, int cols) {
    if (cols > 40) by_warps<64><<<(rows + 3) / 4, 256>>>(x, y, rows, cols);
    else by_warps<32><<<(rows + 7) / 8, 256>>>(x, y, rows, cols);
}

// as_many_threads_as_the_device_likes
void as_many_threads_as_the_device_likes(const float* x, float* y, int rows, int cols) {
    int grid = 0, threads = 0, blocks = 0;
    CHECK(mcOccupancyMaxPotentialBlockSize(&grid, &threads, softmax_rows, 0, 256));
    CHECK(mcOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, softmax_rows, threads, 0));
    softmax_rows<<<rows, blocks > 0 ? threads : 64>>>(x, y, cols);
}

typedef float (*Weight)(float);
__device__ float plainly(float v) { return v; }
__device__ float doubly(float v) { return 2 * v; }
__device__ Weight weights[2] = {plainly, doubly};
union Bits { float number; unsigned word; };
__global__ void by_a_function(float* y, int n, int which) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Bits bits{weights[which](y[i])};
        bits.word ^= 0x80000000u;
        y[i] = -bits.number;
    }
}
// a_pointer_to_a_function_and_a_union
void a_pointer_to_a_function_and_a_union(const float* x, float* y, int rows, int cols) {
    softmax_rows<<<rows, 64>>>(x, y, cols);
    by_a_function<<<1, 64>>>(y, rows * cols, 0);
}

struct __attribute__((packed)) Tight { char tag; const float* x; float* y; short cols; };
__global__ void by_a_tight_struct(Tight t) { softmax_of(t.x + blockIdx.x * t.cols, t.y + blockIdx.x * t.cols, t.cols); }
// a_struct_without_padding
void a_struct_without_padding(const float* x, float* y, int rows, int cols) { by_a_tight_struct<<<rows, 64>>>(Tight{'t', x, y, short(cols)}); }

__global__ void copied_by_bytes(const float* x, float* y, int cols) {
    float row[4];
    for (int at = 4 * threadIdx.x; at < cols; at += 4 * blockDim.x) {
        const int count = cols - at < 4 ? cols - at : 4;
        memcpy(row, x + blockIdx.x * cols + at, count * sizeof(float));
        memcpy(y + blockIdx.x * cols + at, row, count * sizeof(float));
    }
}
// bytes_in_the_kernel
void bytes_in_the_kernel(const float* x, float* y, int rows, int cols) {
    float* there;
    CHECK(mcMalloc(&there, rows * cols * 4));
    copied_by_bytes<<<rows, 32>>>(x, there, cols);
    softmax_rows<<<rows, 64>>>(there, y, cols);
    CHECK(mcFree(there));
}

// rounds_of_a_capped_grid
__global__ void in_rounds(const float* x, float* y, int rows, int cols) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) softmax_of(x + row * cols, y + row * cols, cols);
}
void rounds_of_a_capped_grid(const float* x, float* y, int rows, int cols) { in_rounds<<<rows < 2 ? rows : 2, 64>>>(x, y, rows, cols); }

// of_any_kind
void of_any_kind(const float* x, float* y, int rows, int cols) {
    float *there, *here;
    float whole = 1, again = 0;
    unsigned bits;
    __builtin_memcpy(&bits, &whole, sizeof bits);
    __builtin_memcpy(&again, &bits, sizeof bits);
    CHECK(mcMalloc(&there, rows * cols * 4));
    CHECK(mcMallocHost(&here, 4));
    *here = again;
    CHECK(mcMemcpy(there, here, 4, mcMemcpyHostToDevice));
    CHECK(mcMemcpy(here, there, 4, mcMemcpyDeviceToHost));
    CHECK(mcMemcpy(there, x, rows * cols * 4, mcMemcpyDefault));
    softmax_rows<<<rows, 32>>>(there, y, cols);
    CHECK(mcFreeHost(here));
    CHECK(mcFree(there));
}

__device__ float lower_half[4096], upper_half[4096];
__global__ void halves_of_variables(const float* x, float* y, int cols) {
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) lower_half[i] = upper_half[i] = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = x[blockIdx.x * cols + i];
}
// up_to_the_end_of_variables
void up_to_the_end_of_variables(const float* x, float* y, int rows, int cols) {
    halves_of_variables<<<1, 32>>>(x, y, cols);
    softmax_rows<<<rows, 32>>>(x, y, cols);
}
