// CUDA's atomic functions: plain updates, because threads take turns; the watch is told that they belong together.
//
// They are never inlined: the watch finds the caller's line by the return address.
#pragma once

#include "porter/bfloat16.h"
#include "porter/cache.h"
#include "porter/vector_types.h"
#include "porter/watch.h"

namespace porter {

template <class T>
inline constexpr bool is_atomic_integer = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
template <class T>
inline constexpr bool is_atomic_vector = std::is_same_v<T, float2> || std::is_same_v<T, float4>;
template <class T>
inline constexpr bool is_atomic_sum = is_atomic_integer<T> || is_atomic_vector<T> || std::is_floating_point_v<T> ||
                                      std::is_same_v<T, __half> || std::is_same_v<T, __half2> ||
                                      std::is_same_v<T, __nv_bfloat16> || std::is_same_v<T, __nv_bfloat162>;
template <class T>
inline constexpr bool is_atomic_word = std::is_arithmetic_v<T> && sizeof(T) >= 2;

template <class T>
inline T sum(T a, T b) {
    if constexpr (std::is_same_v<T, float2>) return {a.x + b.x, a.y + b.y};
    else if constexpr (std::is_same_v<T, float4>) return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    else return a + b;
}

}  // namespace porter

// T is deduced from the address alone, so that the operand converts as in a call of CUDA's plain functions.
#define PORTER_ATOMIC_FORM(name, allowed, expression) \
    template <class T, std::enable_if_t<allowed<T>, int> = 0> \
    __attribute__((noinline)) T name(T* address, typename porter::Identity<T>::type operand) { \
        const porter::simt::AtomicScope scope(address, sizeof(T)); \
        const T old = *address; \
        *address = expression; \
        return old; \
    }
#define PORTER_ATOMIC(name, allowed, expression) \
    PORTER_ATOMIC_FORM(name, allowed, expression) \
    PORTER_ATOMIC_FORM(name##_block, allowed, expression) \
    PORTER_ATOMIC_FORM(name##_system, allowed, expression)
PORTER_ATOMIC(atomicAdd, porter::is_atomic_sum, porter::sum(old, operand))
PORTER_ATOMIC(atomicSub, porter::is_atomic_integer, old - operand)
PORTER_ATOMIC(atomicExch, porter::is_atomic_word, operand)
PORTER_ATOMIC(atomicMin, porter::is_atomic_integer, old < operand ? old : operand)
PORTER_ATOMIC(atomicMax, porter::is_atomic_integer, old > operand ? old : operand)
PORTER_ATOMIC(atomicInc, porter::is_atomic_integer, old >= operand ? 0 : old + 1)
PORTER_ATOMIC(atomicDec, porter::is_atomic_integer, old == 0 || old > operand ? operand : old - 1)
PORTER_ATOMIC(atomicAnd, porter::is_atomic_integer, old& operand)
PORTER_ATOMIC(atomicOr, porter::is_atomic_integer, old | operand)
PORTER_ATOMIC(atomicXor, porter::is_atomic_integer, old ^ operand)
#undef PORTER_ATOMIC
#undef PORTER_ATOMIC_FORM

#define PORTER_ATOMIC_CAS(name) \
    template <class T, std::enable_if_t<porter::is_atomic_word<T>, int> = 0> \
    __attribute__((noinline)) T name(T* address, typename porter::Identity<T>::type expected, \
                                     typename porter::Identity<T>::type desired) { \
        const porter::simt::AtomicScope scope(address, sizeof(T), &expected); \
        const T old = *address; \
        if (old == expected) *address = desired; \
        return old; \
    }
PORTER_ATOMIC_CAS(atomicCAS)
PORTER_ATOMIC_CAS(atomicCAS_block)
PORTER_ATOMIC_CAS(atomicCAS_system)
#undef PORTER_ATOMIC_CAS
