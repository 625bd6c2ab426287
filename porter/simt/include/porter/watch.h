// What the watch needs to be told; plain loads and stores reach it by the compiler's own instrumentation.
#pragma once

#include <cstddef>

#include "porter/block.h"

namespace porter::simt {

// Around the plain loads and stores that make up one atomic operation: they race only with accesses that are not atomic.
// A compare-and-swap tells the value it expects.
void begin_atomic(const volatile void* address, std::size_t bytes, void* place, const void* expected = nullptr);
void end_atomic();

// The pointers a kernel is launched with. Of what they point to, the host's own memory is out of its reach.
void watch_arguments(const void* const* pointers, std::size_t count);

class AtomicScope {
public:
    AtomicScope(const volatile void* address, std::size_t bytes, const void* expected = nullptr) {
        begin_atomic(address, bytes, __builtin_return_address(0), expected);
    }
    ~AtomicScope() { end_atomic(); }
    AtomicScope(const AtomicScope&) = delete;
    AtomicScope& operator=(const AtomicScope&) = delete;
};

// Around the executor's or a shim's own accesses to device memory: they are nobody's.
class UnwatchedScope {
public:
    UnwatchedScope();
    ~UnwatchedScope();
    UnwatchedScope(const UnwatchedScope&) = delete;
    UnwatchedScope& operator=(const UnwatchedScope&) = delete;
};

}  // namespace porter::simt
