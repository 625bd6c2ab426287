// What is left of the device language: time, traps and assertions.
#pragma once

#include <cassert>
#include <cstdio>

#include "porter/block.h"

namespace porter {

namespace simt {
// A clock that only moves when it is read, as the executor's clock() does: busy-wait loops end, and runs repeat.
long long device_ticks();
}  // namespace simt

inline long long next_tick() { return simt::device_ticks(); }

}  // namespace porter

inline long long clock64() { return porter::next_tick(); }
inline long long wall_clock64() { return porter::next_tick(); }
inline unsigned long long globaltimer() { return (unsigned long long)porter::next_tick(); }
inline void __nanosleep(unsigned int) { porter::simt::yield_thread(); }
inline void __prof_trigger(int) {}
inline void __brkpt(int = 0) {}
[[noreturn]] inline void __trap(porter::simt::Where where = porter::simt::Where::here()) {
    porter::simt::fail(porter::simt::FaultKind::DEVICE_ASSERT, where, "the kernel executed a trap");
}

// Takes the place of the C library's: a failed assert is a fault at its line, of the device inside a kernel.
extern "C" [[noreturn]] inline void __assert_fail(const char* expression, const char* file, unsigned int line,
                                                  const char*) noexcept {
    using porter::simt::FaultKind;
    porter::simt::fail(porter::simt::in_kernel() ? FaultKind::DEVICE_ASSERT : FaultKind::HOST_CHECK, {file, int(line)},
                       std::string("assertion failed: ") + expression);
}
extern "C" [[noreturn]] inline void __assertfail(const char* expression, const char* file, unsigned int line,
                                                 const char* function, std::size_t = 1) {
    __assert_fail(expression, file, line, function);
}
