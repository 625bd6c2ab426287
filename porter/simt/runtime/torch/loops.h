// Loops over strided tensors. A number on its way through an operation is a double (float types) or an int64 (the rest):
// one loop body serves every dtype.
#pragma once

#include <array>

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

// Calls `body` with the address of each operand's element, in row-major order of `sizes`.
template <std::size_t K, class Body>
void walk(IntArrayRef sizes, const std::array<Operand, K>& operands, const Body& body) {
    std::array<char*, K> at;
    for (std::size_t k = 0; k < K; ++k) at[k] = operands[k].data;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const std::int64_t inner = rank ? sizes[rank - 1] : 1, count = numel_of(sizes);
    std::array<std::int64_t, K> step{};
    for (std::size_t k = 0; k < K && rank; ++k) step[k] = operands[k].strides[rank - 1];
    DimVector position(rank, 0);
    for (std::int64_t done = 0; done < count; done += inner) {
        std::array<char*, K> address = at;
        for (std::int64_t i = 0; i < inner; ++i) {
            body(address);
            for (std::size_t k = 0; k < K; ++k) address[k] += step[k];
        }
        for (std::int64_t d = rank - 2; d >= 0; --d) {
            for (std::size_t k = 0; k < K; ++k) at[k] += operands[k].strides[d];
            if (++position[d] < sizes[d]) break;
            for (std::size_t k = 0; k < K; ++k) at[k] -= operands[k].strides[d] * sizes[d];
            position[d] = 0;
        }
    }
}

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
