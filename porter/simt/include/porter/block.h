// A thread block at run time: who the calling thread is, the barriers of its block, and shared memory.
#pragma once

#include <cstddef>

#include "porter/dim3.h"
#include "porter/fault.h"

// Constant for a thread as long as it runs, so the compiler may keep them in registers over a barrier.
extern const uint3 threadIdx __asm__("porter_thread_index");
extern const uint3 blockIdx __asm__("porter_block_index");
extern const dim3 blockDim __asm__("porter_block_extent");
extern const dim3 gridDim __asm__("porter_grid_extent");

// Keeps the executor's own code in headers out of the watch.
#define PORTER_UNWATCHED __attribute__((no_sanitize("thread", "undefined")))

namespace porter::simt {

enum class BarrierOp { NONE, COUNT, AND, OR };

// True while a kernel runs, so also in device functions; false in host code.
bool in_kernel();

// Waits for all live threads of the block. The result combines `value != 0` of all of them; 0 for NONE.
int block_barrier(int value = 0, BarrierOp op = BarrierOp::NONE, Where where = Where::here());

// Barrier `id` (0..15) of `threads` threads: PTX `bar.sync id, threads`.
void named_barrier(int id, int threads, Where where = Where::here());

// Counts towards named barrier `id` without waiting: PTX `bar.arrive id, threads`.
void arrive_named_barrier(int id, int threads, Where where = Where::here());

// Lets other threads of the block run: for loops that wait for another thread's write.
void yield_thread();

// Who a fence orders memory for.
enum class Scope { BLOCK, DEVICE };

// __threadfence: orders the block's earlier writes before its later atomics, for the race check between blocks.
void memory_fence(Scope scope = Scope::DEVICE);

// Storage of one `__shared__` variable. Guard zones on both sides make an overrun visible to the watch.
inline constexpr std::size_t SHARED_GUARD_BYTES = 128;

struct SharedHeader {
    unsigned long long entered = 0;  // the block (counted over the process) that last poisoned it
    std::size_t bytes = 0;
    int region = -1;
};

template <class T>
struct SharedStorage {
    alignas(128) SharedHeader header;
    alignas(128) unsigned char before[SHARED_GUARD_BYTES];
    alignas(alignof(T) > 128 ? alignof(T) : 128) unsigned char bytes[sizeof(T)];
    alignas(128) unsigned char after[SHARED_GUARD_BYTES];
};

extern const unsigned long long current_block __asm__("porter_current_block");
void enter_shared_once(SharedHeader& header, void* storage, std::size_t bytes, const char* name, Where where);

// Announces a `__shared__` variable to the block at its declaration; the first thread to come poisons it.
template <class T>
PORTER_UNWATCHED inline void enter_shared(SharedStorage<T>& storage, const char* name, Where where = Where::here()) {
    if (storage.header.entered != current_block) {
        enter_shared_once(storage.header, storage.bytes, sizeof(T), name, where);
    }
}

// `extern __shared__`: the launch's dynamic shared memory, at one address for the whole run.
extern unsigned char dynamic_shared_memory[] __asm__("porter_dynamic_shared");

}  // namespace porter::simt
