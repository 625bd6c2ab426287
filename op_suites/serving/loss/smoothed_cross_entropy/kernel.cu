// Cross-entropy with label smoothing, a loss for each row, and the log-sum-exp that the backward pass needs. One pass:
// a thread rescales its sum whenever it meets a larger logit. Rows whose target is `ignore_index` have no loss.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <vector>

namespace {

constexpr int kThreads = 256;

struct Statistics {
    float largest;
    float exponentials;  // sum of exp(x - largest)
    float logits;        // sum of x
};

__device__ Statistics combine(const Statistics& a, const Statistics& b) {
    Statistics both;
    both.largest = fmaxf(a.largest, b.largest);
    both.exponentials = 0.0f;
    if (a.exponentials > 0.0f) both.exponentials += a.exponentials * expf(a.largest - both.largest);
    if (b.exponentials > 0.0f) both.exponentials += b.exponentials * expf(b.largest - both.largest);
    both.logits = a.logits + b.logits;
    return both;
}

template <typename T>
__global__ void smoothed_cross_entropy_kernel(const T* __restrict__ logits, const int64_t* __restrict__ targets,
                                              float* __restrict__ losses, float* __restrict__ lse, int classes,
                                              float smoothing, int64_t ignore_index) {
    __shared__ Statistics shared[kThreads];
    const int64_t row = blockIdx.x;
    logits += row * classes;

    Statistics mine = {-INFINITY, 0.0f, 0.0f};
    for (int c = threadIdx.x; c < classes; c += blockDim.x) {
        const float x = static_cast<float>(logits[c]);
        mine = combine(mine, {x, 1.0f, x});
    }
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + s]);
        __syncthreads();
    }

    if (threadIdx.x == 0) {
        const Statistics all = shared[0];
        const float log_sum_exp = all.largest + logf(all.exponentials);
        const int64_t target = targets[row];
        lse[row] = log_sum_exp;
        if (target == ignore_index) {
            losses[row] = 0.0f;
        } else {
            const float right = log_sum_exp - static_cast<float>(logits[target]);
            const float any = log_sum_exp - all.logits / classes;
            losses[row] = (1.0f - smoothing) * right + smoothing * any;
        }
    }
}

}  // namespace

std::vector<torch::Tensor> forward(torch::Tensor logits, torch::Tensor targets, double smoothing,
                                   int64_t ignore_index) {
    TORCH_CHECK(logits.is_cuda() && logits.dim() == 2, "logits must be [rows, classes] on the GPU");
    TORCH_CHECK(targets.scalar_type() == torch::kInt64, "targets must be int64");
    TORCH_CHECK(smoothing >= 0.0 && smoothing <= 1.0, "smoothing must lie between 0 and 1");
    logits = logits.contiguous();
    targets = targets.contiguous();
    const int rows = logits.size(0);
    auto losses = torch::empty({rows}, logits.options().dtype(torch::kFloat));
    auto lse = torch::empty_like(losses);
    if (rows == 0) return {losses, lse};
    const auto stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, logits.scalar_type(), "smoothed_cross_entropy", [&] {
        smoothed_cross_entropy_kernel<scalar_t><<<rows, kThreads, 0, stream>>>(
            logits.data_ptr<scalar_t>(), targets.data_ptr<int64_t>(), losses.data_ptr<float>(), lse.data_ptr<float>(),
            logits.size(1), static_cast<float>(smoothing), ignore_index);
    });
    return {losses, lse};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Label-smoothed cross-entropy: losses, log-sum-exp");
}
