// cuComplex: complex numbers as pairs, with the functions of <cuComplex.h>.
#pragma once

#include "porter/math_fast.h"
#include "porter/vector_types.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

#define PORTER_COMPLEX(C, R, suffix, Part) \
    inline C make_##C(R re, R im) { return {re, im}; } \
    inline R cuCreal##suffix(C z) { return z.x; } \
    inline R cuCimag##suffix(C z) { return z.y; } \
    inline C cuConj##suffix(C z) { return {z.x, -z.y}; } \
    inline C cuCadd##suffix(C a, C b) { return {a.x + b.x, a.y + b.y}; } \
    inline C cuCsub##suffix(C a, C b) { return {a.x - b.x, a.y - b.y}; } \
    inline C cuCmul##suffix(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
    inline C cuCfma##suffix(C a, C b, C c) { return cuCadd##suffix(cuCmul##suffix(a, b), c); } \
    inline R cuCabs##suffix(C z) { return std::hypot(z.x, z.y); } \
    /* Scaled by the divisor's size, so that its square cannot overflow. */ \
    inline C cuCdiv##suffix(C a, C b) { \
        const R scale = R(1) / (std::fabs(b.x) + std::fabs(b.y)); \
        const C n = {a.x * scale, a.y * scale}, d = {b.x * scale, b.y * scale}; \
        const R inverse = R(1) / (d.x * d.x + d.y * d.y); \
        return {(n.x * d.x + n.y * d.y) * inverse, (n.y * d.x - n.x * d.y) * inverse}; \
    }
PORTER_COMPLEX(cuFloatComplex, porter::Float, f, float)
PORTER_COMPLEX(cuDoubleComplex, double, , double)
#undef PORTER_COMPLEX
inline cuComplex make_cuComplex(porter::Float re, porter::Float im) { return {re, im}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return {porter::Float(z.x), porter::Float(z.y)}; }
