// Names, sizes and promotion of element types; devices and formats as text.
#include "porter/torch/options.h"

namespace c10 {

const char* toString(ScalarType type) {
    static const char* const names[] = {"Byte",
                                        "Char",
                                        "Short",
                                        "Int",
                                        "Long",
                                        "Half",
                                        "Float",
                                        "Double",
                                        "ComplexHalf",
                                        "ComplexFloat",
                                        "ComplexDouble",
                                        "Bool",
                                        "QInt8",
                                        "QUInt8",
                                        "QInt32",
                                        "BFloat16",
                                        "QUInt4x2",
                                        "QUInt2x4",
                                        "Bits1x8",
                                        "Bits2x4",
                                        "Bits4x2",
                                        "Bits8",
                                        "Bits16",
                                        "Float8_e5m2",
                                        "Float8_e4m3fn",
                                        "Float8_e5m2fnuz",
                                        "Float8_e4m3fnuz",
                                        "UInt16",
                                        "UInt32",
                                        "UInt64",
                                        "Undefined"};
    static_assert(sizeof names / sizeof *names == static_cast<std::size_t>(ScalarType::NumOptions));
    return type < ScalarType::NumOptions ? names[static_cast<int>(type)] : "UNKNOWN_SCALAR";
}

std::size_t elementSize(ScalarType type) {
    switch (type) {
#define PORTER_CASE(T, Name) \
    case ScalarType::Name: return sizeof(T);
        PORTER_TORCH_SCALAR_TYPES(PORTER_CASE)
#undef PORTER_CASE
        case kFloat8_e5m2:
        case kFloat8_e4m3fn: return 1;
        default: TORCH_CHECK(false, "no tensor has the type ", type);
    }
    __builtin_unreachable();
}

ScalarType promoteTypes(ScalarType a, ScalarType b) {
    if (a == ScalarType::Undefined || a == b) return b;
    if (b == ScalarType::Undefined) return a;
    if (isFloatingType(a) && isFloatingType(b)) {
        const std::size_t size_a = elementSize(a), size_b = elementSize(b);
        if (a == kDouble || b == kDouble) return kDouble;
        if (size_a == size_b) return kFloat;  // half and bfloat16
        return size_a > size_b ? a : b;
    }
    if (isFloatingType(a) || b == kBool) return a;
    if (isFloatingType(b) || a == kBool) return b;
    if (isSignedType(a) == isSignedType(b)) return elementSize(a) > elementSize(b) ? a : b;
    const ScalarType with_sign = isSignedType(a) ? a : b, without = isSignedType(a) ? b : a;
    TORCH_CHECK(without == kByte, "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ",
                a, " and ", b);
    return with_sign == kChar ? kShort : with_sign;
}

bool canCast(ScalarType from, ScalarType to) {
    if (isFloatingType(from) && !isFloatingType(to)) return false;
    return from == kBool || to != kBool;
}

caffe2::TypeMeta get_default_dtype() { return scalarTypeToTypeMeta(kFloat); }

std::string DeviceTypeName(DeviceType type, bool lower_case) {
    static const char* const names[][2] = {
        {"CPU", "cpu"},       {"CUDA", "cuda"},     {"MKLDNN", "mkldnn"},
        {"OPENGL", "opengl"}, {"OPENCL", "opencl"}, {"IDEEP", "ideep"},
        {"HIP", "hip"},       {"FPGA", "fpga"},     {"MAIA", "maia"},
        {"XLA", "xla"},       {"VULKAN", "vulkan"}, {"METAL", "metal"},
        {"XPU", "xpu"},       {"MPS", "mps"},       {"META", "meta"},
        {"HPU", "hpu"},       {"VE", "ve"},         {"LAZY", "lazy"},
        {"IPU", "ipu"},       {"MTIA", "mtia"},     {"PRIVATEUSEONE", "privateuseone"}};
    return names[static_cast<int>(type)][lower_case];
}

Device::Device(const std::string& text) : type_(kCPU), index_(-1) {
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    TORCH_CHECK(name == "cpu" || name == "cuda",
                "Expected one of cpu, cuda device type at start of device string: ", text);
    if (name == "cuda") type_ = kCUDA;
    if (colon != std::string::npos) index_ = static_cast<DeviceIndex>(std::stoi(text.substr(colon + 1)));
}

std::string Device::str() const { return DeviceTypeName(type_, true) + (has_index() ? ":" + std::to_string(index_) : ""); }

std::ostream& operator<<(std::ostream& stream, DeviceType type) { return stream << DeviceTypeName(type, true); }

std::ostream& operator<<(std::ostream& stream, const Device& device) { return stream << device.str(); }

std::ostream& operator<<(std::ostream& stream, Layout layout) {
    return stream << (layout == kStrided ? "Strided" : "Sparse");
}

std::ostream& operator<<(std::ostream& stream, const Scalar& number) {
    return number.isFloatingPoint() ? stream << number.toDouble() : stream << number.toLong();
}

std::ostream& operator<<(std::ostream& stream, MemoryFormat format) {
    static const char* const names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
    return stream << names[static_cast<int>(format)];
}

std::ostream& operator<<(std::ostream& stream, const TensorOptions& options) {
    const auto given = [](bool has) { return has ? "" : " (default)"; };
    stream << std::boolalpha << "TensorOptions(dtype=" << options.dtype() << given(options.has_dtype())
           << ", device=" << options.device() << given(options.has_device()) << ", layout=" << options.layout()
           << given(options.has_layout()) << ", requires_grad=" << options.requires_grad()
           << given(options.has_requires_grad()) << ", pinned_memory=" << options.pinned_memory()
           << given(options.pinned_memory()) << ", memory_format=";
    if (options.has_memory_format()) return stream << *options.memory_format_opt() << ")";
    return stream << "(nullopt))";
}

TensorOptions TensorOptions::merge_in(TensorOptions other) const {
    TensorOptions merged = *this;
    if (other.dtype_) merged.dtype_ = other.dtype_;
    if (other.device_) merged.device_ = other.device_;
    if (other.layout_) merged.layout_ = other.layout_;
    if (other.memory_format_) merged.memory_format_ = other.memory_format_;
    if (other.requires_grad_) merged.requires_grad_ = other.requires_grad_;
    if (other.pinned_) merged.pinned_ = other.pinned_;
    return merged;
}

const char* toString(Backend backend) { return backend == Backend::CUDA ? "CUDA" : "CPU"; }

}  // namespace c10

std::string_view caffe2::TypeMeta::name() const {
    switch (type_) {
        case c10::kByte: return "unsigned char";
        case c10::kChar: return "signed char";
        case c10::kShort: return "short";
        case c10::kInt: return "int";
        case c10::kLong: return "long";
        case c10::kHalf: return "c10::Half";
        case c10::kFloat: return "float";
        case c10::kDouble: return "double";
        case c10::kBool: return "bool";
        case c10::kBFloat16: return "c10::BFloat16";
        case c10::kUInt16: return "unsigned short";
        case c10::kUInt32: return "unsigned int";
        case c10::kUInt64: return "unsigned long";
        default: return "nullptr (uninitialized)";
    }
}
