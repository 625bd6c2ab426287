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

std::ostream& operator<<(std::ostream& out, const TensorArg& arg);

void checkSameType(CheckedFrom from, const TensorArg& a, const TensorArg& b);
void checkSameGPU(CheckedFrom from, const TensorArg& a, const TensorArg& b);
void checkAllSameType(CheckedFrom from, ArrayRef<TensorArg> args);
void checkAllSameGPU(CheckedFrom from, ArrayRef<TensorArg> args);
void checkContiguous(CheckedFrom from, const TensorArg& a);
void checkAllContiguous(CheckedFrom from, ArrayRef<TensorArg> args);
void checkDim(CheckedFrom from, const TensorArg& a, std::int64_t dim);

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
