// What each element-wise operation does to numbers.
#pragma once

#include "porter/torch/tensor.h"

namespace at::detail {

template <class N> using UnaryFunction = N (*)(N);
template <class N> using BinaryFunction = N (*)(N, N);

UnaryFunction<double> real_function(Unary operation);
UnaryFunction<std::int64_t> whole_function(Unary operation);
BinaryFunction<double> real_function(Binary operation);  // throws for the bitwise operations
BinaryFunction<std::int64_t> whole_function(Binary operation);

}  // namespace at::detail
