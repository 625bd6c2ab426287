// Element types: c10::ScalarType with torch's numbers, names, sizes and promotion, and caffe2::TypeMeta.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "porter/torch/error.h"
#include "porter/torch/half.h"

// Every type that tensors here can hold, with its C++ type. Double stands apart: where `float` is compiled as `double`,
// Float and Double have one C++ type.
#define PORTER_TORCH_SCALAR_TYPES(_) PORTER_TORCH_SCALAR_TYPES_BUT_DOUBLE(_) _(double, Double)
#define PORTER_TORCH_SCALAR_TYPES_BUT_DOUBLE(_) \
    _(std::uint8_t, Byte) \
    _(std::int8_t, Char) \
    _(std::int16_t, Short) \
    _(int, Int) \
    _(std::int64_t, Long) \
    _(::c10::Half, Half) \
    _(::porter::Float, Float) \
    _(bool, Bool) \
    _(::c10::BFloat16, BFloat16) \
    _(std::uint16_t, UInt16) \
    _(std::uint32_t, UInt32) \
    _(std::uint64_t, UInt64)

namespace c10 {

// Complex and quantised types can be named, as switches do; no tensor has them. Tensors of 8-bit floats are bytes to hand
// on to kernels.
enum class ScalarType : std::int8_t {
    Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool,
    QInt8, QUInt8, QInt32, BFloat16, QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16,
    Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz, UInt16, UInt32, UInt64, Undefined, NumOptions,
};

inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte, kU8 = kByte;
inline constexpr ScalarType kChar = ScalarType::Char, kInt8 = kChar, kI8 = kChar;
inline constexpr ScalarType kShort = ScalarType::Short, kInt16 = kShort, kI16 = kShort;
inline constexpr ScalarType kInt = ScalarType::Int, kInt32 = kInt, kI32 = kInt;
inline constexpr ScalarType kLong = ScalarType::Long, kInt64 = kLong, kI64 = kLong;
inline constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = kHalf, kF16 = kHalf;
inline constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat, kF32 = kFloat;
inline constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = kDouble, kF64 = kDouble;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
inline constexpr ScalarType kUInt16 = ScalarType::UInt16, kUInt32 = ScalarType::UInt32, kUInt64 = ScalarType::UInt64;
inline constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf, kComplexFloat = ScalarType::ComplexFloat,
                            kComplexDouble = ScalarType::ComplexDouble;
inline constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
inline constexpr ScalarType kQInt8 = ScalarType::QInt8, kQUInt8 = ScalarType::QUInt8, kQInt32 = ScalarType::QInt32;

const char* toString(ScalarType type);
inline std::ostream& operator<<(std::ostream& stream, ScalarType type) { return stream << toString(type); }

// Bytes of one element; throws for a type no tensor here has.
std::size_t elementSize(ScalarType type);

constexpr bool isFloatingType(ScalarType t) {
    return t == kDouble || t == kFloat || t == kHalf || t == kBFloat16 || t == kFloat8_e5m2 || t == kFloat8_e4m3fn;
}
constexpr bool isReducedFloatingType(ScalarType t) { return t == kHalf || t == kBFloat16; }
constexpr bool isComplexType(ScalarType t) { return t == kComplexHalf || t == kComplexFloat || t == kComplexDouble; }
constexpr bool isQIntType(ScalarType t) { return t >= ScalarType::QInt8 && t <= ScalarType::QInt32; }
constexpr bool isIntegralType(ScalarType t, bool include_bool) {
    return (t >= kByte && t <= kLong) || (t >= kUInt16 && t <= kUInt64) || (include_bool && t == kBool);
}
constexpr bool isSignedType(ScalarType t) {
    return t == kChar || t == kShort || t == kInt || t == kLong || isFloatingType(t) || isComplexType(t);
}
ScalarType promoteTypes(ScalarType a, ScalarType b);
bool canCast(ScalarType from, ScalarType to);

template <class T>
struct CppTypeToScalarType;
template <ScalarType N>
struct ScalarTypeToCPPType;

#define PORTER_TORCH_MAP(T, Name) \
    template <> struct ScalarTypeToCPPType<ScalarType::Name> { using type = T; };
PORTER_TORCH_SCALAR_TYPES(PORTER_TORCH_MAP)
#undef PORTER_TORCH_MAP
#define PORTER_TORCH_MAP(T, Name) \
    template <> struct CppTypeToScalarType<T> : std::integral_constant<ScalarType, ScalarType::Name> {};
#if PORTER_DOUBLE_PRECISION
PORTER_TORCH_SCALAR_TYPES_BUT_DOUBLE(PORTER_TORCH_MAP)
#else
PORTER_TORCH_SCALAR_TYPES(PORTER_TORCH_MAP)
#endif
#undef PORTER_TORCH_MAP

template <ScalarType N> using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<N>::type;
namespace impl {
using c10::ScalarTypeToCPPType;
using c10::ScalarTypeToCPPTypeT;
}  // namespace impl

// Whether a tensor of `type` has elements of C++ type T.
template <class T>
constexpr bool holds(ScalarType type) {
    const bool merged = std::is_same_v<porter::Float, double> && type == kDouble;
    return CppTypeToScalarType<T>::value == (merged ? kFloat : type);
}

}  // namespace c10

namespace caffe2 {

class TypeMeta {
public:
    TypeMeta() = default;
    template <class T> static TypeMeta Make() { return TypeMeta(c10::CppTypeToScalarType<T>::value); }
    static TypeMeta fromScalarType(c10::ScalarType type) { return TypeMeta(type); }
    template <class T> bool Match() const { return *this == Make<T>(); }
    std::size_t itemsize() const { return c10::elementSize(type_); }
    std::string_view name() const;  // of the C++ type: "float", "c10::Half"
    c10::ScalarType toScalarType() const { return type_; }
    bool isScalarType() const { return type_ != c10::ScalarType::Undefined; }
    bool isScalarType(c10::ScalarType type) const { return type_ == type; }

    friend bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
    friend bool operator!=(TypeMeta a, TypeMeta b) { return a.type_ != b.type_; }
    friend bool operator==(TypeMeta a, c10::ScalarType b) { return a.type_ == b; }
    friend bool operator!=(TypeMeta a, c10::ScalarType b) { return a.type_ != b; }
    friend bool operator==(c10::ScalarType a, TypeMeta b) { return a == b.type_; }
    friend bool operator!=(c10::ScalarType a, TypeMeta b) { return a != b.type_; }
    friend std::ostream& operator<<(std::ostream& stream, TypeMeta meta) { return stream << meta.name(); }

private:
    explicit TypeMeta(c10::ScalarType type) : type_(type) {}
    c10::ScalarType type_ = c10::ScalarType::Undefined;
};

}  // namespace caffe2

namespace c10 {
inline ScalarType typeMetaToScalarType(caffe2::TypeMeta meta) { return meta.toScalarType(); }
inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType type) { return caffe2::TypeMeta::fromScalarType(type); }
caffe2::TypeMeta get_default_dtype();
}  // namespace c10
