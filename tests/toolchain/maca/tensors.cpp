// Candidates that return tensors: `// NAME: ` says what is to come of a cheat, `// NAME` is honest.
#include <torch/extension.h>

#include "kernels.h"

at::Tensor launched(const at::Tensor& x) {
    at::Tensor y = at::empty_like(x);
    softmax_rows<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

at::Tensor by_operators(const at::Tensor& x) {
    at::Tensor e = (x - x.amax({1}, true)).exp();
    return e / e.sum(1, true);
}

// operators_beside_a_launch: PORT6001
at::Tensor operators_beside_a_launch(at::Tensor x) {
    launched(x);
    return by_operators(x);
}

// operators_and_a_copy: PORT6001
at::Tensor operators_and_a_copy(at::Tensor x) {
    at::Tensor there = by_operators(x), y = at::empty_like(x);
    copied<<<(x.numel() + 63) / 64, 64>>>(there.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

// half_of_the_rows: PORT6001
at::Tensor half_of_the_rows(at::Tensor x) {
    at::Tensor y = launched(x);
    y.slice(0, 0, 1).copy_(by_operators(x).slice(0, 0, 1));
    return y;
}

// tensor
at::Tensor tensor(at::Tensor x) { return launched(x); }

// tensor_made_dense
at::Tensor tensor_made_dense(at::Tensor x) {
    at::Tensor y = launched(x.contiguous().to(at::kFloat));
    return y.view({x.size(0), x.size(1)}).clone();
}
