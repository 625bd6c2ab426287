#include "scalar_functions.h"

#include <cmath>

namespace at::detail {

namespace {

template <class N> N sign_of(N x) { return N((x > 0) - (x < 0)); }
// Clamps by comparison so that NaN passes through.
template <class N> N rectified(N x) { return x < 0 ? N(0) : x; }

std::int64_t whole_power(std::int64_t base, std::int64_t exponent) {
    TORCH_CHECK(exponent >= 0, "Integers to negative integer powers are not allowed.");
    std::int64_t result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base) {
        if (exponent & 1) result *= base;
    }
    return result;
}
std::int64_t nonzero_divisor(std::int64_t x) {
    TORCH_CHECK(x != 0, "ZeroDivisionError");
    return x;
}
double floored_remainder(double a, double b) {
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
std::int64_t floored_remainder(std::int64_t a, std::int64_t b) {
    const std::int64_t r = a % nonzero_divisor(b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
// The remainder is taken off first: a / b may round up to the next integer.
double floored_quotient(double a, double b) {
    if (b == 0) return a / b;
    return std::nearbyint((a - floored_remainder(a, b)) / b);
}

}  // namespace

UnaryFunction<double> real_function(Unary operation) {
    switch (operation) {
#define PORTER_CASE(name, expression) \
    case Unary::name: return [](double x) -> double { return expression; };
#define PORTER_STD(name) PORTER_CASE(name, std::name(x))
        PORTER_STD(exp) PORTER_STD(exp2) PORTER_STD(expm1) PORTER_STD(log) PORTER_STD(log2) PORTER_STD(log10)
        PORTER_STD(log1p) PORTER_STD(sqrt) PORTER_STD(tanh) PORTER_STD(sin) PORTER_STD(cos) PORTER_STD(tan)
        PORTER_STD(sinh) PORTER_STD(cosh) PORTER_STD(asin) PORTER_STD(acos) PORTER_STD(atan) PORTER_STD(erf)
        PORTER_STD(erfc) PORTER_STD(ceil) PORTER_STD(floor) PORTER_STD(trunc) PORTER_STD(isnan) PORTER_STD(isinf)
        PORTER_STD(isfinite)
        PORTER_CASE(rsqrt, 1 / std::sqrt(x))
        PORTER_CASE(reciprocal, 1 / x)
        PORTER_CASE(sigmoid, 1 / (1 + std::exp(-x)))
        PORTER_CASE(silu, x / (1 + std::exp(-x)))
        PORTER_CASE(abs, std::fabs(x))
        PORTER_CASE(neg, -x)
        PORTER_CASE(sign, sign_of(x))
        PORTER_CASE(square, x * x)
        PORTER_CASE(relu, rectified(x))
        PORTER_CASE(round, std::nearbyint(x))
        PORTER_CASE(logical_not, x == 0)
#undef PORTER_STD
#undef PORTER_CASE
    }
    __builtin_unreachable();
}

UnaryFunction<std::int64_t> whole_function(Unary operation) {
    switch (operation) {
#define PORTER_CASE(name, expression) \
    case Unary::name: return [](std::int64_t x) -> std::int64_t { return expression; };
        PORTER_CASE(abs, x < 0 ? -x : x)
        PORTER_CASE(neg, -x)
        PORTER_CASE(sign, sign_of(x))
        PORTER_CASE(square, x * x)
        PORTER_CASE(relu, rectified(x))
        PORTER_CASE(logical_not, x == 0)
        PORTER_CASE(isfinite, (static_cast<void>(x), 1))
        case Unary::isnan: case Unary::isinf: return [](std::int64_t) -> std::int64_t { return 0; };
#undef PORTER_CASE
        default: return [](std::int64_t x) { return x; };  // rounding
    }
}

// Operations written the same way for both kinds of number.
#define PORTER_SHARED_CASES(_) \
    _(add, a + b) _(sub, a - b) _(mul, a * b) _(remainder, floored_remainder(a, b)) \
    _(maximum, a != a ? a : b != b ? b : a < b ? b : a) _(minimum, a != a ? a : b != b ? b : b < a ? b : a) \
    _(eq, a == b) _(ne, a != b) _(lt, a < b) _(le, a <= b) _(gt, a > b) _(ge, a >= b) \
    _(logical_and, a && b) _(logical_or, a || b) _(logical_xor, !a != !b)

BinaryFunction<double> real_function(Binary operation) {
    switch (operation) {
#define PORTER_CASE(name, expression) \
    case Binary::name: return [](double a, double b) -> double { return expression; };
        PORTER_SHARED_CASES(PORTER_CASE)
        PORTER_CASE(div, a / b)
        PORTER_CASE(atan2, std::atan2(a, b))
        PORTER_CASE(pow, std::pow(a, b))
        PORTER_CASE(fmod, std::fmod(a, b))
        PORTER_CASE(div_floor, floored_quotient(a, b))
        PORTER_CASE(div_trunc, std::trunc(a / b))
#undef PORTER_CASE
        default: TORCH_CHECK(false, "bitwise operations are not defined for floating point");
    }
    __builtin_unreachable();
}

BinaryFunction<std::int64_t> whole_function(Binary operation) {
    switch (operation) {
#define PORTER_CASE(name, expression) \
    case Binary::name: return [](std::int64_t a, std::int64_t b) -> std::int64_t { return expression; };
        PORTER_SHARED_CASES(PORTER_CASE)
        PORTER_CASE(pow, whole_power(a, b))
        PORTER_CASE(fmod, a % nonzero_divisor(b))
        PORTER_CASE(div_floor, (a - floored_remainder(a, b)) / b)
        PORTER_CASE(div_trunc, a / nonzero_divisor(b))
        PORTER_CASE(bitwise_and, a & b)
        PORTER_CASE(bitwise_or, a | b)
        PORTER_CASE(bitwise_xor, a ^ b)
#undef PORTER_CASE
        default: __builtin_unreachable();  // div and atan2 compute in floating point
    }
}

}  // namespace at::detail
