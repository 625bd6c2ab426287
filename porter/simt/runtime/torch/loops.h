// Loops over strided tensors. A number on its way through an operation is a double (float types) or an int64 (the
// rest): one loop body serves every dtype.
#pragma once

#include "porter/memory.h"
#include "porter/torch/factories.h"

namespace at::detail {

// N is double or std::int64_t.
template <class N> using Load = N (*)(const void*);
template <class N> using Store = void (*)(void*, N);
template <class N> Load<N> loader(ScalarType type);
template <class N> Store<N> storer(ScalarType type);

struct Operand {
    char* data;
    DimVector strides;  // bytes
};
Operand operand(const Tensor& tensor);

// A callable by reference: the loops are compiled once, not once a body.
template <class Argument>
class FunctionRef {
public:
    template <class F>
    FunctionRef(const F& function)
        : context_(&function), call_([](const void* f, Argument argument) { (*static_cast<const F*>(f))(argument); }) {}
    void operator()(Argument argument) const { call_(context_, argument); }

private:
    const void* context_;
    void (*call_)(const void*, Argument);
};

// Calls `body` with the addresses of the operands' elements, in row-major order of `sizes`.
void walk(IntArrayRef sizes, ArrayRef<Operand> operands, FunctionRef<char* const*> body);

// Tells the watch that every element of `tensor` has been written.
void wrote(const Tensor& tensor);

DimVector broadcast_sizes(TensorList tensors);
// The GPU if any tensor is there; a CPU tensor beside it must be a single number.
Device common_device(TensorList tensors);
ScalarType result_type(TensorList tensors);
// Uninitialised, with the strides torch's iterator gives the result of an operation on `inputs`.
Tensor result_of(TensorList inputs, IntArrayRef sizes, ScalarType type);
// Gives `out` these sizes unless it has them, as out variants do.
Tensor& resize_output(Tensor& out, IntArrayRef sizes);
inline bool computes_in_double(ScalarType type) { return isFloatingType(type); }
std::int64_t wrap_dim(std::int64_t dim, const Tensor& x);

}  // namespace at::detail
