// The host API of cuRAND: every generator is Philox here, so numbers repeat but are not NVIDIA's of that generator.
#pragma once

#include "porter/curand.h"
#include "porter/runtime_memory.h"
#include "porter/watch.h"

enum curandStatus_t {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_INTERNAL_ERROR = 999,
};
enum curandRngType_t {
    CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101, CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141, CURAND_RNG_PSEUDO_MT19937 = 142, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
};
enum curandOrdering_t { CURAND_ORDERING_PSEUDO_DEFAULT = 101, CURAND_ORDERING_PSEUDO_SEEDED = 102 };
struct curandGenerator_st {
    unsigned long long seed, offset;
    curandStatePhilox4_32_10 state;
};
using curandGenerator_t = curandGenerator_st*;

namespace porter {

// Fills `out` with `next(state)`, an element at a time.
template <class T, class Next>
inline curandStatus_t generate(curandGenerator_t generator, T* out, std::size_t count, Next next) {
    const simt::UnwatchedScope unwatched;
    for (std::size_t i = 0; i < count; ++i) out[i] = next(&generator->state);
    if (simt::device_extent(out).base != nullptr) simt::host_wrote(out, count * sizeof(T));
    return CURAND_STATUS_SUCCESS;
}

}  // namespace porter

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t) {
    *generator = new curandGenerator_st{};
    curand_init(0, 0, 0, &(*generator)->state);
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
    return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) { return delete generator, CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
    generator->seed = seed;
    return curand_init(seed, 0, generator->offset, &generator->state), CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
    generator->offset = offset;
    return curand_init(generator->seed, 0, offset, &generator->state), CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) { return CURAND_STATUS_SUCCESS; }

inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out, std::size_t count) {
    return porter::generate(generator, out, count, [](curandStatePhilox4_32_10_t* s) { return curand(s); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, porter::Float* out, std::size_t count) {
    return porter::generate(generator, out, count, [](curandStatePhilox4_32_10_t* s) { return curand_uniform(s); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, std::size_t count) {
    return porter::generate(generator, out, count, [](curandStatePhilox4_32_10_t* s) { return curand_uniform_double(s); });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, porter::Float* out, std::size_t count,
                                           porter::Float mean, porter::Float deviation) {
    return porter::generate(generator, out, count, [=](curandStatePhilox4_32_10_t* s) { return mean + deviation * curand_normal(s); });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, std::size_t count, double mean,
                                                 double deviation) {
    return porter::generate(generator, out, count, [=](curandStatePhilox4_32_10_t* s) { return mean + deviation * curand_normal_double(s); });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, porter::Float* out, std::size_t count,
                                              porter::Float mean, porter::Float deviation) {
    return porter::generate(generator, out, count, [=](curandStatePhilox4_32_10_t* s) { return curand_log_normal(s, mean, deviation); });
}
