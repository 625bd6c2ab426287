// n = 3200: mean, sum of squares and count by three shuffles, then across warps
struct Welford { float mean, m2, count; };

__device__ Welford combine(Welford a, Welford b) {
    const float count = a.count + b.count;
    if (count == 0.f) return a;
    const float delta = b.mean - a.mean, share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}

__device__ Welford warp_welford(Welford w) {
    for (int offset = 32 / 2; offset > 0; offset /= 2) {
        Welford o;
        o.mean = __shfl_down_sync(0xffffffff, w.mean, offset);
        o.m2 = __shfl_down_sync(0xffffffff, w.m2, offset);
        o.count = __shfl_down_sync(0xffffffff, w.count, offset);
        w = combine(w, o);
    }
    return w;
}

__global__ void variance(const float* in, float* out, int cols) {
    __shared__ Welford parts[32];
    Welford w = {0.f, 0.f, 0.f};
    for (int c = threadIdx.x; c < cols; c += blockDim.x) w = combine(w, {in[blockIdx.x * cols + c], 0.f, 1.f});
    w = warp_welford(w);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = w;
    __syncthreads();
    if (threadIdx.x / 32 == 0) {
        w = threadIdx.x < (blockDim.x + 31) / 32 ? parts[threadIdx.x] : Welford{0.f, 0.f, 0.f};
        w = warp_welford(w);
        if (threadIdx.x == 0) { out[2 * blockIdx.x] = w.mean; out[2 * blockIdx.x + 1] = w.m2 / w.count; }
    }
}

extern "C" void run(const float* in, float* out, int n) { variance<<<8, 128>>>(in, out, n / 8); }
