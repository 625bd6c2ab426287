// Rounding to the 16-bit floats, from float or double, once.
//
// The bits are computed by integer arithmetic: no compiler or CPU support is needed, and NaN becomes the 0x7fff that
// CUDA produces.
#pragma once

#include "porter/chance.h"
#include "porter/math_fast.h"

namespace porter {

// Whether the significand `kept` grows by one, where the `dropped` bits behind it were `rest`, and `sticky` those behind
// them. In a yardstick the nearest is not certain, only likelier the nearer it is: such sums stray from the exact one
// as far as those of another order do, and what is exact stays so.
template <Rounding mode>
inline bool grows(std::uint32_t kept, std::uint32_t rest, int dropped, bool sticky, bool negative) {
    if constexpr (mode == Rounding::UP) return !negative && (rest || sticky);
    if constexpr (mode == Rounding::DOWN) return negative && (rest || sticky);
    if constexpr (mode == Rounding::ZERO) return false;
#if PORTER_DOUBLE_PRECISION
    return rest != 0 && (simt::chance() >> (32 - dropped)) < rest;
#endif
    const std::uint32_t tie = 1u << (dropped - 1);
    return rest > tie || (rest == tie && (sticky || (kept & 1u)));
}

inline float half_to_float(std::uint16_t bits) {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    // Moving the exponent by a multiplication also normalises the subnormals.
    return bit_cast<float>(sign | bit_cast<std::uint32_t>(bit_cast<float>(magnitude << 13) * 0x1p112f));
}

// `sticky` says that bits below the float's were dropped towards zero; it decides ties.
template <Rounding mode>
inline std::uint16_t float_to_half(float value, bool sticky = false) {
    const std::uint32_t bits = bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffffu;
    const std::uint16_t sign = std::uint16_t(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) return 0x7fff;
    const int exponent = int(magnitude >> 23) - 127;
    if (magnitude == 0x7f800000u) return sign | 0x7c00;
    const bool away = mode == Rounding::UP ? !sign : mode == Rounding::DOWN ? bool(sign) : false;
    if (exponent > 15) return sign | (mode == Rounding::NEAREST || away ? 0x7c00 : 0x7bff);
    if (exponent < -25) return sign | ((magnitude || sticky) && away ? 1 : 0);
    const int dropped = exponent < -14 ? -1 - exponent : 13;
    const std::uint32_t significand = exponent < -14 ? (magnitude & 0x7fffffu) | 0x800000u : magnitude - (112u << 23);
    const std::uint32_t kept = significand >> dropped, rest = significand & ((1u << dropped) - 1);
    return std::uint16_t(sign | (kept + grows<mode>(kept, rest, dropped, sticky, sign)));
}

inline float bfloat16_to_float(std::uint16_t bits) { return bit_cast<float>(std::uint32_t(bits) << 16); }

template <Rounding mode>
inline std::uint16_t float_to_bfloat16(float value, bool sticky = false) {
    const std::uint32_t bits = bit_cast<std::uint32_t>(value), rest = bits & 0xffffu, kept = bits >> 16;
    if (value != value) return 0x7fff;
    if ((bits & 0x7fffffffu) == 0x7f800000u) return std::uint16_t(kept);
    return std::uint16_t(kept + grows<mode>(kept, rest, 16, sticky, bits >> 31));
}

// A double on its way to 16 bits: the float towards zero, and whether anything was dropped.
struct Truncated {
    float value;
    bool sticky;
};
inline Truncated truncate(double x) {
    float value = float(x);
    if (std::fabs(double(value)) > std::fabs(x)) value = std::nextafter(value, 0.0f);
    return {value, double(value) != x && x == x};
}
// x * y + z for x and y of at most 12 significant bits: the product is exact in double, and the sum's error makes it odd.
inline double odd_fma(double x, double y, double z) {
    const double product = x * y, sum = product + z, back = sum - product;
    const double error = (product - (sum - back)) + (z - back);
    if (error == 0 || !std::isfinite(sum)) return sum;
    const double toward_zero = (error < 0) == (sum > 0) ? std::nextafter(sum, 0.0) : sum;
    return bit_cast<double>(bit_cast<std::uint64_t>(toward_zero) | 1u);
}

}  // namespace porter
