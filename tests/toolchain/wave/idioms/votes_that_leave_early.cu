// n = 1280: warps leave a loop by vote, each after its own number of rounds
__global__ void relax(const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i] * 8.f;
    int rounds = 0;
    while (__any_sync(0xffffffff, fabsf(v) > 0.5f)) {
        v *= 0.75f;
        if (++rounds == 40) break;
    }
    if (__all_sync(0xffffffff, v >= 0.f)) rounds = -rounds;
    out[i] = v + rounds;
}

extern "C" void run(const float* in, float* out, int n) { relax<<<n / 256, 256>>>(in, out); }
