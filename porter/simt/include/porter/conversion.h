// CUDA's conversions between integers and floats with an explicit rounding mode, and reinterpretations of their bits.
#pragma once

#include "porter/math_fast.h"
#include "porter/vector_types.h"

namespace porter {

// To an integer: rounds as asked, and saturates at the ends of the range, where C++ has no answer. NaN becomes zero, but of a
// double or with 64 bits the highest bit alone.
template <Rounding mode, class Integer, bool is_double, class Real>
inline Integer to_integer(Real x) {
    constexpr bool TO_ZERO = !is_double && sizeof(Integer) <= 4;
    if (x != x) return TO_ZERO ? Integer(0) : Integer(1ull << (8 * sizeof(Integer) - 1));
    Real whole = std::nearbyint(x);
    if constexpr (mode == Rounding::ZERO) whole = std::trunc(x);
    if constexpr (mode == Rounding::UP) whole = std::ceil(x);
    if constexpr (mode == Rounding::DOWN) whole = std::floor(x);
    constexpr Integer low = std::numeric_limits<Integer>::min(), high = std::numeric_limits<Integer>::max();
    if (whole <= Real(low)) return low;
    return whole >= Real(high) ? high : Integer(whole);
}

// From an integer, whose exact difference to the nearest Real fits 128 bits.
template <Rounding mode, class Real, class Integer>
inline Real from_integer(Integer x) {
    const Real nearest = Real(x);
    const __int128 residual = __int128(x) - __int128(nearest);
    return directed<mode>(nearest, Real((residual > 0) - (residual < 0)));
}

template <Rounding mode>
inline float narrow(double x) {
    const float nearest = float(x);
    const double residual = x - nearest;
    return directed<mode>(nearest, float((residual > 0) - (residual < 0)));
}

}  // namespace porter

#define PORTER_CONVERT_INTEGER(name, Integer, suffix, mode) \
    inline Integer __float2##name##_##suffix(porter::Float x) { return porter::to_integer<mode, Integer, false>(x); } \
    inline Integer __double2##name##_##suffix(double x) { return porter::to_integer<mode, Integer, true>(x); } \
    inline porter::Float __##name##2float_##suffix(Integer x) { return porter::from_integer<mode, porter::Float>(x); } \
    inline double __##name##2double_##suffix(Integer x) { return porter::from_integer<mode, double>(x); }
#define PORTER_CONVERT(suffix, mode) \
    PORTER_CONVERT_INTEGER(int, int, suffix, mode) \
    PORTER_CONVERT_INTEGER(uint, unsigned int, suffix, mode) \
    PORTER_CONVERT_INTEGER(ll, long long, suffix, mode) \
    PORTER_CONVERT_INTEGER(ull, unsigned long long, suffix, mode) \
    inline porter::Float __double2float_##suffix(double x) { \
        return sizeof(porter::Float) == sizeof(double) ? porter::Float(x) : porter::Float(porter::narrow<mode>(x)); \
    }
PORTER_CONVERT(rn, porter::Rounding::NEAREST)
PORTER_CONVERT(rz, porter::Rounding::ZERO)
PORTER_CONVERT(ru, porter::Rounding::UP)
PORTER_CONVERT(rd, porter::Rounding::DOWN)
#undef PORTER_CONVERT
#undef PORTER_CONVERT_INTEGER

// A float's bits are always the 32 of single precision, in a double-precision build too.
inline int __float_as_int(porter::Float x) { return porter::bit_cast<int>(float(x)); }
inline unsigned int __float_as_uint(porter::Float x) { return porter::bit_cast<unsigned int>(float(x)); }
inline porter::Float __int_as_float(int x) { return porter::bit_cast<float>(x); }
inline porter::Float __uint_as_float(unsigned int x) { return porter::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return porter::bit_cast<long long>(x); }
inline unsigned long long __double_as_ulonglong(double x) { return porter::bit_cast<unsigned long long>(x); }
inline double __longlong_as_double(long long x) { return porter::bit_cast<double>(x); }
inline double __ulonglong_as_double(unsigned long long x) { return porter::bit_cast<double>(x); }
inline int __double2hiint(double x) { return int(porter::bit_cast<long long>(x) >> 32); }
inline int __double2loint(double x) { return int(porter::bit_cast<long long>(x)); }
inline double __hiloint2double(int high, int low) {
    return porter::bit_cast<double>((unsigned long long)(unsigned int)high << 32 | (unsigned int)low);
}

// The short names of <device_functions.h>, kept by old programs.
inline int float_as_int(porter::Float x) { return __float_as_int(x); }
inline porter::Float int_as_float(int x) { return __int_as_float(x); }
inline int float2int(porter::Float x) { return __float2int_rz(x); }
inline porter::Float saturate(porter::Float x) { return __saturatef(x); }
