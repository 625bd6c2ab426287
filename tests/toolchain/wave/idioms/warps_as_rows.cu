// n = 4096: dim3(32, 8), threadIdx.x is the lane and threadIdx.y the warp
__global__ void layer_norm(const float* __restrict__ x, float* __restrict__ y, int rows, int cols)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0, sq = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float v = x[row * cols + c];
        sum += v;
        sq += v * v;
    }
    for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
        sq += __shfl_xor_sync(0xffffffff, sq, offset);
    }
    const float mean = sum / cols;
    const float inv = rsqrtf(sq / cols - mean * mean + 1e-5f);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[row * cols + c] = (x[row * cols + c] - mean) * inv;
}

extern "C" void run(const float* in, float* out, int n)
{
    const int cols = 64, rows = n / cols - 1;
    dim3 block(32, 8);
    dim3 grid((rows + block.y - 1) / block.y);
    layer_norm<<<grid, block>>>(in, out, rows, cols);
}
