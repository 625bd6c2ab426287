// CUDA's math functions beyond C's: single precision has the suffix f, and each name is overloaded for float as in CUDA.
//
// The C functions (expf, fmaf, erff, fminf, ...) are the C library's, whose NaN and signed-zero rules are CUDA's too.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <cmath>
#include <limits>

#include "porter/precision.h"

namespace porter {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kSqrtHalf = 0.70710678118654752440;

// Reducing to [-1, 1] first keeps sinpi(x) exactly zero at integers, which sin(pi * x) is not.
inline double sinpi(double x) {
    const double r = std::remainder(x, 2.0);
    if (r == std::trunc(r)) return std::copysign(0.0, x);
    return std::fabs(r) <= 0.25 ? std::sin(kPi * r) : std::copysign(std::cos(kPi * (0.5 - std::fabs(r))), r);
}
inline double cospi(double x) {
    const double r = std::fabs(std::remainder(x, 2.0));
    return r == 0.5 ? 0.0 : r < 0.25 ? std::cos(kPi * r) : std::sin(kPi * (0.5 - r));
}

// M. Giles' single-precision approximation of erfinv(x) for x = 1 - y: the start of the iterations below.
inline double erfinv_estimate(double x, double y) {
    double w = -std::log(y * (2.0 - y)), p;
    if (w < 5.0) {
        w -= 2.5;
        p = 2.81022636e-08;
        for (double c : {3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
                         0.246640727, 1.50140941})
            p = c + p * w;
    } else {
        w = std::sqrt(w) - 3.0;
        p = -0.000200214257;
        for (double c : {0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
                         1.00167406, 2.83297682})
            p = c + p * w;
    }
    return p * x;
}
// Halley's steps on erfc, which keeps its digits where 1 - x would have none.
inline double erfcinv(double y) {
    if (!(y >= 0.0 && y <= 2.0)) return std::numeric_limits<double>::quiet_NaN();
    if (y == 0.0 || y == 2.0) return (y == 0.0 ? 1 : -1) * std::numeric_limits<double>::infinity();
    if (y > 1.0) return -erfcinv(2.0 - y);
    double z = erfinv_estimate(1.0 - y, y);
    for (int step = 0; step < 4; ++step) {
        const double slope = 2.0 / std::sqrt(kPi) * std::exp(-z * z), error = std::erfc(z) - y;
        if (slope == 0.0 || error == 0.0) break;
        z += error / (slope - z * error);
    }
    return z;
}
inline double erfinv(double x) {
    if (std::fabs(x) >= 0.5 || x != x) return std::copysign(erfcinv(1.0 - std::fabs(x)), x);
    double z = erfinv_estimate(x, 1.0 - x);
    for (int step = 0; step < 3; ++step) z -= (std::erf(z) - x) / (2.0 / std::sqrt(kPi) * std::exp(-z * z));
    return x == 0.0 ? x : z;
}
inline double erfcx(double x) {
    if (x < 25.0) return std::exp(x * x) * std::erfc(x);
    double series = 1.0;  // the asymptotic one; its ninth term is below 1e-20 here
    for (int odd = 15; odd > 0; odd -= 2) series = 1.0 - 0.5 * odd / (x * x) * series;
    return series / (x * std::sqrt(kPi));
}
inline double normcdf(double x) { return 0.5 * std::erfc(-x * kSqrtHalf); }
inline double normcdfinv(double p) { return -erfcinv(2.0 * p) / kSqrtHalf; }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline double rhypot(double x, double y) { return 1.0 / std::hypot(x, y); }
inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline double norm4d(double x, double y, double z, double w) { return std::hypot(std::hypot(x, y), std::hypot(z, w)); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
inline double cyl_bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); }

}  // namespace porter

// Evaluated in double and rounded once: what the device library aims for within an ulp or two.
#define PORTER_MATH1(name) \
    inline double name(double x) { return porter::name(x); } \
    inline float name(float x) { return float(porter::name(double(x))); } \
    inline porter::Float name##f(porter::Float x) { return porter::Float(porter::name(double(x))); }
PORTER_MATH1(sinpi)
PORTER_MATH1(cospi)
PORTER_MATH1(erfinv)
PORTER_MATH1(erfcinv)
PORTER_MATH1(erfcx)
PORTER_MATH1(normcdf)
PORTER_MATH1(normcdfinv)
PORTER_MATH1(rsqrt)
PORTER_MATH1(rcbrt)
PORTER_MATH1(cyl_bessel_i0)
PORTER_MATH1(cyl_bessel_i1)
#undef PORTER_MATH1

#define PORTER_UNPACK(...) __VA_ARGS__
#define PORTER_MATHN(name, doubles, floats, arguments) \
    inline double name(PORTER_UNPACK doubles) { return porter::name arguments; } \
    inline porter::Float name##f(PORTER_UNPACK floats) { return porter::Float(porter::name arguments); }
PORTER_MATHN(rhypot, (double x, double y), (porter::Float x, porter::Float y), (x, y))
PORTER_MATHN(norm3d, (double x, double y, double z), (porter::Float x, porter::Float y, porter::Float z), (x, y, z))
PORTER_MATHN(rnorm3d, (double x, double y, double z), (porter::Float x, porter::Float y, porter::Float z), (x, y, z))
PORTER_MATHN(norm4d, (double x, double y, double z, double w),
             (porter::Float x, porter::Float y, porter::Float z, porter::Float w), (x, y, z, w))
PORTER_MATHN(rnorm4d, (double x, double y, double z, double w),
             (porter::Float x, porter::Float y, porter::Float z, porter::Float w), (x, y, z, w))
#undef PORTER_MATHN
#undef PORTER_UNPACK

inline void sincospi(double x, double* sine, double* cosine) { *sine = sinpi(x), *cosine = cospi(x); }
inline void sincospif(porter::Float x, porter::Float* sine, porter::Float* cosine) { *sine = sinpif(x), *cosine = cospif(x); }
inline double norm(int n, const double* x) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    return std::sqrt(sum);
}
inline double rnorm(int n, const double* x) { return 1.0 / norm(n, x); }
inline porter::Float normf(int n, const porter::Float* x) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += double(x[i]) * x[i];
    return porter::Float(std::sqrt(sum));
}
inline porter::Float rnormf(int n, const porter::Float* x) { return 1 / normf(n, x); }
inline porter::Float fdividef(porter::Float x, porter::Float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline float exp10(float x) { return exp10f(x); }
