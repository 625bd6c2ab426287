// The 8-bit floats of <cuda_fp8.h>: e4m3 (no infinity, largest 448) and e5m2 (as IEEE, largest 57344).
#pragma once

#include "porter/bfloat16.h"

enum __nv_saturation_t { __NV_NOSAT = 0, __NV_SATFINITE = 1 };
enum __nv_fp8_interpretation_t { __NV_E4M3 = 0, __NV_E5M2 = 1 };
using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;

namespace porter {

template <int exponent_bits>
inline float float8_to_float(unsigned char bits) {
    constexpr int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1), mantissa = bits & ((1 << mantissa_bits) - 1);
    const float sign = bits & 0x80 ? -1.0f : 1.0f;
    const bool is_nan = exponent_bits == 4 ? (bits & 0x7f) == 0x7f : exponent == 31 && mantissa != 0;
    if (is_nan) return std::numeric_limits<float>::quiet_NaN();
    if (exponent_bits == 5 && exponent == 31) return sign * std::numeric_limits<float>::infinity();
    const int scale = exponent == 0 ? 1 - bias - mantissa_bits : exponent - bias - mantissa_bits;
    return sign * std::ldexp(float(exponent == 0 ? mantissa : mantissa | 1 << mantissa_bits), scale);
}

// Nearest even. Beyond the largest number: that number when saturating, else NaN (e4m3) or infinity (e5m2).
template <int exponent_bits>
inline unsigned char float_to_float8(double value, __nv_saturation_t saturate = __NV_SATFINITE) {
    constexpr int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    constexpr int largest = exponent_bits == 4 ? 0x7e : 0x7b;
    if (value != value) return 0x7f;
    const int sign = std::signbit(value) ? 0x80 : 0;
    const double magnitude = std::fabs(value);
    const int overflow = saturate == __NV_SATFINITE ? largest : exponent_bits == 4 ? 0x7f : 0x7c;
    if (std::isinf(magnitude)) return (unsigned char)(sign | overflow);
    int exponent = magnitude == 0 ? 1 - bias : std::ilogb(magnitude);
    if (exponent < 1 - bias) exponent = 1 - bias;
    const long steps = std::lrint(std::ldexp(magnitude, mantissa_bits - exponent));  // rounding may carry into the exponent
    const long bits = ((exponent + bias - 1L) << mantissa_bits) + steps;
    return (unsigned char)(sign | (bits > largest ? overflow : int(bits)));
}

}  // namespace porter

#define PORTER_FLOAT8(T, exponent_bits) \
    struct T { \
        __nv_fp8_storage_t __x; \
        T() = default; \
        T(float value) : __x(porter::float_to_float8<exponent_bits>(value)) {} \
        T(double value) : __x(porter::float_to_float8<exponent_bits>(value)) {} \
        T(__half value) : T(float(value)) {} \
        T(__nv_bfloat16 value) : T(float(value)) {} \
        template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0> \
        explicit T(Integer value) : T(double(value)) {} \
        explicit operator float() const { return porter::float8_to_float<exponent_bits>(__x); } \
        explicit operator double() const { return porter::float8_to_float<exponent_bits>(__x); } \
        explicit operator __half() const { return __half(float(*this)); } \
        explicit operator __nv_bfloat16() const { return __nv_bfloat16(float(*this)); } \
    };
PORTER_FLOAT8(__nv_fp8_e4m3, 4)
PORTER_FLOAT8(__nv_fp8_e5m2, 5)
#undef PORTER_FLOAT8

// Two or four in one word, the first in the lowest byte.
#define PORTER_FLOAT8_PACK(T, one, Storage, Vector, count) \
    struct alignas(count) T { \
        Storage __x; \
        T() = default; \
        T(Vector v) : __x(0) { \
            for (int i = 0; i < count; ++i) __x |= Storage(Storage(one((&v.x)[i]).__x) << (8 * i)); \
        } \
        explicit operator Vector() const { \
            Vector v; \
            for (int i = 0; i < count; ++i) { \
                one item; \
                item.__x = (unsigned char)(__x >> (8 * i)); \
                (&v.x)[i] = float(item); \
            } \
            return v; \
        } \
    };
PORTER_FLOAT8_PACK(__nv_fp8x2_e4m3, __nv_fp8_e4m3, __nv_fp8x2_storage_t, float2, 2)
PORTER_FLOAT8_PACK(__nv_fp8x2_e5m2, __nv_fp8_e5m2, __nv_fp8x2_storage_t, float2, 2)
PORTER_FLOAT8_PACK(__nv_fp8x4_e4m3, __nv_fp8_e4m3, __nv_fp8x4_storage_t, float4, 4)
PORTER_FLOAT8_PACK(__nv_fp8x4_e5m2, __nv_fp8_e5m2, __nv_fp8x4_storage_t, float4, 4)
#undef PORTER_FLOAT8_PACK

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return kind == __NV_E4M3 ? porter::float_to_float8<4>(x, saturate) : porter::float_to_float8<5>(x, saturate);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(x, saturate, kind);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(float(__half(x)), saturate, kind);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(float(__nv_bfloat16(x)), saturate, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_fp8x2_storage_t(__nv_cvt_double_to_fp8(v.x, saturate, kind) | __nv_cvt_double_to_fp8(v.y, saturate, kind) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind) {
    __half2 pair(v);
    return __nv_cvt_float2_to_fp8x2(make_float2(pair.x, pair.y), saturate, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t kind) {
    __nv_bfloat162 pair(v);
    return __nv_cvt_float2_to_fp8x2(make_float2(pair.x, pair.y), saturate, kind);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    return __half(kind == __NV_E4M3 ? porter::float8_to_float<4>(x) : porter::float8_to_float<5>(x));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
    return {__nv_cvt_fp8_to_halfraw((unsigned char)x, kind).x, __nv_cvt_fp8_to_halfraw((unsigned char)(x >> 8), kind).x};
}
