// What checks say when they fail: each message is made here once, not in every source that may come to it.
#include "porter/torch/checks.h"

#include <cstdio>
#include <sstream>

namespace c10::detail {

void append_text(std::string& text, std::string_view more) { text += more; }
void append_integer(std::string& text, std::int64_t value) { text += std::to_string(value); }
void append_unsigned(std::string& text, std::uint64_t value) { text += std::to_string(value); }
void append_printed(std::string& text, const void* value, void (*print)(std::ostream&, const void*)) {
    std::ostringstream stream;
    print(stream, value);
    text += stream.str();
}

void complete_message(std::string& message, const char* condition) {
    if (message.empty()) message = std::string("Expected ") + condition + " to be true, but got false.";
}

void warn(SourceLocation where, const std::string& message) {
    std::fprintf(stderr, "[W %s:%u] Warning: %s\n", where.file, where.line, message.c_str());
}

void cuda_failed(const char* error, SourceLocation where) { check_failed(where, "", str("CUDA error: ", error)); }

void check_ordinal(int device) { TORCH_CHECK(device <= 0, "CUDA error: invalid device ordinal ", device); }

FailedComparison::FailedComparison(SourceLocation where, std::string message) : where_(where), message_(std::move(message)) {}
FailedComparison::~FailedComparison() noexcept(false) { throw Error(where_, message_); }

void index_out_of_range(std::size_t index, std::size_t length) {
    TORCH_CHECK_INDEX(false, "ArrayRef: invalid index ", index, "; length ", length);
    __builtin_unreachable();
}

}  // namespace c10::detail

namespace c10 {

std::int64_t maybe_wrap_dim(std::int64_t dim, std::int64_t rank) {
    const std::int64_t limit = rank > 0 ? rank : 1;
    TORCH_CHECK_INDEX(dim >= -limit && dim < limit, "Dimension out of range (expected to be in range of [", -limit,
                      ", ", limit - 1, "], but got ", dim, ")");
    return dim < 0 ? dim + limit : dim;
}

}  // namespace c10

namespace at {

std::string DeprecatedTypeProperties::toString() const {
    return str(c10::toString(backend()), c10::toString(type_), "Type");
}

TensorImpl& TensorBase::get() const {
    TORCH_CHECK(impl_, "an undefined tensor was used");
    return *impl_;
}

void* TensorBase::data_of_type(ScalarType wanted, bool is_held) const {
    TORCH_CHECK(is_held, "expected scalar type ", wanted, " but found ", scalar_type());
    return data_ptr();
}

void TensorBase::check_small_enough() const {
    TORCH_CHECK(numel() <= INT32_MAX,
                "numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
}

void TensorBase::check_rank(std::size_t rank) const {
    TORCH_CHECK(dim() == static_cast<std::int64_t>(rank), "TensorAccessor expected ", rank, " dims but tensor has ", dim());
}

static std::int64_t wrapped(const TensorBase& tensor, std::int64_t dim) {
    TORCH_CHECK_INDEX(tensor.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
    return maybe_wrap_dim(dim, tensor.dim());
}
std::int64_t TensorBase::size(std::int64_t dim) const { return sizes()[wrapped(*this, dim)]; }
std::int64_t TensorBase::stride(std::int64_t dim) const { return strides()[wrapped(*this, dim)]; }

std::ostream& operator<<(std::ostream& out, const TensorArg& arg) {
    return out << "argument #" << arg.pos << " '" << arg.name << "'";
}

void checkSameType(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
    TORCH_CHECK(a->scalar_type() == b->scalar_type(), "Expected tensor for ", a, " to have the same type as tensor for ",
                b, " (while checking arguments for ", from, ")");
}
void checkSameGPU(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
    TORCH_CHECK(a->is_cuda() && b->is_cuda(), "Expected tensors for ", a, " and ", b,
                " to be on one GPU (while checking arguments for ", from, ")");
}
void checkAllSameType(CheckedFrom from, ArrayRef<TensorArg> args) {
    for (std::size_t i = 1; i < args.size(); ++i) checkSameType(from, args[0], args[i]);
}
void checkAllSameGPU(CheckedFrom from, ArrayRef<TensorArg> args) {
    for (std::size_t i = 0; i < args.size(); ++i) checkSameGPU(from, args[0], args[i]);
}
void checkContiguous(CheckedFrom from, const TensorArg& a) {
    TORCH_CHECK(a->is_contiguous(), "Expected contiguous tensor for ", a, " (while checking arguments for ", from, ")");
}
void checkAllContiguous(CheckedFrom from, ArrayRef<TensorArg> args) {
    for (const TensorArg& arg : args) checkContiguous(from, arg);
}
void checkDim(CheckedFrom from, const TensorArg& a, std::int64_t dim) {
    TORCH_CHECK(a->dim() == dim, "Expected ", dim, "-dimensional tensor for ", a, " (while checking arguments for ", from,
                ")");
}

}  // namespace at
