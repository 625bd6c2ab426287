// n = 640: the first lane that found something tells the others what
__global__ void first_above(const float* in, float* out, float threshold)
{
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[gid];
    unsigned found = __ballot_sync(~0u, v > threshold);
    int leader = found ? __ffs(found) - 1 : 0;
    float winner = __shfl_sync(~0u, v, leader);
    int trailing = __clz(found | 1u);
    out[gid] = found ? winner + trailing : -1.0f;
}

extern "C" void run(const float* in, float* out, int n) { first_above<<<n / 64, 64>>>(in, out, 1.5f); }
