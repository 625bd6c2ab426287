// y[i] = log(sum over j of exp(x[i, j])) - x[i, label[i]]
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cfloat>

namespace cg = cooperative_groups;

template <unsigned BLOCK>
__global__ void cross_entropy(const float* logits, const int* label, float* loss, int classes)
{
    constexpr unsigned W = BLOCK / 32;
    __shared__ float tmp[W];
    const cg::thread_block blk = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(blk);
    const float* z = logits + (size_t)blockIdx.x * classes;

    auto all = [&](float v, auto op) {
        v = cg::reduce(warp, v, op);
        if (warp.thread_rank() == 0) tmp[warp.meta_group_rank()] = v;
        blk.sync();
        float r = tmp[0];
        for (unsigned w = 1; w < W; ++w) r = op(r, tmp[w]);
        blk.sync();
        return r;
    };

    float mx = -FLT_MAX;
    for (int c = blk.thread_rank(); c < classes; c += BLOCK) mx = fmaxf(mx, z[c]);
    mx = all(mx, cg::greater<float>());

    float sum = 0.f;
    for (int c = blk.thread_rank(); c < classes; c += BLOCK) sum += expf(z[c] - mx);
    sum = all(sum, cg::plus<float>());

    if (blk.thread_rank() == 0) loss[blockIdx.x] = logf(sum) + mx - z[label[blockIdx.x]];
}

void run_cross_entropy_logits(const float* x, const int* label, float* y, int rows, int cols)
{
    cross_entropy<128><<<rows, 128>>>(x, label, y, cols);
}
