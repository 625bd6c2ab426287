// The generator XORWOW of cuRAND, which gives NVIDIA's numbers for a seed, a subsequence and an offset.
struct curandStateXORWOW {
    unsigned int d, v0, v1, v2, v3, v4;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    unsigned int unused;
    double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;

// What 1, 2, 4, ... 2 ** 130 steps make of each value of each four bits of the five words.
__device__ unsigned int xorwow_powers[419200];

__device__ void __xorwow_add(unsigned int word, int first, unsigned int& a, unsigned int& b, unsigned int& c,
                             unsigned int& d, unsigned int& e) {
    for (int digit = 0; digit < 8; ++digit) {
        const int at = ((first + digit) * 16 + (int)(word >> 4 * digit & 15u)) * 5;
        a ^= xorwow_powers[at];
        b ^= xorwow_powers[at + 1];
        c ^= xorwow_powers[at + 2];
        d ^= xorwow_powers[at + 3];
        e ^= xorwow_powers[at + 4];
    }
}
__device__ void __xorwow_skip(curandStateXORWOW* state, unsigned long long n, int power) {
    unsigned int v0 = state->v0, v1 = state->v1, v2 = state->v2, v3 = state->v3, v4 = state->v4;
    while (n != 0) {
        if (n & 1) {
            unsigned int a = 0, b = 0, c = 0, d = 0, e = 0;
            const int first = power * 40;
            __xorwow_add(v0, first, a, b, c, d, e);
            __xorwow_add(v1, first + 8, a, b, c, d, e);
            __xorwow_add(v2, first + 16, a, b, c, d, e);
            __xorwow_add(v3, first + 24, a, b, c, d, e);
            __xorwow_add(v4, first + 32, a, b, c, d, e);
            v0 = a;
            v1 = b;
            v2 = c;
            v3 = d;
            v4 = e;
        }
        n >>= 1;
        power += 1;
    }
    state->v0 = v0;
    state->v1 = v1;
    state->v2 = v2;
    state->v3 = v3;
    state->v4 = v4;
}
__device__ void skipahead(unsigned long long n, curandStateXORWOW* state) {
    __xorwow_skip(state, n, 0);
    state->d += 362437u * (unsigned int)n;
}
__device__ void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) { __xorwow_skip(state, n, 67); }
__device__ void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandStateXORWOW* state) {
    const unsigned int a = 1099087573u * ((unsigned int)seed ^ 0xAAD26B49u);
    const unsigned int b = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xF7DCEFDDu);
    curandStateXORWOW made;
    made.d = 6615241u + b + a;
    made.v0 = 123456789u + a;
    made.v1 = 362436069u ^ a;
    made.v2 = 521288629u + b;
    made.v3 = 88675123u ^ b;
    made.v4 = 5783321u + a;
    if (subsequence != 0) skipahead_sequence(subsequence, &made);
    if (offset != 0) skipahead(offset, &made);
    made.boxmuller_flag = 0;
    made.boxmuller_flag_double = 0;
    made.boxmuller_extra = 0.0f;
    made.unused = 0;
    made.boxmuller_extra_double = 0.0;
    *state = made;
}
__device__ unsigned int curand(curandStateXORWOW* state) {
    const unsigned int t = state->v0 ^ state->v0 >> 2, last = state->v4;
    state->v0 = state->v1;
    state->v1 = state->v2;
    state->v2 = state->v3;
    state->v3 = last;
    const unsigned int next = last ^ last << 4 ^ (t ^ t << 1);
    state->v4 = next;
    const unsigned int d = state->d + 362437u;
    state->d = d;
    return next + d;
}
__device__ float __xorwow_uniform(unsigned int x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
__device__ double __xorwow_uniform(unsigned int x, unsigned int y) {
    const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
    return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}
__device__ float curand_uniform(curandStateXORWOW* state) { return __xorwow_uniform(curand(state)); }
__device__ double curand_uniform_double(curandStateXORWOW* state) {
    const unsigned int x = curand(state), y = curand(state);
    return __xorwow_uniform(x, y);
}
__device__ float2 curand_normal2(curandStateXORWOW* state) {
    const unsigned int x = curand(state), y = curand(state);
    const float v = y * 2.3283064e-10f * 6.2831855f + 2.3283064e-10f * 6.2831855f / 2.0f;
    const float s = sqrtf(-2.0f * logf(__xorwow_uniform(x)));
    return make_float2(s * sinf(v), s * cosf(v));
}
__device__ double2 curand_normal2_double(curandStateXORWOW* state) {
    const double u = curand_uniform_double(state), v = 2.0 * curand_uniform_double(state);
    const double s = sqrt(-2.0 * log(u));
    return make_double2(s * sin(3.141592653589793 * v), s * cos(3.141592653589793 * v));
}
// Normals come in pairs; the second is kept for the next call of the same function.
__device__ float curand_normal(curandStateXORWOW* state) {
    if (state->boxmuller_flag == 1) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y;
    state->boxmuller_flag = 1;
    return pair.x;
}
__device__ double curand_normal_double(curandStateXORWOW* state) {
    if (state->boxmuller_flag_double == 1) {
        state->boxmuller_flag_double = 0;
        return state->boxmuller_extra_double;
    }
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y;
    state->boxmuller_flag_double = 1;
    return pair.x;
}
__device__ float curand_log_normal(curandStateXORWOW* state, float mean, float deviation) {
    if (state->boxmuller_flag == 2) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = expf(mean + deviation * pair.y);
    state->boxmuller_flag = 2;
    return expf(mean + deviation * pair.x);
}
