// Fibers: a stack and the place where its thread of control stopped. Hand-written switch on x86-64, ucontext elsewhere.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace porter::simt {

inline constexpr std::size_t FIBER_STACK_BYTES = 256 << 10;

struct Fiber {
#if defined(__x86_64__)
    void* stack_pointer = nullptr;
#else
    ucontext_t context;
#endif
    void* stack = nullptr;  // lowest usable byte; null for the fiber the process started on
};

// Maps a stack with a guard page below it.
void map_stack(Fiber& fiber);

// Makes `fiber` begin in `entry`, which must never return, at the next switch to it.
void prepare(Fiber& fiber, void (*entry)());

// Saves the running thread of control in `from` and goes on with `to`.
void switch_fiber(Fiber& from, Fiber& to);

}  // namespace porter::simt
