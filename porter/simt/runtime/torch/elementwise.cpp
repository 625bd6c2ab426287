// Element-wise arithmetic with broadcasting and type promotion.
#include <cmath>

#include "loops.h"
#include "scalar_functions.h"
#include "steps.h"

namespace at {

namespace detail {

namespace {

enum class Result { REAL, SAME, PREDICATE };

Result result_kind(Unary operation) {
    switch (operation) {
#define PORTER_CASE(name) case Unary::name:
        PORTER_TORCH_UNARY_REAL(PORTER_CASE) return Result::REAL;
        PORTER_TORCH_UNARY_SAME(PORTER_CASE) return Result::SAME;
        PORTER_TORCH_UNARY_PREDICATE(PORTER_CASE) return Result::PREDICATE;
#undef PORTER_CASE
    }
    __builtin_unreachable();
}

Result result_kind(Binary operation) {
    switch (operation) {
#define PORTER_CASE(name) case Binary::name:
        PORTER_TORCH_BINARY_REAL(PORTER_CASE) return Result::REAL;
        PORTER_TORCH_BINARY_PREDICATE(PORTER_CASE) return Result::PREDICATE;
        PORTER_TORCH_BINARY_SAME(PORTER_CASE) case Binary::add: case Binary::sub:
        case Binary::div_floor: case Binary::div_trunc: return Result::SAME;
#undef PORTER_CASE
    }
    __builtin_unreachable();
}

ScalarType computed_type(Result kind, ScalarType common) {
    return kind == Result::REAL && !isFloatingType(common) ? kFloat : common;
}

// The operand as the operation sees it: in the common type, except that a number beside 16-bit floats stays a float.
Tensor as_operand(const Tensor& x, ScalarType common) {
    return x.to(x.impl()->wrapped_number && isReducedFloatingType(common) ? kFloat : common);
}

template <class N, class Function>
void apply(const Tensor& out, const Tensor& a, const Tensor& b, Function function) {
    const auto load_a = loader<N>(a.scalar_type()), load_b = loader<N>(b.scalar_type());
    const auto store = storer<N>(out.scalar_type());
    walk(out.sizes(), {operand(out), operand(a.expand(out.sizes())), operand(b.expand(out.sizes()))},
         [&](char* const* at) { store(at[0], function(load_a(at[1]), load_b(at[2]))); });
}

template <class N, class Function>
void apply(const Tensor& out, const Tensor& x, Function function) {
    const auto load = loader<N>(x.scalar_type());
    const auto store = storer<N>(out.scalar_type());
    walk(out.sizes(), {operand(out), operand(x)}, [&](char* const* at) { store(at[0], function(load(at[1]))); });
}

template <Unary operation>
void apply_unary(TensorList out, TensorList in, Numbers) {
    const ScalarType type = computed_type(result_kind(operation), in[0].scalar_type());
    if (computes_in_double(type)) apply<double>(out[0], in[0], real_function(operation));
    else apply<std::int64_t>(out[0], in[0], whole_function(operation));
    wrote(out[0]);
}

// Both operands are of one kind already.
template <Binary operation>
void apply_binary(TensorList out, TensorList in, Numbers) {
    if (computes_in_double(in[0].scalar_type())) apply<double>(out[0], in[0], in[1], real_function(operation));
    else apply<std::int64_t>(out[0], in[0], in[1], whole_function(operation));
    wrote(out[0]);
}

// In the order of the enumerations.
#define PORTER_STEP_OF(name) {#name, apply_unary<Unary::name>},
constexpr Step unary_steps[] = {PORTER_TORCH_UNARY(PORTER_STEP_OF)};
#undef PORTER_STEP_OF
#define PORTER_STEP_OF(name) {#name, apply_binary<Binary::name>},
constexpr Step binary_steps[] = {PORTER_STEP_OF(add) PORTER_STEP_OF(sub) PORTER_STEP_OF(div_floor) PORTER_STEP_OF(div_trunc)
                                     PORTER_TORCH_BINARY(PORTER_STEP_OF)};
#undef PORTER_STEP_OF
const Known known_unary(unary_steps), known_binary(binary_steps);

void compute(Unary operation, const Tensor& x, const Tensor& out) {
    unary_steps[static_cast<std::size_t>(operation)]({out}, {x});
}

void compute(Binary operation, const Tensor& a, const Tensor& b, ScalarType type, const Tensor& out) {
    binary_steps[static_cast<std::size_t>(operation)]({out}, {as_operand(a, type), as_operand(b, type)});
}

void check_defined_for(Binary operation, const Tensor& a, const Tensor& b) {
    TORCH_CHECK(operation != Binary::sub || (a.scalar_type() != kBool && b.scalar_type() != kBool),
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a "
                "mask, use the "
                "`~` or `logical_not()` operator instead.");
}

void check_cast(ScalarType from, const Tensor& out) {
    TORCH_CHECK(canCast(from, out.scalar_type()), "result type ", from, " can't be cast to the desired output type ",
                out.scalar_type());
}

}  // namespace

Tensor unary(Unary operation, const Tensor& x) {
    const Result kind = result_kind(operation);
    const ScalarType type = computed_type(kind, x.scalar_type());
    Tensor out = result_of(x, x.sizes(), kind == Result::PREDICATE ? kBool : type);
    return compute(operation, x, out), out;
}

Tensor& unary_into(Unary operation, const Tensor& x, Tensor& out) {
    const Result kind = result_kind(operation);
    const ScalarType type = computed_type(kind, x.scalar_type());
    check_cast(kind == Result::PREDICATE ? kBool : type, out);
    return compute(operation, x, resize_output(out, x.sizes())), out;
}

Tensor binary(Binary operation, const Tensor& a, const Tensor& b) {
    check_defined_for(operation, a, b);
    const Result kind = result_kind(operation);
    const ScalarType type = computed_type(kind, result_type({a, b}));
    Tensor out = result_of({a, b}, broadcast_sizes({a, b}), kind == Result::PREDICATE ? kBool : type);
    return compute(operation, a, b, type, out), out;
}

Tensor& binary_into(Binary operation, const Tensor& a, const Tensor& b, Tensor& out) {
    check_defined_for(operation, a, b);
    const Result kind = result_kind(operation);
    const ScalarType type = computed_type(kind, result_type({a, b}));
    const DimVector sizes = broadcast_sizes({a, b});
    check_cast(kind == Result::PREDICATE ? kBool : type, out);
    TORCH_CHECK(!out.is_same(a) || out.sizes() == IntArrayRef(sizes), "output with shape ", out.sizes(),
                " doesn't match the broadcast shape ", IntArrayRef(sizes));
    common_device({a, b, out});
    return compute(operation, a, b, type, resize_output(out, sizes)), out;
}

}  // namespace detail

namespace {

Tensor scaled(const Tensor& other, const Scalar& alpha) { return alpha.equal(1) ? other : other.mul(alpha); }

}  // namespace

#define PORTER_SUM(name) \
    Tensor Tensor::name(const Tensor& other, const Scalar& alpha) const { \
        return detail::binary(detail::Binary::name, *this, scaled(other, alpha)); \
    } \
    Tensor& Tensor::name##_(const Tensor& other, const Scalar& alpha) const { \
        return detail::binary_into(detail::Binary::name, *this, scaled(other, alpha), self()); \
    } \
    Tensor& name##_out(Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha) { \
        return detail::binary_into(detail::Binary::name, a, scaled(b, alpha), out); \
    }
PORTER_SUM(add)
PORTER_SUM(sub)
#undef PORTER_SUM

namespace {

detail::Binary division(std::optional<string_view> rounding_mode) {
    if (!rounding_mode) return detail::Binary::div;
    if (*rounding_mode == "floor") return detail::Binary::div_floor;
    TORCH_CHECK(*rounding_mode == "trunc",
                "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *rounding_mode, "'");
    return detail::Binary::div_trunc;
}

}  // namespace

Tensor Tensor::div(const Tensor& other, std::optional<string_view> rounding_mode) const {
    return detail::binary(division(rounding_mode), *this, other);
}
Tensor& Tensor::div_(const Tensor& other, std::optional<string_view> rounding_mode) const {
    return detail::binary_into(division(rounding_mode), *this, other, self());
}

Tensor Tensor::bitwise_not() const { return scalar_type() == kBool ? logical_not() : neg().sub(1); }

Tensor Tensor::clamp(const std::optional<Scalar>& low, const std::optional<Scalar>& high) const {
    TORCH_CHECK(low || high, "torch.clamp: At least one of 'min' or 'max' must not be None");
    Tensor result = *this;
    if (low) result = result.maximum(*low);
    return high ? result.minimum(*high) : result;
}

PORTER_STEP(where) {
    const std::size_t bytes = out[0].element_size();
    const auto operand = [&](const Tensor& tensor) { return detail::operand(tensor.expand(out[0].sizes())); };
    detail::walk(out[0].sizes(), {operand(out[0]), operand(in[0]), operand(in[1]), operand(in[2])},
                 [&](char* const* at) { __builtin_memcpy(at[0], *at[1] ? at[2] : at[3], bytes); });
    detail::wrote(out[0]);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
    TORCH_CHECK(condition.scalar_type() == kBool || condition.scalar_type() == kByte,
                "where expected condition to be a boolean tensor, but got a tensor with dtype ",
                condition.scalar_type());
    const ScalarType type = detail::result_type({a, b});
    const DimVector sizes = detail::broadcast_sizes({condition, a, b});
    const Tensor left = a.to(type), right = b.to(type);
    Tensor out = detail::result_of({condition, left, right}, sizes, type);
    where_step({out}, {condition, left, right});
    return out;
}
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const { return at::where(condition, *this, other); }

PORTER_STEP(gelu) {
    const bool tanh = numbers[0] != 0;
    detail::apply<double>(out[0], in[0], [tanh](double v) {
        return tanh ? 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)))
                    : 0.5 * v * (1 + std::erf(v * 0.7071067811865476));
    });
    detail::wrote(out[0]);
}

Tensor gelu(const Tensor& x, string_view approximate) {
    Tensor out = detail::result_of(x, x.sizes(), x.scalar_type());
    gelu_step({out}, {x}, {double(approximate == "tanh")});
    return out;
}

ScalarType result_type(const Tensor& a, const Tensor& b) { return detail::result_type({a, b}); }
ScalarType promote_types(ScalarType a, ScalarType b) { return promoteTypes(a, b); }

}  // namespace at
