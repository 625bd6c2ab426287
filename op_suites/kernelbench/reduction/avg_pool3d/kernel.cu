// Average pooling over volumes, padding counted. The grid's axes are the output's: x the width, y the height, z the
// depth of one volume after the other.
#include <torch/extension.h>

struct Pooling {
    int in_d, in_h, in_w;
    int out_d, out_h, out_w;
    int kernel, stride, padding;
};

__global__ void avg_pool3d_kernel(const float* __restrict__ in, float* __restrict__ out, const Pooling p) {
    const int ow = blockIdx.x * blockDim.x + threadIdx.x;
    const int oh = blockIdx.y * blockDim.y + threadIdx.y;
    const int od = blockIdx.z % p.out_d;
    const int volume = blockIdx.z / p.out_d;
    if (ow >= p.out_w || oh >= p.out_h) return;

    // What lies outside adds nothing: the loops run over the part of the window that is inside.
    const int d0 = max(od * p.stride - p.padding, 0), d1 = min(od * p.stride - p.padding + p.kernel, p.in_d);
    const int h0 = max(oh * p.stride - p.padding, 0), h1 = min(oh * p.stride - p.padding + p.kernel, p.in_h);
    const int w0 = max(ow * p.stride - p.padding, 0), w1 = min(ow * p.stride - p.padding + p.kernel, p.in_w);
    float sum = 0.f;
    for (int d = d0; d < d1; ++d)
        for (int h = h0; h < h1; ++h)
            for (int w = w0; w < w1; ++w)
                sum += in[(((size_t)volume * p.in_d + d) * p.in_h + h) * p.in_w + w];

    const size_t at = (((size_t)volume * p.out_d + od) * p.out_h + oh) * p.out_w + ow;
    out[at] = sum / (p.kernel * p.kernel * p.kernel);
}

torch::Tensor forward(torch::Tensor x, int64_t kernel_size, int64_t stride, int64_t padding) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(x.dim() == 5, "x must be [N, C, D, H, W]");
    auto in = x.contiguous();
    auto pooled = [&](int64_t size) { return static_cast<int>((size + 2 * padding - kernel_size) / stride + 1); };

    Pooling p;
    p.in_d = in.size(2);
    p.in_h = in.size(3);
    p.in_w = in.size(4);
    p.out_d = pooled(in.size(2));
    p.out_h = pooled(in.size(3));
    p.out_w = pooled(in.size(4));
    p.kernel = kernel_size;
    p.stride = stride;
    p.padding = padding;
    TORCH_CHECK(p.out_d > 0 && p.out_h > 0 && p.out_w > 0, "the window is larger than the input");

    auto out = torch::empty({in.size(0), in.size(1), p.out_d, p.out_h, p.out_w}, in.options());
    const int64_t slices = in.size(0) * in.size(1) * p.out_d;
    if (slices == 0) return out;
    TORCH_CHECK(slices <= 65535, "too many slices for the grid");
    const dim3 block(32, 4);
    const dim3 grid((p.out_w + block.x - 1) / block.x, (p.out_h + block.y - 1) / block.y, slices);
    avg_pool3d_kernel<<<grid, block>>>(in.data_ptr<float>(), out.data_ptr<float>(), p);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "AvgPool3d, padding counted");
}
