// The result file: records appended as they come about, so that a process that dies leaves what it knew.
//
// The executor is one unit of translation, and what writes the result is its own: user code cannot link to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "porter/convert.h"
#include "porter/dim3.h"
#include "porter/fault.h"

namespace porter::simt {

inline constexpr int MAX_FRAMES = 8;
inline constexpr int RESULT_FILE = 199;  // its descriptor, which only the executor's own calls may name (sandbox.cpp)

// Instructions on the way to a fault, innermost first; their lines are looked up after the run.
struct Frames {
    std::uint32_t address[MAX_FRAMES] = {};
};

static void open_result(const char* path);
Frames frames_here();
void note_at(FaultKind kind, const Frames& frames, const std::string& message);
// True, after counting it, when this fault is known already: then no message need be made.
bool counted(FaultKind kind, std::uint32_t address);
// For signal handlers: allocates nothing.
[[noreturn]] static void fail_in_handler(FaultKind kind, const Frames& frames, const char* message, int exit_code);

// All accesses at one place in the code by the warps of a block. Of the `sectors` of 32 bytes that they ask for, some are
// `fresh`, which the block had not touched, and some `near`, which it had lately; they go through so many `lines`.
enum class SampledKind : std::uint8_t { LOAD, STORE, ATOMIC, SHARED_LOAD, SHARED_STORE };
struct SampledPlace {
    std::uint32_t place;
    SampledKind kind;
    std::uint8_t bytes;  // of a thread
    std::uintptr_t first;
    std::uint64_t executions = 0, sectors = 0, fresh = 0, near = 0, lines = 0;
};
// What a block does; `memory_waits`, `shared_waits`, `atomic_waits` and `first_warp_operations` are those of its first warp.
struct SampledBlock {
    std::uint64_t barriers = 0, warp_operations = 0, first_warp_operations = 0;
    std::uint64_t memory_waits = 0, shared_waits = 0, atomic_waits = 0, shared_bytes = 0;
    std::vector<SampledPlace> places;
};
static void record_sample(const SampledBlock& sample);

static void record_launches(bool from_now);  // or not
void record_launch(const char* kernel, dim3 grid, dim3 block, std::size_t shared_bytes, Where where);
static void record_output(const Argument& argument);
static void record_mark(unsigned number, bool taken, const char* instance);
static void record_branches();  // all that the executable has
static void record_result(const Result& result);
// A step of a plan, which ends with ASKS as its exit code where it waits for an answer.
inline constexpr int ASKS = 75;
static void record_step(const void* data, std::size_t bytes);
// What a step of a plan reads.
static void record_read(const void* data, std::size_t bytes);
static void record_touched(std::uint64_t read_end, std::uint64_t written_end, std::uint64_t beyond);
static void record_snapshot(const std::vector<std::pair<const void*, std::size_t>>& buffers);

// Writes faults and the end mark, and leaves without running destructors.
[[noreturn]] static void end_process(int exit_code, bool finished);

}  // namespace porter::simt
