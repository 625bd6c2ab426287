// Signals become faults with the place they struck.
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plan.h"
#include "process.h"
#include "regions.h"
#include "state.h"

extern "C" char __executable_start[], etext[];
extern "C" void* __libc_stack_end;
// The names that the source uses and that are defined elsewhere, where there are any (porter/simt/undefined.py).
extern "C" const char* const porter_undefined[] __attribute__((weak));

namespace porter::simt {

namespace {

bool is_code(std::uintptr_t address) {
    return address >= reinterpret_cast<std::uintptr_t>(__executable_start) && address < reinterpret_cast<std::uintptr_t>(etext);
}

// The end of the stack that `address` lies in; `address` itself where that is not known.
std::uintptr_t stack_end(std::uintptr_t address) {
    if (current != nullptr && current->fiber != nullptr) {
        const std::uintptr_t stack = reinterpret_cast<std::uintptr_t>(current->fiber->stack);
        if (address - stack < FIBER_STACK_BYTES) return stack + FIBER_STACK_BYTES;
    }
    const auto end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
    return address < end && end - address < (8 << 20) ? end : address;
}

// Whether a call ends right before `address`: a near one, or one through memory or a register.
bool follows_call(std::uintptr_t address) {
    const auto* code = reinterpret_cast<const unsigned char*>(address);
    return is_code(address - 7) && (code[-5] == 0xE8 || code[-2] == 0xFF || code[-3] == 0xFF || code[-6] == 0xFF);
}

// Collects return addresses into the executable.
struct Trace {
    Frames frames;
    int count = 0;

    void add(std::uintptr_t address) {
        if (is_code(address) && count < MAX_FRAMES) frames.address[count++] = static_cast<std::uint32_t>(address);
    }

    // Along the chain of frames, which ends before `end`.
    void add_callers(std::uintptr_t frame, std::uintptr_t end) {
        while (frame + 16 <= end && frame % 8 == 0 && count < MAX_FRAMES) {
            const auto* words = reinterpret_cast<const std::uintptr_t*>(frame);
            add(words[1]);
            if (words[0] <= frame) return;
            frame = words[0];
        }
    }
};

}  // namespace

// The interrupted instruction, then the chain of frames. Shared libraries keep no chain: behind one of theirs, words on
// the stack that point behind a call are taken for return addresses. So is the top of the stack: a function's first
// instructions have not linked its frame yet.
Frames frames_at(const ucontext_t& context) {
    Trace trace;
#if defined(__x86_64__)
    const auto& registers = context.uc_mcontext.gregs;
    const auto instruction = static_cast<std::uintptr_t>(registers[REG_RIP]);
    const auto stack = static_cast<std::uintptr_t>(registers[REG_RSP]);
    const auto frame = static_cast<std::uintptr_t>(registers[REG_RBP]);
#elif defined(__aarch64__)
    const std::uintptr_t instruction = context.uc_mcontext.pc, stack = context.uc_mcontext.sp;
    const std::uintptr_t frame = context.uc_mcontext.regs[29];
#endif
    const std::uintptr_t end = stack_end(stack), scanned = std::min(end, stack + (is_code(instruction) ? 16 : 2048));
    trace.add(instruction + 1);  // as a return address has it
    for (std::uintptr_t word = stack; word + 8 <= scanned; word += 8) {
        const std::uintptr_t value = *reinterpret_cast<const std::uintptr_t*>(word);
        if (is_code(value) && follows_call(value)) trace.add(value);
    }
    if (frame >= stack) trace.add_callers(frame, end);
    return trace.frames;
}

// The calls that the running function is in.
Frames frames_here() {
    Trace trace;
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    trace.add_callers(frame, stack_end(frame));
    return trace.frames;
}

namespace {

constexpr std::uintptr_t UNDEFINED_FIRST = 0x100000, UNDEFINED_APART = 0x1000;
char handler_stack[64 << 10];
volatile sig_atomic_t handling = 0;

// Objects of a file may register it with the rest of its program before anything runs, which no kernel or launcher
// needs. Where the rest is not there such a call returns at once, and what it was to call is kept here.
const char* not_registered = nullptr;
bool begun = false;

// What a null pointer and a small index make.
constexpr std::uintptr_t NULL_PAGES = 1 << 20;

bool memory_is_exhausted() {
    void* probe = mmap(nullptr, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return probe == MAP_FAILED;
}

bool in_stack_guard(std::uintptr_t address) {
    if (current == nullptr || current->fiber == nullptr) return false;
    const auto stack = reinterpret_cast<std::uintptr_t>(current->fiber->stack);
    return address < stack && stack - address <= 4096;
}

// The undefined name that `address` stands for; null where it stands for none.
const char* undefined_at(std::uintptr_t address) {
    if (porter_undefined == nullptr) return nullptr;
    std::uintptr_t place = UNDEFINED_FIRST;
    for (const char* const* name = porter_undefined; *name != nullptr; ++name, place += UNDEFINED_APART) {
        if (address - place < UNDEFINED_APART) return *name;
    }
    return nullptr;
}

// Ends a call of what is defined elsewhere before the entry began, as if it had returned zero. False for anything else.
bool returns_at_once(std::uintptr_t address, ucontext_t& context) {
    const char* name = begun ? nullptr : undefined_at(address);
    if (name == nullptr) return false;
#if defined(__x86_64__)
    auto& registers = context.uc_mcontext.gregs;
    if (static_cast<std::uintptr_t>(registers[REG_RIP]) != address) return false;
    registers[REG_RIP] = *reinterpret_cast<const greg_t*>(registers[REG_RSP]);
    registers[REG_RSP] += sizeof(greg_t);
    registers[REG_RAX] = 0;
#elif defined(__aarch64__)
    auto& machine = context.uc_mcontext;
    if (machine.pc != address) return false;
    machine.pc = machine.regs[30];
    machine.regs[0] = 0;
#endif
    if (not_registered == nullptr) not_registered = name;
    return true;
}

// `rdtsc` or `rdtscp`, which planning hides.
bool reads_counter(const ucontext_t& context) {
#if defined(__x86_64__)
    const auto* code = reinterpret_cast<const unsigned char*>(context.uc_mcontext.gregs[REG_RIP]);
    return is_code(reinterpret_cast<std::uintptr_t>(code)) && code[0] == 0x0F && (code[1] == 0x31 || (code[1] == 0x01 && code[2] == 0xF9));
#else
    return static_cast<void>(context), false;
#endif
}

[[noreturn]] void fail_undefined(const char* name, const Frames& frames) {
    char message[400];
    std::snprintf(message, sizeof message, "`%.300s` is defined in no file that porter was given", name);
    fail_in_handler(FaultKind::UNDEFINED, frames, message, 128 + SIGSEGV);
}

[[noreturn]] void explain_segment_fault(std::uintptr_t address, const Frames& frames) {
    char message[400];
    if (const char* name = undefined_at(address)) fail_undefined(name, frames);
    if (in_stack_guard(address)) {
        std::snprintf(message, sizeof message, "a thread needs more than %zu KiB of stack", FIBER_STACK_BYTES >> 10);
        fail_in_handler(FaultKind::RESOURCE, frames, message, 128 + SIGSEGV);
    }
    if (Region* region = find_allocation(address); region != nullptr && planning()) {
        const char* who = library_at_work() ? "an operator of the library computes with" : "host code accesses by itself";
        std::snprintf(message, sizeof message, "%s `%s`, which is memory of the device", who, region->label);
        fail_in_handler(library_at_work() ? FaultKind::LIBRARY : FaultKind::HOST_WORK, frames, message, 128 + SIGSEGV);
    } else if (region != nullptr) {
        ++region->beyond;
        const long offset = static_cast<long>(address - region->base);
        std::snprintf(message, sizeof message, "an access of `%s` (%zu bytes%s) at byte %ld", region->label, region->bytes,
                      region->live ? "" : ", freed", offset);
        fail_in_handler(FaultKind::OUT_OF_BOUNDS, frames, message, 128 + SIGSEGV);
    }
    if (address - arena_base < ARENA_BYTES) {
        std::snprintf(message, sizeof message, "an access of device memory far outside every allocation");
        fail_in_handler(FaultKind::OUT_OF_BOUNDS, frames, message, 128 + SIGSEGV);
    }
    if (memory_is_exhausted()) fail_in_handler(FaultKind::RESOURCE, frames, "the memory limit is reached", 128 + SIGSEGV);
    if (const std::size_t bytes = device_bytes_refused(); bytes != 0 && address < NULL_PAGES) {
        std::snprintf(message, sizeof message, "the memory limit is reached: %zu bytes of device memory were refused", bytes);
        fail_in_handler(FaultKind::RESOURCE, frames, message, 128 + SIGSEGV);
    }
    std::snprintf(message, sizeof message, "an access of address 0x%zx, where no memory is", address);
    fail_in_handler(FaultKind::CRASH, frames, message, 128 + SIGSEGV);
}

void on_fatal(int number, siginfo_t* info, void* context) {
    if (handling) _exit(128 + number);  // the fault of a handler
    if (number == SIGSEGV && planning() && plan_fetch(reinterpret_cast<std::uintptr_t>(info->si_addr))) return;
    if (number == SIGSEGV && returns_at_once(reinterpret_cast<std::uintptr_t>(info->si_addr), *static_cast<ucontext_t*>(context))) return;
    handling = 1;
    const Frames frames = frames_at(*static_cast<ucontext_t*>(context));
    if (number == SIGSEGV && planning() && reads_counter(*static_cast<ucontext_t*>(context))) {
        fail_in_handler(FaultKind::REACHED, frames, "host code reads the processor's counter", 128 + SIGSEGV);
    }
    const int code = 128 + number;
    if (!begun && not_registered != nullptr) fail_undefined(not_registered, frames);  // it was to return more than zero
    switch (number) {
        case SIGSEGV:
        case SIGBUS: explain_segment_fault(reinterpret_cast<std::uintptr_t>(info->si_addr), frames);
        case SIGPROF:
        case SIGXCPU: fail_in_handler(FaultKind::TIMEOUT, frames, "the time limit is reached", code);
        case SIGALRM: fail_in_handler(FaultKind::TIMEOUT, frames, "the time limit is reached, most of it by waiting", code);
        case SIGXFSZ: fail_in_handler(FaultKind::RESOURCE, frames, "a file grew beyond the size limit", code);
        case SIGFPE: fail_in_handler(FaultKind::CRASH, frames, "an integer division by zero, or its overflow", code);
        case SIGILL: fail_in_handler(FaultKind::CRASH, frames, "an illegal instruction: a trap or an unreachable place", code);
        case SIGABRT: fail_in_handler(FaultKind::CRASH, frames, "the program aborted", code);
        default: fail_in_handler(FaultKind::CRASH, frames, strsignal(number), code);
    }
}

}  // namespace

void begin_entry(bool whole_program) {
    begun = true;
    if (whole_program && not_registered != nullptr) fail_undefined(not_registered, {});
}

void catch_signals() {
    stack_t stack{};
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fatal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF, SIGXCPU, SIGXFSZ, SIGALRM, SIGTRAP}) {
        sigaction(number, &action, nullptr);
    }
}

}  // namespace porter::simt
