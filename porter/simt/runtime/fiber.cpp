// The switch between fibers, and their stacks.
#include "porter/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace porter::simt {

void map_stack(Fiber& fiber) {
    const std::size_t guard = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, FIBER_STACK_BYTES + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char* stack = static_cast<char*>(memory) + guard;
    if (memory == MAP_FAILED || mprotect(stack, FIBER_STACK_BYTES, PROT_READ | PROT_WRITE) != 0) {
        std::fputs("porter: no memory for the stack of a thread\n", stderr);
        std::abort();
    }
    fiber.stack = stack;
}

#if defined(__x86_64__)

// Six callee-saved registers are all a cooperative switch must keep; the SSE control words never change here.
__asm__(
    ".text\n.globl porter_switch_fiber\n.type porter_switch_fiber,@function\nporter_switch_fiber:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n.size porter_switch_fiber,.-porter_switch_fiber\n");
extern "C" void porter_switch_fiber(void** save, void* load);

// Stacks lie a multiple of pages apart, so that their ends share a few sets of the cache, whose lines a switch would have to
// fetch again each time. So they begin at different lines of their last page, of which a usual thread touches no other.
std::size_t beginning_of(const Fiber& fiber) {
    constexpr std::size_t LINE = 64, STEP = 5, LINES = 48;
    const std::size_t number = reinterpret_cast<std::uintptr_t>(fiber.stack) >> 12;
    return number * STEP % LINES * LINE;
}

void prepare(Fiber& fiber, void (*entry)()) {
    char* const end = static_cast<char*>(fiber.stack) + FIBER_STACK_BYTES - beginning_of(fiber);
    auto* top = reinterpret_cast<std::uintptr_t*>(end) - 2;
    top[0] = reinterpret_cast<std::uintptr_t>(entry);  // `ret` leaves the stack as a call would: 8 below a multiple of 16
    top[1] = 0;
    for (int i = 1; i <= 6; ++i) top[-i] = 0;
    fiber.stack_pointer = top - 6;
}

void switch_fiber(Fiber& from, Fiber& to) { porter_switch_fiber(&from.stack_pointer, to.stack_pointer); }

#else

void prepare(Fiber& fiber, void (*entry)()) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = FIBER_STACK_BYTES;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, entry, 0);
}

void switch_fiber(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }

#endif

}  // namespace porter::simt
