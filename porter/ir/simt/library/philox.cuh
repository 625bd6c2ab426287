// The generator Philox4_32_10 of cuRAND, which gives NVIDIA's numbers for a seed, a subsequence and an offset.
struct curandStatePhilox4_32_10 {
    uint4 counter;
    uint2 key;
    uint4 output;
    unsigned int used;  // of the four words of output
    int has_spare;
    float spare;  // the second normal of the last pair
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

__device__ uint4 __philox_after(uint4 counter, unsigned long long steps) {
    const unsigned long long low = (unsigned long long)counter.y << 32 | counter.x, next = low + steps;
    const unsigned int carry = next < low ? 1u : 0u, z = counter.z + carry;
    return make_uint4((unsigned int)next, (unsigned int)(next >> 32), z, counter.w + (carry && z == 0 ? 1u : 0u));
}
__device__ uint4 __philox_words(uint4 c, uint2 key) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned int a = 0xD2511F53u * c.x, b = 0xCD9E8D57u * c.z;
        const unsigned int top = __umulhi(0xD2511F53u, c.x), other = __umulhi(0xCD9E8D57u, c.z);
        c = make_uint4(other ^ c.y ^ key.x, b, top ^ c.w ^ key.y, a);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}
__device__ void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    unsigned int used = state->used + (unsigned int)(n & 3);
    unsigned long long steps = n / 4;
    if (used > 3) {
        steps += 1;
        used -= 4;
    }
    state->used = used;
    state->counter = __philox_after(state->counter, steps);
    state->output = __philox_words(state->counter, state->key);
}
__device__ void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandStatePhilox4_32_10* state) {
    state->counter = make_uint4(0, 0, (unsigned int)subsequence, (unsigned int)(subsequence >> 32));
    state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    state->used = 0;
    state->has_spare = 0;
    state->spare = 0.0f;
    skipahead(offset, state);
}
__device__ unsigned int curand(curandStatePhilox4_32_10* state) {
    const uint4 held = state->output;
    const unsigned int used = state->used;
    const unsigned int word = used == 0 ? held.x : used == 1 ? held.y : used == 2 ? held.z : held.w;
    if (used == 3) {
        state->counter = __philox_after(state->counter, 1);
        state->output = __philox_words(state->counter, state->key);
    }
    state->used = used + 1 & 3;
    return word;
}
__device__ uint4 curand4(curandStatePhilox4_32_10* state) {
    const uint4 held = state->output;
    state->counter = __philox_after(state->counter, 1);
    const uint4 next = __philox_words(state->counter, state->key);
    state->output = next;
    const unsigned int used = state->used;
    if (used == 0) return held;
    if (used == 1) return make_uint4(held.y, held.z, held.w, next.x);
    if (used == 2) return make_uint4(held.z, held.w, next.x, next.y);
    return make_uint4(held.w, next.x, next.y, next.z);
}
__device__ float __uniform_of(unsigned int x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
__device__ double __uniform_of(unsigned int x, unsigned int y) {
    const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
    return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}
__device__ float2 __normals_of(unsigned int x, unsigned int y) {
    const float v = y * 2.3283064e-10f * 6.2831855f + 2.3283064e-10f * 6.2831855f / 2.0f;
    const float s = sqrtf(-2.0f * logf(__uniform_of(x)));
    return make_float2(s * sinf(v), s * cosf(v));
}
__device__ float curand_uniform(curandStatePhilox4_32_10* state) { return __uniform_of(curand(state)); }
__device__ double curand_uniform_double(curandStatePhilox4_32_10* state) {
    const unsigned int x = curand(state), y = curand(state);
    return __uniform_of(x, y);
}
__device__ float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    return make_float4(__uniform_of(x.x), __uniform_of(x.y), __uniform_of(x.z), __uniform_of(x.w));
}
__device__ double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    return make_double2(__uniform_of(x.x, x.y), __uniform_of(x.z, x.w));
}
__device__ float2 curand_normal2(curandStatePhilox4_32_10* state) {
    const unsigned int x = curand(state), y = curand(state);
    return __normals_of(x, y);
}
__device__ float4 curand_normal4(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    const float2 a = __normals_of(x.x, x.y), b = __normals_of(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
// Normals come in pairs; the second is kept for the next call.
__device__ float curand_normal(curandStatePhilox4_32_10* state) {
    if (state->has_spare) {
        state->has_spare = 0;
        return state->spare;
    }
    const float2 pair = curand_normal2(state);
    state->has_spare = 1;
    state->spare = pair.y;
    return pair.x;
}
__device__ float curand_log_normal(curandStatePhilox4_32_10* state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}
