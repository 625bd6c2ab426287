// The device API of cuRAND.
//
// Philox4_32_10 and XORWOW give NVIDIA's numbers for a seed, subsequence and offset. MRG32k3a is the same recurrence, but
// seeded by a hash of seed and subsequence instead of a jump ahead: independent, repeatable, other numbers than
// NVIDIA's. No generator depends on the warp size.
#pragma once

#include "porter/math_fast.h"
#include "porter/vector_types.h"

struct curandStatePhilox4_32_10 {
    uint4 counter;
    uint2 key;
    uint4 output;
    unsigned int used;  // of the four words of output
    int has_spare;
    float spare;  // the second normal of the last pair
};
struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag, boxmuller_flag_double;  // whether there is an extra: 1 for a normal, 2 for a log-normal
    float boxmuller_extra;                      // the second number of the last pair
    unsigned int unused;                        // so that there is no gap, which a port need not write
    double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
    double s1[3], s2[3];
    int has_spare;
    float spare;
};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandStateXORWOW_t = curandStateXORWOW;
using curandStateMRG32k3a_t = curandStateMRG32k3a;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

namespace porter {

inline void count(uint4& counter, unsigned long long steps) {
    const unsigned long long low = (unsigned long long)counter.y << 32 | counter.x, next = low + steps;
    counter.x = unsigned(next), counter.y = unsigned(next >> 32);
    if (next < low && ++counter.z == 0) ++counter.w;
}
inline uint4 philox(uint4 c, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const unsigned long long a = 0xD2511F53ull * c.x, b = 0xCD9E8D57ull * c.z;
        c = {unsigned(b >> 32) ^ c.y ^ key.x, unsigned(b), unsigned(a >> 32) ^ c.w ^ key.y, unsigned(a)};
        key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
    }
    return c;
}
inline unsigned long long split_mix(unsigned long long& state) {
    unsigned long long z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}
// (0, 1], as cuRAND's: never zero.
inline float uniform(unsigned int x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
inline double uniform_double(unsigned int x, unsigned int y) {
    const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << (53 - 32);
    return double(z) * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}
inline float2 box_muller(unsigned int x, unsigned int y) {
    const float u = uniform(x), v = y * 2.3283064e-10f * 6.2831855f + 2.3283064e-10f * 6.2831855f / 2.0f;
    const float s = std::sqrt(-2.0f * std::log(u));
    return {s * std::sin(v), s * std::cos(v)};
}

}  // namespace porter

inline void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    state->used += unsigned(n & 3);
    n /= 4;
    if (state->used > 3) n += 1, state->used -= 4;
    porter::count(state->counter, n);
    state->output = porter::philox(state->counter, state->key);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10* state) {
    // Field by field: what lies between them is nobody's, and a port need not write it.
    state->counter = {0, 0, unsigned(subsequence), unsigned(subsequence >> 32)};
    state->key = {unsigned(seed), unsigned(seed >> 32)};
    state->used = 0, state->has_spare = 0, state->spare = 0;
    skipahead(offset, state);
}
inline unsigned int curand(curandStatePhilox4_32_10* state) {
    const unsigned int word = (&state->output.x)[state->used++];
    if (state->used == 4) {
        porter::count(state->counter, 1);
        state->output = porter::philox(state->counter, state->key);
        state->used = 0;
    }
    return word;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
    const uint4 current = state->output;
    porter::count(state->counter, 1);
    state->output = porter::philox(state->counter, state->key);
    const uint4 next = state->output;
    switch (state->used) {
        case 0: return current;
        case 1: return {current.y, current.z, current.w, next.x};
        case 2: return {current.z, current.w, next.x, next.y};
        default: return {current.w, next.x, next.y, next.z};
    }
}

inline unsigned int curand(curandStateXORWOW* state) {
    const unsigned int t = state->v[0] ^ state->v[0] >> 2;
    for (int i = 0; i < 4; ++i) state->v[i] = state->v[i + 1];
    state->v[4] = (state->v[4] ^ state->v[4] << 4) ^ (t ^ t << 1);
    state->d += 362437;
    return state->v[4] + state->d;
}
// Takes the five words 2 ** power steps ahead, n times (runtime/random.cpp).
extern "C" void porter_xorwow_skip(unsigned int* words, unsigned long long n, int power);

namespace porter {

inline void skip(curandStateXORWOW* state, unsigned long long n, int power) {
    unsigned int words[5];
    for (int i = 0; i < 5; ++i) words[i] = state->v[i];
    porter_xorwow_skip(words, n, power);
    for (int i = 0; i < 5; ++i) state->v[i] = words[i];
}

}  // namespace porter

inline void skipahead(unsigned long long n, curandStateXORWOW* state) {
    porter::skip(state, n, 0);
    state->d += 362437u * unsigned(n);
}
// A subsequence has 2 ** 67 numbers, which bring `d` back to where it was.
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) { porter::skip(state, n, 67); }
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateXORWOW* state) {
    const unsigned int a = 1099087573u * (unsigned(seed) ^ 0xAAD26B49u);
    const unsigned int b = 2591861531u * (unsigned(seed >> 32) ^ 0xF7DCEFDDu);
    state->d = 6615241u + b + a;
    state->v[0] = 123456789u + a, state->v[1] = 362436069u ^ a, state->v[2] = 521288629u + b;
    state->v[3] = 88675123u ^ b, state->v[4] = 5783321u + a;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    state->boxmuller_flag = 0, state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0, state->unused = 0, state->boxmuller_extra_double = 0;
}

inline unsigned int curand(curandStateMRG32k3a* state) {
    constexpr double m1 = 4294967087.0, m2 = 4294944443.0;
    double p = std::fmod(1403580.0 * state->s1[1] - 810728.0 * state->s1[0], m1);
    double q = std::fmod(527612.0 * state->s2[2] - 1370589.0 * state->s2[0], m2);
    if (p < 0) p += m1;
    if (q < 0) q += m2;
    state->s1[0] = state->s1[1], state->s1[1] = state->s1[2], state->s1[2] = p;
    state->s2[0] = state->s2[1], state->s2[1] = state->s2[2], state->s2[2] = q;
    return unsigned(p <= q ? p - q + m1 : p - q);
}
inline void skipahead(unsigned long long n, curandStateMRG32k3a* state) {
    while (n-- != 0) curand(state);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateMRG32k3a* state) {
    *state = {};
    unsigned long long mixed = seed ^ subsequence * 0xD1342543DE82EF95ull;
    for (int i = 0; i < 3; ++i) {
        state->s1[i] = double(porter::split_mix(mixed) % 4294967086ull + 1);
        state->s2[i] = double(porter::split_mix(mixed) % 4294944442ull + 1);
    }
    skipahead(offset, state);
}

template <class State>
inline uint4 curand4(State* state) {
    const unsigned int x = curand(state), y = curand(state), z = curand(state), w = curand(state);
    return {x, y, z, w};
}
template <class State>
inline porter::Float curand_uniform(State* state) { return porter::uniform(curand(state)); }
template <class State>
inline double curand_uniform_double(State* state) {
    const unsigned int x = curand(state), y = curand(state);
    return porter::uniform_double(x, y);
}
template <class State>
inline float4 curand_uniform4(State* state) {
    const uint4 x = curand4(state);
    return {porter::uniform(x.x), porter::uniform(x.y), porter::uniform(x.z), porter::uniform(x.w)};
}
template <class State>
inline double2 curand_uniform2_double(State* state) {
    const uint4 x = curand4(state);
    return {porter::uniform_double(x.x, x.y), porter::uniform_double(x.z, x.w)};
}
template <class State>
inline float2 curand_normal2(State* state) {
    const unsigned int x = curand(state), y = curand(state);
    return porter::box_muller(x, y) ;
}
template <class State>
inline float4 curand_normal4(State* state) {
    const uint4 x = curand4(state);
    const float2 a = porter::box_muller(x.x, x.y), b = porter::box_muller(x.z, x.w);
    return {a.x, a.y, b.x, b.y};
}
// Normals come in pairs; the second is kept for the next call.
template <class State>
inline porter::Float curand_normal(State* state) {
    if (state->has_spare) return state->has_spare = 0, state->spare;
    const float2 pair = curand_normal2(state);
    state->has_spare = 1, state->spare = pair.y;
    return pair.x;
}
template <class State>
inline double curand_normal_double(State* state) {
    const double u = curand_uniform_double(state), v = curand_uniform_double(state);
    return std::sqrt(-2.0 * std::log(u)) * std::sin(2.0 * porter::kPi * v);
}
template <class State>
inline porter::Float curand_log_normal(State* state, porter::Float mean, porter::Float deviation) {
    return std::exp(mean + deviation * curand_normal(state));
}
template <class State>
inline unsigned int curand_poisson(State* state, double lambda) {
    const double limit = std::exp(-lambda);
    unsigned int events = 0;
    for (double product = curand_uniform_double(state); product > limit; product *= curand_uniform_double(state)) ++events;
    return events;
}

// XORWOW keeps the second number of a pair for the next call of the same function only.
inline porter::Float curand_normal(curandStateXORWOW* state) {
    if (state->boxmuller_flag == 1) return state->boxmuller_flag = 0, state->boxmuller_extra;
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y, state->boxmuller_flag = 1;
    return pair.x;
}
inline porter::Float curand_log_normal(curandStateXORWOW* state, porter::Float mean, porter::Float deviation) {
    if (state->boxmuller_flag == 2) return state->boxmuller_flag = 0, state->boxmuller_extra;
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = std::exp(mean + deviation * pair.y), state->boxmuller_flag = 2;
    return std::exp(mean + deviation * pair.x);
}
inline double2 curand_normal2_double(curandStateXORWOW* state) {
    const double u = curand_uniform_double(state);
    const unsigned int x = curand(state), y = curand(state);
    const double v = 2.0 * porter::uniform_double(x, y), s = std::sqrt(-2.0 * std::log(u));
    return {s * std::sin(porter::kPi * v), s * std::cos(porter::kPi * v)};
}
inline double curand_normal_double(curandStateXORWOW* state) {
    if (state->boxmuller_flag_double == 1) return state->boxmuller_flag_double = 0, state->boxmuller_extra_double;
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y, state->boxmuller_flag_double = 1;
    return pair.x;
}
