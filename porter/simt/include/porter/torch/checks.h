// Checks of several tensors at once, which say whose argument fails, and what the library's context is asked.
#pragma once

#include "porter/torch/tensor.h"

namespace at {

using CheckedFrom = const char*;

// A tensor with the name and the number of the argument that it is.
struct TensorArg {
    Tensor tensor;
    const char* name;
    int pos;
    TensorArg(const Tensor& tensor, const char* name, int pos) : tensor(tensor), name(name), pos(pos) {}
    const Tensor* operator->() const { return &tensor; }
    const Tensor& operator*() const { return tensor; }
};

inline std::ostream& operator<<(std::ostream& out, const TensorArg& arg) {
    return out << "argument #" << arg.pos << " '" << arg.name << "'";
}

inline void checkSameType(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
    TORCH_CHECK(a->scalar_type() == b->scalar_type(), "Expected tensor for ", a, " to have the same type as tensor for ",
                b, " (while checking arguments for ", from, ")");
}
inline void checkSameGPU(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
    TORCH_CHECK(a->is_cuda() && b->is_cuda(), "Expected tensors for ", a, " and ", b,
                " to be on one GPU (while checking arguments for ", from, ")");
}
inline void checkAllSameType(CheckedFrom from, ArrayRef<TensorArg> args) {
    for (std::size_t i = 1; i < args.size(); ++i) checkSameType(from, args[0], args[i]);
}
inline void checkAllSameGPU(CheckedFrom from, ArrayRef<TensorArg> args) {
    for (std::size_t i = 0; i < args.size(); ++i) checkSameGPU(from, args[0], args[i]);
}
inline void checkContiguous(CheckedFrom from, const TensorArg& a) {
    TORCH_CHECK(a->is_contiguous(), "Expected contiguous tensor for ", a, " (while checking arguments for ", from, ")");
}
inline void checkAllContiguous(CheckedFrom from, ArrayRef<TensorArg> args) {
    for (const TensorArg& arg : args) checkContiguous(from, arg);
}
inline void checkDim(CheckedFrom from, const TensorArg& a, std::int64_t dim) {
    TORCH_CHECK(a->dim() == dim, "Expected ", dim, "-dimensional tensor for ", a, " (while checking arguments for ", from,
                ")");
}

// Algorithms are what they are: nobody asked for deterministic ones.
class Context {
public:
    void alertNotDeterministic(const char*) const {}
    bool deterministicAlgorithms() const { return false; }
};
inline Context& globalContext() {
    static Context context;
    return context;
}

}  // namespace at
