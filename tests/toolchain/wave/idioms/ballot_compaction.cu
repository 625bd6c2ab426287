// n = 1024: each warp packs its positive values in front, in order
__global__ void pack_positive(const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const float v = in[i];
    const unsigned int keep = __ballot_sync(0xffffffff, v > 0.f);
    const unsigned int before = keep & ((1u << lane) - 1);
    if (v > 0.f) out[(i - lane) + __popc(before)] = v;
    if (lane == 0) out[(i - lane) + 31] = (float)__popc(keep);
}

extern "C" void run(const float* in, float* out, int n) { pack_positive<<<n / 128, 128>>>(in, out); }
