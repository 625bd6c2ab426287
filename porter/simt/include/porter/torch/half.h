// c10::Half and c10::BFloat16: torch's 16-bit floats, bit-compatible with CUDA's and convertible to and from them.
//
// Unlike CUDA's types they mix with every arithmetic type: with float and double the result is that type, with integers
// it is the narrow type.
#pragma once

#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

#include "porter/bfloat16.h"
#include "porter/half.h"
#include "porter/precision.h"

#define PORTER_TORCH_NARROW(Name, Native) \
    struct alignas(2) Name { \
        std::uint16_t x; \
        struct from_bits_t {}; \
        static constexpr from_bits_t from_bits() { return {}; } \
        Name() = default; \
        constexpr Name(std::uint16_t bits, from_bits_t) : x(bits) {} \
        Name(porter::Float value) : x(porter::bit_cast<std::uint16_t>(Native(value))) {} \
        Name(const Native& value) : x(porter::bit_cast<std::uint16_t>(value)) {} \
        operator porter::Float() const { return porter::Float(float(porter::bit_cast<Native>(x))); } \
        operator Native() const { return porter::bit_cast<Native>(x); } \
    }; \
    inline Name operator-(const Name& a) { return Name(std::uint16_t(a.x ^ 0x8000u), Name::from_bits()); } \
    PORTER_TORCH_NARROW_OPERATOR(Name, +) \
    PORTER_TORCH_NARROW_OPERATOR(Name, -) \
    PORTER_TORCH_NARROW_OPERATOR(Name, *) \
    PORTER_TORCH_NARROW_OPERATOR(Name, /) \
    PORTER_TORCH_NARROW_COMPARISON(Name, ==) \
    PORTER_TORCH_NARROW_COMPARISON(Name, !=) \
    PORTER_TORCH_NARROW_COMPARISON(Name, <) \
    PORTER_TORCH_NARROW_COMPARISON(Name, >) \
    PORTER_TORCH_NARROW_COMPARISON(Name, <=) \
    PORTER_TORCH_NARROW_COMPARISON(Name, >=) \
    inline std::ostream& operator<<(std::ostream& stream, const Name& a) { return stream << porter::Float(a); }

// The operand's type decides the result: floating point is kept, an integer becomes the narrow type.
#define PORTER_TORCH_NARROW_OPERATOR(Name, op) \
    inline Name operator op(const Name& a, const Name& b) { return Name(porter::Float(a) op porter::Float(b)); } \
    inline Name& operator op##=(Name& a, const Name& b) { return a = a op b; } \
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> \
    inline auto operator op(const Name& a, T b) { \
        if constexpr (std::is_floating_point_v<T>) return static_cast<T>(a) op b; \
        else return a op Name(static_cast<porter::Float>(b)); \
    } \
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> \
    inline auto operator op(T a, const Name& b) { \
        if constexpr (std::is_floating_point_v<T>) return a op static_cast<T>(b); \
        else return Name(static_cast<porter::Float>(a)) op b; \
    } \
    template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0> \
    inline T& operator op##=(T& a, const Name& b) { \
        return a = a op static_cast<T>(b); \
    }
#define PORTER_TORCH_NARROW_COMPARISON(Name, op) \
    inline bool operator op(const Name& a, const Name& b) { return porter::Float(a) op porter::Float(b); } \
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> \
    inline bool operator op(const Name& a, T b) { \
        return porter::Float(a) op b; \
    } \
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> \
    inline bool operator op(T a, const Name& b) { \
        return a op porter::Float(b); \
    }

namespace c10 {
PORTER_TORCH_NARROW(Half, __half)
PORTER_TORCH_NARROW(BFloat16, __nv_bfloat16)
}  // namespace c10

#undef PORTER_TORCH_NARROW_COMPARISON
#undef PORTER_TORCH_NARROW_OPERATOR
#undef PORTER_TORCH_NARROW

#define PORTER_TORCH_NARROW_LIMITS(Name, significand, lowest_bits, min_bits, max_bits, epsilon_bits, denormal_bits, \
                                   infinity_bits, nan_bits, exponent) \
    template <> class numeric_limits<Name> { \
    public: \
        static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false; \
        static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true; \
        static constexpr bool is_iec559 = false, is_bounded = true, is_modulo = false; \
        static constexpr int digits = significand, radix = 2, max_exponent = exponent, min_exponent = 3 - exponent; \
        static constexpr Name make(uint16_t bits) { return Name(bits, Name::from_bits()); } \
        static constexpr Name min() { return make(min_bits); } \
        static constexpr Name lowest() { return make(lowest_bits); } \
        static constexpr Name max() { return make(max_bits); } \
        static constexpr Name epsilon() { return make(epsilon_bits); } \
        static constexpr Name infinity() { return make(infinity_bits); } \
        static constexpr Name quiet_NaN() { return make(nan_bits); } \
        static constexpr Name denorm_min() { return make(denormal_bits); } \
    };

namespace std {
PORTER_TORCH_NARROW_LIMITS(c10::Half, 11, 0xfbff, 0x0400, 0x7bff, 0x1400, 0x0001, 0x7c00, 0x7e00, 16)
PORTER_TORCH_NARROW_LIMITS(c10::BFloat16, 8, 0xff7f, 0x0080, 0x7f7f, 0x3c00, 0x0001, 0x7f80, 0x7fc0, 128)
}  // namespace std

#undef PORTER_TORCH_NARROW_LIMITS
