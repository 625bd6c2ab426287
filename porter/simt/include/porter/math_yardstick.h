// A double-precision build calls `expf` with doubles: these overloads answer in double.
//
// They are templates for calls that mix a double with literals (`powf(x, 2)`, `fmaxf(x, 0.0f)`); a call without any
// double keeps the C library's function.
#pragma once

#include "porter/math.h"

#if PORTER_DOUBLE_PRECISION
namespace porter {

template <class... A>
using IfDouble = std::enable_if_t<(std::is_arithmetic_v<A> && ...) && (std::is_same_v<A, double> || ...), double>;

}  // namespace porter

#define PORTER_WIDEN(name) \
    template <class... A> \
    inline porter::IfDouble<A...> name##f(A... arguments) { \
        return ::name(double(arguments)...); \
    }
PORTER_WIDEN(acos)
PORTER_WIDEN(acosh)
PORTER_WIDEN(asin)
PORTER_WIDEN(asinh)
PORTER_WIDEN(atan)
PORTER_WIDEN(atan2)
PORTER_WIDEN(atanh)
PORTER_WIDEN(cbrt)
PORTER_WIDEN(ceil)
PORTER_WIDEN(copysign)
PORTER_WIDEN(cos)
PORTER_WIDEN(cosh)
PORTER_WIDEN(erf)
PORTER_WIDEN(erfc)
PORTER_WIDEN(exp)
PORTER_WIDEN(exp2)
PORTER_WIDEN(exp10)
PORTER_WIDEN(expm1)
PORTER_WIDEN(fabs)
PORTER_WIDEN(fdim)
PORTER_WIDEN(floor)
PORTER_WIDEN(fma)
PORTER_WIDEN(fmax)
PORTER_WIDEN(fmin)
PORTER_WIDEN(fmod)
PORTER_WIDEN(hypot)
PORTER_WIDEN(j0)
PORTER_WIDEN(j1)
PORTER_WIDEN(lgamma)
PORTER_WIDEN(log)
PORTER_WIDEN(log10)
PORTER_WIDEN(log1p)
PORTER_WIDEN(log2)
PORTER_WIDEN(logb)
PORTER_WIDEN(nearbyint)
PORTER_WIDEN(nextafter)
PORTER_WIDEN(pow)
PORTER_WIDEN(remainder)
PORTER_WIDEN(rint)
PORTER_WIDEN(round)
PORTER_WIDEN(sin)
PORTER_WIDEN(sinh)
PORTER_WIDEN(sqrt)
PORTER_WIDEN(tan)
PORTER_WIDEN(tanh)
PORTER_WIDEN(tgamma)
PORTER_WIDEN(trunc)
PORTER_WIDEN(y0)
PORTER_WIDEN(y1)
#undef PORTER_WIDEN

inline void sincosf(double x, double* sine, double* cosine) { *sine = std::sin(x), *cosine = std::cos(x); }
inline double frexpf(double x, int* exponent) { return std::frexp(x, exponent); }
inline double ldexpf(double x, int exponent) { return std::ldexp(x, exponent); }
inline double scalbnf(double x, int exponent) { return std::scalbn(x, exponent); }
inline double modff(double x, double* whole) { return std::modf(x, whole); }
inline long lrintf(double x) { return std::lrint(x); }
inline long lroundf(double x) { return std::lround(x); }
inline long long llrintf(double x) { return std::llrint(x); }
inline long long llroundf(double x) { return std::llround(x); }
inline int ilogbf(double x) { return std::ilogb(x); }
#endif
