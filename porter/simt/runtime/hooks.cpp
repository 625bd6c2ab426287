// What the compiler calls in executables built with memory hooks.
#include <cstring>
#include <string>

#include "porter/block.h"
#include "porter/watch.h"
#include "accesses.h"
#include "regions.h"
#include "state.h"
#include "ubsan.h"

using porter::simt::access_plain;
using porter::simt::access_word;

namespace {

bool in_arena(const volatile void* p) { return reinterpret_cast<std::uintptr_t>(p) - porter::simt::arena_base < porter::simt::ARENA_BYTES; }

}  // namespace

extern "C" {

bool porter_watching __attribute__((weak));

#define PORTER_HOOK(bytes) \
    void __tsan_read##bytes(void* p) { access_word<bytes, false>(p, __builtin_return_address(0)); } \
    void __tsan_write##bytes(void* p) { access_word<bytes, true>(p, __builtin_return_address(0)); } \
    void __tsan_unaligned_read##bytes(void* p) { access_word<bytes, false>(p, __builtin_return_address(0)); } \
    void __tsan_unaligned_write##bytes(void* p) { access_word<bytes, true>(p, __builtin_return_address(0)); } \
    void __tsan_volatile_read##bytes(void* p) { access_word<bytes, false>(p, __builtin_return_address(0)); } \
    void __tsan_volatile_write##bytes(void* p) { access_word<bytes, true>(p, __builtin_return_address(0)); } \
    void __tsan_read_write##bytes(void* p) { \
        access_word<bytes, false>(p, __builtin_return_address(0)); \
        access_word<bytes, true>(p, __builtin_return_address(0)); \
    }
PORTER_HOOK(1)
PORTER_HOOK(2)
PORTER_HOOK(4)
PORTER_HOOK(8)
PORTER_HOOK(16)
#undef PORTER_HOOK

void __tsan_read_range(void* p, unsigned long bytes) { access_plain(p, bytes, false, __builtin_return_address(0)); }
void __tsan_write_range(void* p, unsigned long bytes) { access_plain(p, bytes, true, __builtin_return_address(0)); }
void __tsan_init() {}

// What a kernel's object has in the place of the C library's.
void* porter_memcpy(void* to, const void* from, unsigned long bytes) {
    access_plain(from, bytes, false, __builtin_return_address(0));
    access_plain(to, bytes, true, __builtin_return_address(0));
    return std::memcpy(to, from, bytes);
}
void* porter_memmove(void* to, const void* from, unsigned long bytes) {
    access_plain(from, bytes, false, __builtin_return_address(0));
    access_plain(to, bytes, true, __builtin_return_address(0));
    return std::memmove(to, from, bytes);
}
void* porter_memset(void* to, int byte, unsigned long bytes) {
    access_plain(to, bytes, true, __builtin_return_address(0));
    return std::memset(to, byte, bytes);
}

void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) { porter::simt::memory_fence(); }
void __tsan_atomic_signal_fence(int) {}

// The compiler's own atomics (std::atomic): they order, so they are fenced. It also loads the byte that says whether a static
// variable of a function is initialised, which every `__shared__` variable has: that orders nothing.
#define PORTER_ATOMIC_SCOPE(p, bytes) \
    if ((bytes) > 1 || in_arena(p)) { \
        porter::simt::memory_fence(); \
        porter::simt::begin_atomic(const_cast<const void*>(p), bytes, __builtin_return_address(0)); \
        porter::simt::end_atomic(); \
    } else { \
        porter::simt::memory_fence(porter::simt::Scope::BLOCK); \
    }
#define PORTER_FETCH(bits, T, name) \
    T __tsan_atomic##bits##_fetch_##name(volatile void* p, T value, int) { \
        PORTER_ATOMIC_SCOPE(p, bits / 8); \
        return __atomic_fetch_##name(static_cast<volatile T*>(p), value, __ATOMIC_SEQ_CST); \
    }
#define PORTER_ATOMICS(bits, T) \
    T __tsan_atomic##bits##_load(const volatile void* p, int) { \
        PORTER_ATOMIC_SCOPE(p, bits / 8); \
        return __atomic_load_n(static_cast<const volatile T*>(p), __ATOMIC_SEQ_CST); \
    } \
    void __tsan_atomic##bits##_store(volatile void* p, T value, int) { \
        PORTER_ATOMIC_SCOPE(p, bits / 8); \
        __atomic_store_n(static_cast<volatile T*>(p), value, __ATOMIC_SEQ_CST); \
    } \
    T __tsan_atomic##bits##_exchange(volatile void* p, T value, int) { \
        PORTER_ATOMIC_SCOPE(p, bits / 8); \
        return __atomic_exchange_n(static_cast<volatile T*>(p), value, __ATOMIC_SEQ_CST); \
    } \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile void* p, T* expected, T value, int, int) { \
        PORTER_ATOMIC_SCOPE(p, bits / 8); \
        return __atomic_compare_exchange_n(static_cast<volatile T*>(p), expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    } \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile void* p, T* expected, T value, int a, int b) { \
        return __tsan_atomic##bits##_compare_exchange_strong(p, expected, value, a, b); \
    } \
    PORTER_FETCH(bits, T, add) \
    PORTER_FETCH(bits, T, sub) \
    PORTER_FETCH(bits, T, and) \
    PORTER_FETCH(bits, T, or) \
    PORTER_FETCH(bits, T, xor) \
    PORTER_FETCH(bits, T, nand)
PORTER_ATOMICS(8, unsigned char)
PORTER_ATOMICS(16, unsigned short)
PORTER_ATOMICS(32, unsigned int)
PORTER_ATOMICS(64, unsigned long)
#undef PORTER_ATOMICS
#undef PORTER_FETCH
#undef PORTER_ATOMIC_SCOPE

struct UbsanBounds {
    UbsanPlace place;
    UbsanType* array;
    UbsanType* index;
};
struct UbsanAlignment {
    UbsanPlace place;
    UbsanType* type;
    unsigned char log_alignment, access;
};

void __ubsan_handle_out_of_bounds(UbsanBounds* data, unsigned long index) {
    const porter::simt::Where where{data->place.file, static_cast<int>(data->place.line)};
    porter::simt::note(porter::simt::FaultKind::OUT_OF_BOUNDS, where,
                       "index " + std::to_string(static_cast<long>(index)) + " of an array of type " + data->array->name);
}

void __ubsan_handle_type_mismatch_v1(UbsanAlignment* data, unsigned long address) {
    constexpr unsigned char REFERENCE_BINDING = 2;  // no access yet, and copies of structs bind one on the way
    if (data->access == REFERENCE_BINDING) return;
    if (porter::simt::current == nullptr || porter::simt::region_of(reinterpret_cast<void*>(address)) == nullptr) return;
    porter::simt::report_misaligned(data->type->name, address, 1ul << data->log_alignment, __builtin_return_address(0));
}

}  // extern "C"
