// CUDA's single-precision intrinsics and the operations with an explicit rounding mode.
//
// The approximations (__expf, __sinf, ...) are computed accurately here: a port may not rest on the error of another
// device's special-function unit. Their domains are CUDA's: __powf of a negative base is NaN.
#pragma once

#include "porter/math.h"

inline porter::Float __expf(porter::Float x) { return std::exp(x); }
inline porter::Float __exp10f(porter::Float x) { return porter::Float(::exp10(x)); }
inline porter::Float __exp2f(porter::Float x) { return std::exp2(x); }
inline porter::Float __logf(porter::Float x) { return std::log(x); }
inline porter::Float __log2f(porter::Float x) { return std::log2(x); }
inline porter::Float __log10f(porter::Float x) { return std::log10(x); }
inline porter::Float __sinf(porter::Float x) { return std::sin(x); }
inline porter::Float __cosf(porter::Float x) { return std::cos(x); }
inline porter::Float __tanf(porter::Float x) { return std::tan(x); }
inline porter::Float __tanhf(porter::Float x) { return std::tanh(x); }
inline void __sincosf(porter::Float x, porter::Float* sine, porter::Float* cosine) { *sine = std::sin(x), *cosine = std::cos(x); }
inline porter::Float __powf(porter::Float x, porter::Float y) {
    return x < 0 ? std::numeric_limits<porter::Float>::quiet_NaN() : std::pow(x, y);
}
inline porter::Float __fdividef(porter::Float x, porter::Float y) { return x / y; }
inline porter::Float __saturatef(porter::Float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }  // NaN becomes 0
inline porter::Float __frsqrt_rn(porter::Float x) { return porter::Float(1.0 / std::sqrt(double(x))); }

namespace porter {

enum class Rounding { NEAREST, ZERO, UP, DOWN };

// The neighbour of `nearest` that `mode` asks for; `residual` has the sign of the exact value minus `nearest`.
template <Rounding mode, class T>
inline T directed(T nearest, T residual) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    if constexpr (mode == Rounding::ZERO)
        return nearest * residual < 0 || (residual != 0 && std::signbit(nearest) != std::signbit(residual))
                   ? std::nextafter(nearest, T(0)) : nearest;
    if constexpr (mode == Rounding::UP) return residual > 0 ? std::nextafter(nearest, infinity) : nearest;
    if constexpr (mode == Rounding::DOWN) return residual < 0 ? std::nextafter(nearest, -infinity) : nearest;
    return nearest;
}

template <Rounding mode, class T>
inline T rounded_add(T x, T y) {
    const T sum = x + y, back = sum - x;
    return directed<mode>(sum, (x - (sum - back)) + (y - back));
}
template <Rounding mode, class T>
inline T rounded_multiply(T x, T y) {
    return directed<mode>(x * y, std::fma(x, y, -(x * y)));
}
template <Rounding mode, class T>
inline T rounded_divide(T x, T y) {
    const T quotient = x / y;
    return directed<mode>(quotient, std::copysign(T(1), y) * std::fma(-quotient, y, x));
}
template <Rounding mode, class T>
inline T rounded_square_root(T x) {
    const T root = std::sqrt(x);
    return directed<mode>(root, std::fma(-root, root, x));
}
// x * y is exact in two parts; what the rounded sum leaves out has the residual's sign.
template <Rounding mode, class T>
inline T rounded_fma(T x, T y, T z) {
    const T result = std::fma(x, y, z), high = x * y, low = std::fma(x, y, -high);
    const T sum = high + z, back = sum - high, error = (high - (sum - back)) + (z - back);
    return directed<mode>(result, (sum - result) + (error + low));
}

}  // namespace porter

#define PORTER_ROUNDED(suffix, mode) \
    inline porter::Float __fadd_##suffix(porter::Float x, porter::Float y) { return porter::rounded_add<mode>(x, y); } \
    inline porter::Float __fsub_##suffix(porter::Float x, porter::Float y) { return porter::rounded_add<mode>(x, -y); } \
    inline porter::Float __fmul_##suffix(porter::Float x, porter::Float y) { return porter::rounded_multiply<mode>(x, y); } \
    inline porter::Float __fdiv_##suffix(porter::Float x, porter::Float y) { return porter::rounded_divide<mode>(x, y); } \
    inline porter::Float __frcp_##suffix(porter::Float x) { return porter::rounded_divide<mode>(porter::Float(1), x); } \
    inline porter::Float __fsqrt_##suffix(porter::Float x) { return porter::rounded_square_root<mode>(x); } \
    inline porter::Float __fmaf_##suffix(porter::Float x, porter::Float y, porter::Float z) { \
        return porter::rounded_fma<mode>(x, y, z); \
    } \
    inline porter::Float __fmaf_ieee_##suffix(porter::Float x, porter::Float y, porter::Float z) { \
        return porter::rounded_fma<mode>(x, y, z); \
    } \
    inline double __dadd_##suffix(double x, double y) { return porter::rounded_add<mode>(x, y); } \
    inline double __dsub_##suffix(double x, double y) { return porter::rounded_add<mode>(x, -y); } \
    inline double __dmul_##suffix(double x, double y) { return porter::rounded_multiply<mode>(x, y); } \
    inline double __ddiv_##suffix(double x, double y) { return porter::rounded_divide<mode>(x, y); } \
    inline double __drcp_##suffix(double x) { return porter::rounded_divide<mode>(1.0, x); } \
    inline double __dsqrt_##suffix(double x) { return porter::rounded_square_root<mode>(x); } \
    inline double __fma_##suffix(double x, double y, double z) { return porter::rounded_fma<mode>(x, y, z); }
PORTER_ROUNDED(rn, porter::Rounding::NEAREST)
PORTER_ROUNDED(rz, porter::Rounding::ZERO)
PORTER_ROUNDED(ru, porter::Rounding::UP)
PORTER_ROUNDED(rd, porter::Rounding::DOWN)
#undef PORTER_ROUNDED
