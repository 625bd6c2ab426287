// What times and inspects on an NVIDIA device. Everything it calls is bound when it is loaded, which is before any
// candidate is: what a candidate puts in the place of a name in Python is not seen here. Functions return the driver's
// error, 0 for success.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <vector>

#define PORTER_TEXT(name) #name
#define PORTER_EXPANDED(name) PORTER_TEXT(name)  // cuda.h renames functions by macros: the symbol has the new name
#define PORTER_CALLS(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetUuid) \
    X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuCtxSynchronize) \
    X(cuMemAlloc) X(cuMemFree) X(cuMemsetD8Async) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemcpyDtoDAsync) \
    X(cuStreamCreate) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventRecord) X(cuEventElapsedTime) \
    X(cuGraphCreate) X(cuGraphDestroy) X(cuGraphGetNodes) X(cuGraphNodeGetType) X(cuGraphKernelNodeGetParams) \
    X(cuGraphAddChildGraphNode) X(cuGraphInstantiate) X(cuGraphUpload) X(cuGraphLaunch) X(cuGraphExecDestroy) \
    X(cuModuleLoadData) X(cuModuleGetFunction) X(cuLaunchKernel) \
    X(cuFuncGetName) X(cuKernelGetName) X(cuKernelGetFunction)

namespace {

struct Driver {
#define PORTER_MEMBER(name) decltype(&::name) name;
    PORTER_CALLS(PORTER_MEMBER)
#undef PORTER_MEMBER
} driver;

CUstream timing_stream;
CUfunction draw_kernel;  // of draw.cu
constexpr unsigned draw_threads = 256;
std::vector<CUevent> events;
char missing[128];

CUresult bind() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::snprintf(missing, sizeof missing, "libcuda.so.1"), CUDA_ERROR_NOT_FOUND;
#define PORTER_BIND(name) \
    driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, PORTER_EXPANDED(name))); \
    if (!driver.name) return std::snprintf(missing, sizeof missing, "%s", PORTER_EXPANDED(name)), CUDA_ERROR_NOT_FOUND;
    PORTER_CALLS(PORTER_BIND)
#undef PORTER_BIND
    return CUDA_SUCCESS;
}

// Ends a function that returns CUresult at the first call that fails.
#define PORTER_TRY(call) \
    if (CUresult error = (call)) return error

CUresult event(size_t index, CUevent* out) {
    while (events.size() <= index) {
        CUevent made;
        PORTER_TRY(driver.cuEventCreate(&made, CU_EVENT_DEFAULT));
        events.push_back(made);
    }
    return *out = events[index], CUDA_SUCCESS;
}

CUresult record(size_t index, CUstream stream) {
    CUevent moment;
    PORTER_TRY(event(index, &moment));
    return driver.cuEventRecord(moment, stream);
}

CUresult function_name(const CUDA_KERNEL_NODE_PARAMS& kernel, const char** name) {
    return kernel.func ? driver.cuFuncGetName(name, kernel.func) : driver.cuKernelGetName(name, kernel.kern);
}

}  // namespace

extern "C" {

struct Described {
    char name[128];
    unsigned char uuid[16];
    int driver_version, multiprocessors, l2_bytes, major, minor;
    unsigned long long memory_bytes;
};

struct Node {
    int type;  // CUgraphNodeType
    unsigned grid[3], block[3], shared_bytes;
    unsigned long long function;
    char name[256];
};

const char* porter_error(int code) {
    const char* text = nullptr;
    if (!driver.cuGetErrorName || driver.cuGetErrorName(CUresult(code), &text)) return missing[0] ? missing : "unknown";
    return text;
}

// The primary context of the device, which is the one PyTorch uses, current in this thread. `draw` is draw.ptx.
int porter_open(int ordinal, const char* draw, Described* out) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUuuid uuid;
    size_t memory;
    PORTER_TRY(bind());
    PORTER_TRY(driver.cuInit(0));
    PORTER_TRY(driver.cuDeviceGet(&device, ordinal));
    PORTER_TRY(driver.cuDevicePrimaryCtxRetain(&context, device));
    PORTER_TRY(driver.cuCtxSetCurrent(context));
    PORTER_TRY(driver.cuModuleLoadData(&module, draw));
    PORTER_TRY(driver.cuModuleGetFunction(&draw_kernel, module, "porter_draw"));
    PORTER_TRY(driver.cuStreamCreate(&timing_stream, CU_STREAM_NON_BLOCKING));
    PORTER_TRY(driver.cuDeviceGetName(out->name, sizeof out->name, device));
    PORTER_TRY(driver.cuDeviceGetUuid(&uuid, device));
    std::memcpy(out->uuid, &uuid, sizeof out->uuid);
    PORTER_TRY(driver.cuDeviceTotalMem(&memory, device));
    out->memory_bytes = memory;
    PORTER_TRY(driver.cuDriverGetVersion(&out->driver_version));
    const struct {
        int* value;
        CUdevice_attribute attribute;
    } wanted[] = {{&out->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
                  {&out->l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
                  {&out->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
                  {&out->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR}};
    for (auto [value, attribute] : wanted) PORTER_TRY(driver.cuDeviceGetAttribute(value, attribute, device));
    return CUDA_SUCCESS;
}

int porter_synchronize() { return driver.cuCtxSynchronize(); }

int porter_allocate(size_t bytes, unsigned long long* out) {
    CUdeviceptr at;
    PORTER_TRY(driver.cuMemAlloc(&at, bytes));
    return *out = at, CUDA_SUCCESS;
}

int porter_free(unsigned long long at) { return driver.cuMemFree(at); }

int porter_fill(unsigned long long at, int byte, size_t bytes) {
    PORTER_TRY(driver.cuMemsetD8Async(at, static_cast<unsigned char>(byte), bytes, timing_stream));
    return driver.cuStreamSynchronize(timing_stream);
}

// Of pageable memory the driver's copy may still be on its way when it returns; other streams do not wait for it.
int porter_write(unsigned long long at, const void* from, size_t bytes) {
    PORTER_TRY(driver.cuMemcpyHtoD(at, from, bytes));
    return driver.cuCtxSynchronize();
}

int porter_read(void* to, unsigned long long at, size_t bytes) {
    PORTER_TRY(driver.cuCtxSynchronize());
    return driver.cuMemcpyDtoH(to, at, bytes);
}

int porter_copy(unsigned long long to, unsigned long long from, size_t bytes) {
    PORTER_TRY(driver.cuMemcpyDtoD(to, from, bytes));
    return driver.cuCtxSynchronize();
}

// What is behind the first `pool` of the `count` elements at `at`, drawn from these.
int porter_draw(unsigned long long at, int width, unsigned long long pool, unsigned long long count,
                unsigned long long key) {
    void* arguments[] = {&at, &width, &pool, &count, &key};
    const auto blocks = static_cast<unsigned>((count - pool + draw_threads - 1) / draw_threads);
    PORTER_TRY(driver.cuLaunchKernel(draw_kernel, blocks, 1, 1, draw_threads, 1, 1, 0, timing_stream, arguments, {}));
    return driver.cuStreamSynchronize(timing_stream);
}

int porter_copy_async(unsigned long long to, unsigned long long from, size_t bytes) {
    return driver.cuMemcpyDtoDAsync(to, from, bytes, CU_STREAM_PER_THREAD);
}

// The nodes of a captured graph; `count` is how many it has, of which `capacity` at most are written.
int porter_nodes(CUgraph graph, Node* out, size_t capacity, size_t* count) {
    *count = 0;
    PORTER_TRY(driver.cuGraphGetNodes(graph, nullptr, count));
    std::vector<CUgraphNode> nodes(*count);
    if (*count) PORTER_TRY(driver.cuGraphGetNodes(graph, nodes.data(), count));
    for (size_t i = 0; i < *count && i < capacity; ++i) {
        CUgraphNodeType type;
        PORTER_TRY(driver.cuGraphNodeGetType(nodes[i], &type));
        out[i] = Node{};
        out[i].type = type;
        if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
        CUDA_KERNEL_NODE_PARAMS kernel{};
        const char* name = "";
        PORTER_TRY(driver.cuGraphKernelNodeGetParams(nodes[i], &kernel));
        PORTER_TRY(function_name(kernel, &name));
        CUfunction function = kernel.func;
        if (!function) PORTER_TRY(driver.cuKernelGetFunction(&function, kernel.kern));
        const unsigned sizes[] = {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ,
                                  kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ};
        std::memcpy(out[i].grid, sizes, sizeof sizes / 2);
        std::memcpy(out[i].block, sizes + 3, sizeof sizes / 2);
        out[i].shared_bytes = kernel.sharedMemBytes;
        out[i].function = reinterpret_cast<unsigned long long>(function);
        std::snprintf(out[i].name, sizeof out[i].name, "%s", name);
    }
    return CUDA_SUCCESS;
}

// All of `graphs` one after the other, `rounds` times over, as one graph that can be launched.
int porter_chain(const CUgraph* graphs, size_t count, size_t rounds, CUgraphExec* out) {
    CUgraph chain;
    PORTER_TRY(driver.cuGraphCreate(&chain, 0));
    CUgraphNode last = nullptr;
    CUresult error = CUDA_SUCCESS;
    for (size_t i = 0; i < count * rounds && !error; ++i) {
        CUgraphNode node;
        error = driver.cuGraphAddChildGraphNode(&node, chain, last ? &last : nullptr, last ? 1 : 0, graphs[i % count]);
        last = node;
    }
    if (!error) error = driver.cuGraphInstantiate(out, chain, 0);
    driver.cuGraphDestroy(chain);
    return error ? error : driver.cuGraphUpload(*out, timing_stream);  // else its first launch takes longer
}

int porter_drop(CUgraphExec exec) { return driver.cuGraphExecDestroy(exec); }

int porter_replay(CUgraphExec exec) {
    PORTER_TRY(driver.cuGraphLaunch(exec, timing_stream));
    return driver.cuCtxSynchronize();
}

// The device time of each of `count` launches, in microseconds. All are queued at once. What is
// written before each (`room`) keeps the device busy until its launch is queued, too, and leaves none of the data of
// the launch before in the cache. What is launched `before` it, where there is any, is not timed.
int porter_sample(const CUgraphExec* execs, const CUgraphExec* before, size_t count, unsigned long long room,
                  size_t bytes, float* out_us) {
    for (size_t i = 0; i < count; ++i) {
        if (bytes) PORTER_TRY(driver.cuMemsetD8Async(room, static_cast<unsigned char>(i), bytes, timing_stream));
        if (before[i]) PORTER_TRY(driver.cuGraphLaunch(before[i], timing_stream));
        PORTER_TRY(record(2 * i, timing_stream));
        PORTER_TRY(driver.cuGraphLaunch(execs[i], timing_stream));
        PORTER_TRY(record(2 * i + 1, timing_stream));
    }
    PORTER_TRY(driver.cuStreamSynchronize(timing_stream));
    for (size_t i = 0; i < count; ++i) {
        PORTER_TRY(driver.cuEventElapsedTime(&out_us[i], events[2 * i], events[2 * i + 1]));
        out_us[i] *= 1000;
    }
    return CUDA_SUCCESS;
}

// The same for what cannot be captured: calls made by Python between `porter_begin` and `porter_end`, on the stream of
// the calling thread, which is where an original built for that and PyTorch both launch.
int porter_begin(unsigned long long room, size_t bytes) {
    PORTER_TRY(driver.cuCtxSynchronize());
    if (bytes) PORTER_TRY(driver.cuMemsetD8Async(room, 0, bytes, CU_STREAM_PER_THREAD));
    return record(0, CU_STREAM_PER_THREAD);
}

int porter_end(float* out_us) {
    PORTER_TRY(record(1, CU_STREAM_PER_THREAD));
    PORTER_TRY(driver.cuCtxSynchronize());
    PORTER_TRY(driver.cuEventElapsedTime(out_us, events[0], events[1]));
    return *out_us *= 1000, CUDA_SUCCESS;
}

}  // extern "C"
