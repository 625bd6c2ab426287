// Max pooling over the planes of an NCHW tensor: a block covers a tile of one output plane. With stride 1 the windows of
// neighbours overlap, so that most of what a thread reads has just been read by another and comes from the cache.
#include <torch/extension.h>

#define TILE_W 32
#define TILE_H 8

__global__ void max_pool2d_kernel(const float* __restrict__ in, float* __restrict__ out, int planes, int in_h, int in_w,
                                  int out_h, int out_w, int k, int stride, int pad, int dilation) {
    const int ow = blockIdx.x * TILE_W + threadIdx.x;
    const int oh = blockIdx.y * TILE_H + threadIdx.y;
    if (ow >= out_w || oh >= out_h) return;

    // The grid has at most 65535 blocks in z; a block takes every gridDim.z-th plane.
    for (int plane = blockIdx.z; plane < planes; plane += gridDim.z) {
        const float* src = in + (size_t)plane * in_h * in_w;
        float best = -INFINITY;
        for (int i = 0; i < k; ++i) {
            const int h = oh * stride - pad + i * dilation;
            if (h < 0 || h >= in_h) continue;
            for (int j = 0; j < k; ++j) {
                const int w = ow * stride - pad + j * dilation;
                if (w < 0 || w >= in_w) continue;
                best = fmaxf(best, __ldg(&src[h * in_w + w]));
            }
        }
        out[((size_t)plane * out_h + oh) * out_w + ow] = best;
    }
}

static inline int out_size(int in, int k, int stride, int pad, int dilation) {
    return (in + 2 * pad - dilation * (k - 1) - 1) / stride + 1;
}

torch::Tensor forward(torch::Tensor x, int64_t kernel_size, int64_t stride, int64_t padding, int64_t dilation) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
    TORCH_CHECK(x.dim() == 4, "x must be NCHW");
    const int planes = x.size(0) * x.size(1);
    const int in_h = x.size(2), in_w = x.size(3);
    const int out_h = out_size(in_h, kernel_size, stride, padding, dilation);
    const int out_w = out_size(in_w, kernel_size, stride, padding, dilation);
    TORCH_CHECK(out_h > 0 && out_w > 0, "the window is larger than the input");
    auto out = torch::empty({x.size(0), x.size(1), out_h, out_w}, x.options());
    if (planes == 0) return out;

    dim3 block(TILE_W, TILE_H);
    dim3 grid((out_w + TILE_W - 1) / TILE_W, (out_h + TILE_H - 1) / TILE_H, planes < 65535 ? planes : 65535);
    max_pool2d_kernel<<<grid, block>>>(x.data_ptr<float>(), out.data_ptr<float>(), planes, in_h, in_w, out_h, out_w,
                                       kernel_size, stride, padding, dilation);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "MaxPool2d");
}
