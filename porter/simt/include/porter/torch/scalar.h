// c10::Scalar: a number that remembers whether it is a double, an integer or a bool.
#pragma once

#include "porter/torch/scalar_type.h"

namespace c10 {

class Scalar {
public:
    Scalar() : Scalar(std::int64_t(0)) {}
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    Scalar(T value) {
        if constexpr (std::is_same_v<T, bool>) type_ = kBool, whole_ = value;
        else if constexpr (std::is_integral_v<T>) type_ = kLong, whole_ = static_cast<std::int64_t>(value);
        else type_ = kDouble, real_ = static_cast<double>(value);
    }
    Scalar(Half value) : Scalar(static_cast<porter::Float>(value)) {}
    Scalar(BFloat16 value) : Scalar(static_cast<porter::Float>(value)) {}

    ScalarType type() const { return type_; }
    bool isFloatingPoint() const { return type_ == kDouble; }
    bool isIntegral(bool include_bool) const { return type_ == kLong || (include_bool && type_ == kBool); }
    bool isBoolean() const { return type_ == kBool; }
    bool isComplex() const { return false; }

    template <class T>
    T to() const {
        if constexpr (std::is_arithmetic_v<T>) {
            return isFloatingPoint() ? static_cast<T>(real_) : static_cast<T>(whole_);
        } else {
            return T(to<porter::Float>());
        }
    }
    double toDouble() const { return to<double>(); }
    porter::Float toFloat() const { return to<porter::Float>(); }
    int toInt() const { return to<int>(); }
    std::int64_t toLong() const { return to<std::int64_t>(); }
    std::int16_t toShort() const { return to<std::int16_t>(); }
    std::int8_t toChar() const { return to<std::int8_t>(); }
    std::uint8_t toByte() const { return to<std::uint8_t>(); }
    bool toBool() const { return to<bool>(); }
    Half toHalf() const { return to<Half>(); }
    BFloat16 toBFloat16() const { return to<BFloat16>(); }

    Scalar operator-() const { return isFloatingPoint() ? Scalar(-real_) : Scalar(-whole_); }
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    bool equal(T value) const {
        return isFloatingPoint() ? real_ == static_cast<double>(value) : whole_ == static_cast<std::int64_t>(value);
    }

private:
    ScalarType type_;
    std::int64_t whole_ = 0;
    double real_ = 0;
};

std::ostream& operator<<(std::ostream& stream, const Scalar& number);

}  // namespace c10
