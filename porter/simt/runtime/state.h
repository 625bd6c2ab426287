// What the parts of the executor share: the running block, the options of the job, the recorder of faults.
//
// Compiled once per machine into an object of its own, never instrumented: user code reaches it by calls alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "porter/dim3.h"
#include "porter/fault.h"
#include "porter/fiber.h"

namespace porter::simt {

using WideMask = unsigned long long;

inline constexpr int MAX_THREADS = 1024;
inline constexpr int MAX_LANES = 64;
inline constexpr int MAX_WARPS = MAX_THREADS / 32;
inline constexpr int NAMED_BARRIERS = 16;

enum class Schedule : std::uint8_t { FORWARD, REVERSE, SHUFFLED };
enum class MaskPolicy : std::uint8_t { ERROR, POISON, IGNORE };

// What a job decides; read before the first user code runs.
struct Options {
    Schedule schedule = Schedule::FORWARD;
    std::uint64_t seed = 0;
    std::uint8_t poison = 0xFF;
    MaskPolicy mask_policy = MaskPolicy::POISON;
    int max_threads = 1024;
    int claimed_warp_size = 32;  // what host code is told, be it that of the executable or not
    std::size_t shared_bytes = 49152;
    std::size_t dynamic_shared_bytes = 232448;
};
extern Options options;

// What shared memory holds at first, and what a lane reads that nobody gives it. A small number differs from that of
// device memory, so that garbage which reached an output is told from an element of it that nobody wrote.
inline std::uint8_t garbage() { return options.poison == 0xFF ? 0xFF : options.poison + 1; }

enum class Waiting : std::uint8_t { NOTHING, BLOCK_BARRIER, NAMED_BARRIER, WARP_OPERATION };

// One CUDA thread. `clock` counts the synchronisations it took part in, on its block's clock (see watch.cpp).
struct Thread {
    Fiber* fiber;  // null until it has started
    uint3 index;
    std::uint16_t number, lane, warp;
    Waiting waiting;
    bool fenced;
    Where where;
    std::uint32_t clock, released, acquired;
};

// The running block.
struct Block {
    dim3 extent;
    int threads, warps;
    int live;          // threads that have not returned
    std::uint32_t clock;  // counts synchronisations of any kind
    std::uint32_t floor;  // the clock at the last block barrier: everything before is ordered
    bool acquired;     // a thread met an earlier block's atomic
    bool fenced_since; // and one passed a fence after that
};

extern Block block;
extern Thread threads[MAX_THREADS];
extern Thread* current;            // null in host code
extern const char* current_kernel;  // "" in host code
extern int warp_width;             // 32 or 64
extern bool watching;              // the executable was built with memory hooks

// Runs the threads of one block to their end. False when `abandon_grid` ended it.
bool run_block(void (*body)(const void*), const void* context);
// Leaves the running grid at once: its remaining threads never run.
[[noreturn]] void abandon_grid();
void order_threads(std::uint64_t block_number);

// The watch: regions of memory whose use is followed.
void watch_new_grid();
void watch_new_block();
void watch_block_end();
void watch_warp(int warp, WideMask lanes);  // these lanes synchronised
void watch_fence();  // the running thread passes a fence of the whole device
void watch_dynamic_shared(std::size_t bytes);
std::size_t shared_in_use();  // bytes that the block has, static and dynamic

// Touched extents of the tensor arguments, written with the faults even when the process dies.
void record_all_touched();

}  // namespace porter::simt
