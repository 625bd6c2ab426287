// An access of user code with which something is wrong, and how that is told.
#pragma once

#include <cstddef>
#include <cstdint>

#include "regions.h"
#include "state.h"

namespace porter::simt {

extern unsigned long long block_count __asm__("porter_current_block");

// A stamp, when an access happened: block, thread, atomic, time. 0 is none.
inline constexpr int BLOCK_SHIFT = 38, THREAD_SHIFT = 28;
inline constexpr std::uint64_t ATOMIC = 1ull << 27, TIME_MASK = ATOMIC - 1;
inline int thread_of(std::uint64_t stamp) { return static_cast<int>(stamp >> THREAD_SHIFT & 1023); }
inline std::uint32_t place_of(const void* instruction) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(instruction));
}

struct Access {
    Region* region;  // null: there is none
    std::size_t offset, bytes;
    const Thread* thread;
    const void* instruction;

    std::uintptr_t address() const { return region->base + offset; }
    // What hardware swaps at once: as allocations are aligned, one that overlaps the end of its region stays in its page.
    bool is_word() const { return (bytes == 2 || bytes == 4 || bytes == 8) && address() % bytes == 0; }
};

// An access that nothing orders after an earlier one of another thread; or of another block, that an atomic orders, and no
// fence before it or behind it.
struct Conflict {
    Access access;
    std::uint64_t earlier;
    std::uint32_t earlier_place;
    bool earlier_wrote;
    FaultKind kind = FaultKind::RACE;
};

void report_race(const Conflict& race, bool write);
void report_uninitialised(const Access& access);
void report_outside(const Access& access, bool write);
void report_misaligned(const char* type, std::uintptr_t address, std::size_t alignment, const void* instruction);
void report_host_memory(std::size_t bytes, bool write, const void* instruction);

// Reads with which a compare-and-swap loop begins.
//
// `old = *p; do { assumed = old; old = atomicCAS(p, assumed, …); } while (old != assumed);` reads with nothing that orders it
// and, where p is the word around a narrower element, past the last one. Neither changes a result: the swap compares what was
// read with what is there. So a doubt about such a read waits for the next one about its thread, or for the end of the
// block; a swap that expects the value it read ends the doubt.
void doubt_race(const Conflict& race);
void doubt_outside(const Access& access);
void end_doubt(const Access& swap, const void* expected);
void report_doubts();

}  // namespace porter::simt
