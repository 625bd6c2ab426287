// The element-wise operations, as lists: each becomes a method, an in-place method, a function and an out variant.
#pragma once

// One operand. REAL: integers become the default float type. SAME: the type is kept. PREDICATE: the result is bool.
#define PORTER_TORCH_UNARY_REAL(_) \
    _(exp) _(exp2) _(expm1) _(log) _(log2) _(log10) _(log1p) _(sqrt) _(rsqrt) _(reciprocal) _(sigmoid) _(tanh) _(sin) \
    _(cos) _(tan) _(sinh) _(cosh) _(asin) _(acos) _(atan) _(erf) _(erfc) _(silu)
#define PORTER_TORCH_UNARY_SAME(_) _(abs) _(neg) _(sign) _(square) _(relu) _(ceil) _(floor) _(round) _(trunc)
#define PORTER_TORCH_UNARY_PREDICATE(_) _(isnan) _(isinf) _(isfinite) _(logical_not)

// Two operands, broadcast, in their promoted type. PREDICATE: the result is bool.
#define PORTER_TORCH_BINARY_SAME(_) \
    _(mul) _(pow) _(fmod) _(remainder) _(maximum) _(minimum) _(bitwise_and) _(bitwise_or) _(bitwise_xor)
#define PORTER_TORCH_BINARY_REAL(_) _(div) _(atan2)
#define PORTER_TORCH_BINARY_PREDICATE(_) _(eq) _(ne) _(lt) _(le) _(gt) _(ge) _(logical_and) _(logical_or) _(logical_xor)

#define PORTER_TORCH_UNARY(_) PORTER_TORCH_UNARY_REAL(_) PORTER_TORCH_UNARY_SAME(_) PORTER_TORCH_UNARY_PREDICATE(_)
#define PORTER_TORCH_BINARY(_) PORTER_TORCH_BINARY_SAME(_) PORTER_TORCH_BINARY_REAL(_) PORTER_TORCH_BINARY_PREDICATE(_)
