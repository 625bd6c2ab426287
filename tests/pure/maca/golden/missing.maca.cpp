// missing.cu ported to MACA xcore1000 by porter 0.1.0, source 2f01eeb9159fd37f
#include <mc_runtime.h>
#include <maca_bfloat16.h>
#include <maca_fp16.h>

#ifndef PORTER_HTANH
#define PORTER_HTANH
// tanh of a half, computed in float and rounded once: MACA's half header has none.
template <class T>
__device__ __forceinline__ T porter_htanh(T x) {
    return static_cast<T>(tanhf(static_cast<float>(x)));
}
#endif

#ifndef PORTER_ATOMIC_ADD
#define PORTER_ATOMIC_ADD
#include <maca_bfloat16.h>
// atomicAdd for any type; for bfloat16, which the device cannot add atomically, by exchanging the word around it.
template <class T, class V>
__device__ __forceinline__ auto porter_atomic_add(T* address, V value) {
    return atomicAdd(address, value);
}
__device__ __forceinline__ unsigned int porter_exchange(unsigned int* word, unsigned int assumed, unsigned int bits,
                                                        unsigned int shift) {
    return atomicCAS(word, assumed, (assumed & ~(0xffffu << shift)) | (bits << shift));
}
template <class V>
__device__ __forceinline__ __maca_bfloat16 porter_atomic_add(__maca_bfloat16* address, V value) {
    const unsigned long long place = reinterpret_cast<unsigned long long>(address);
    unsigned int* word = reinterpret_cast<unsigned int*>(place & ~3ull);
    const unsigned int shift = (place & 2) * 8;
    unsigned int seen = atomicOr(word, 0u), assumed;
    __maca_bfloat16 before;
    do {
        assumed = seen;
        before = __ushort_as_bfloat16(static_cast<unsigned short>(assumed >> shift));
        const float sum = __bfloat162float(before) + __bfloat162float(static_cast<__maca_bfloat16>(value));
        seen = porter_exchange(word, assumed, __bfloat16_as_ushort(__float2bfloat16(sum)), shift);
    } while (seen != assumed);
    return before;
}
__device__ __forceinline__ void porter_atomic_add(__maca_bfloat162* address, __maca_bfloat162 value) {
    __maca_bfloat16* halves = reinterpret_cast<__maca_bfloat16*>(address);
    porter_atomic_add(halves, __low2bfloat16(value));
    porter_atomic_add(halves + 1, __high2bfloat16(value));
}
#endif

extern __shared__ float tile[];

template <typename T>
__global__ void scatter(T* sums, float* norms, __maca_bfloat16* counts, const __half* x, __half* y, const int* where) {
    int i = threadIdx.x;
    y[i] = porter_htanh(x[i]);
    porter_atomic_add(&sums[where[i]], T(1));
    atomicAdd(&norms[where[i]], 1.0f);
    porter_atomic_add(counts + where[i], __float2bfloat16(1.0f));
}

int prepare(int bytes) {
    mcFuncSetAttribute(reinterpret_cast<const void*>(scatter<float>), mcFuncAttributeMaxDynamicSharedMemorySize, bytes);
    return mcFuncSetAttribute((const void*)scatter<double>, mcFuncAttributeMaxDynamicSharedMemorySize, 96 * 1024);
}
