// The conversions whose names carry the type: N is `half` or `bfloat16`.
#pragma once

#include "porter/conversion.h"

#define PORTER_NARROW_ROUNDED(T, N, suffix, mode) \
    inline T __float2##N##_##suffix(porter::Float x) { return T::rounded<mode>(x); } \
    inline T __int2##N##_##suffix(int x) { return T::rounded<mode>(x); } \
    inline T __uint2##N##_##suffix(unsigned int x) { return T::rounded<mode>(x); } \
    inline T __short2##N##_##suffix(short x) { return T::rounded<mode>(x); } \
    inline T __ushort2##N##_##suffix(unsigned short x) { return T::rounded<mode>(x); } \
    inline T __ll2##N##_##suffix(long long x) { return T::rounded<mode>(double(x)); } \
    inline T __ull2##N##_##suffix(unsigned long long x) { return T::rounded<mode>(double(x)); } \
    inline int __##N##2int_##suffix(T x) { return porter::to_integer<mode, int, false>(float(x)); } \
    inline unsigned int __##N##2uint_##suffix(T x) { return porter::to_integer<mode, unsigned int, false>(float(x)); } \
    inline short __##N##2short_##suffix(T x) { return porter::to_integer<mode, short, false>(float(x)); } \
    inline unsigned short __##N##2ushort_##suffix(T x) { return porter::to_integer<mode, unsigned short, false>(float(x)); } \
    inline long long __##N##2ll_##suffix(T x) { return porter::to_integer<mode, long long, false>(float(x)); } \
    inline unsigned long long __##N##2ull_##suffix(T x) { return porter::to_integer<mode, unsigned long long, false>(float(x)); }

#define PORTER_NARROW_NAMES(T, T2, N) \
    PORTER_NARROW_ROUNDED(T, N, rn, porter::Rounding::NEAREST) \
    PORTER_NARROW_ROUNDED(T, N, rz, porter::Rounding::ZERO) \
    PORTER_NARROW_ROUNDED(T, N, ru, porter::Rounding::UP) \
    PORTER_NARROW_ROUNDED(T, N, rd, porter::Rounding::DOWN) \
    inline T __float2##N(porter::Float x) { return T(x); } \
    inline T __double2##N(double x) { return T(x); } \
    inline porter::Float __##N##2float(T x) { return float(x); } \
    inline T2 make_##N##2(T x, T y) { return {x, y}; } \
    inline T2 __halves2##N##2(T x, T y) { return {x, y}; } \
    inline T2 __##N##2##N##2(T x) { return {x, x}; } \
    inline T2 __float2##N##2_rn(porter::Float x) { return {T(x), T(x)}; } \
    inline T2 __floats2##N##2_rn(porter::Float x, porter::Float y) { return {T(x), T(y)}; } \
    inline T2 __float22##N##2_rn(float2 v) { return {T(v.x), T(v.y)}; } \
    inline float2 __##N##22float2(T2 v) { return {float(v.x), float(v.y)}; } \
    inline T __low2##N(T2 v) { return v.x; } \
    inline T __high2##N(T2 v) { return v.y; } \
    inline T2 __low2##N##2(T2 v) { return {v.x, v.x}; } \
    inline T2 __high2##N##2(T2 v) { return {v.y, v.y}; } \
    inline T2 __lows2##N##2(T2 a, T2 b) { return {a.x, b.x}; } \
    inline T2 __highs2##N##2(T2 a, T2 b) { return {a.y, b.y}; } \
    inline short __##N##_as_short(T x) { return short(x.__x); } \
    inline unsigned short __##N##_as_ushort(T x) { return x.__x; } \
    inline T __short_as_##N(short bits) { return T::from_bits((unsigned short)bits); } \
    inline T __ushort_as_##N(unsigned short bits) { return T::from_bits(bits); }

// The members of numeric_limits that differ between the two types.
#define PORTER_NARROW_LIMITS(T, significand_bits, smallest, lowest_bits, largest, unit, smallest_subnormal, infinite) \
    template <> \
    struct std::numeric_limits<T> { \
        static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false; \
        static constexpr bool has_infinity = true, has_quiet_NaN = true, is_bounded = true, is_iec559 = true; \
        static constexpr int digits = significand_bits, radix = 2; \
        static constexpr T min() { return T::from_bits(smallest); } \
        static constexpr T lowest() { return T::from_bits(lowest_bits); } \
        static constexpr T max() { return T::from_bits(largest); } \
        static constexpr T epsilon() { return T::from_bits(unit); } \
        static constexpr T denorm_min() { return T::from_bits(smallest_subnormal); } \
        static constexpr T infinity() { return T::from_bits(infinite); } \
        static constexpr T quiet_NaN() { return T::from_bits(0x7fff); } \
    };
