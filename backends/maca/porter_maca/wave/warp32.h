#ifndef PORTER_WARP32
#define PORTER_WARP32
// CUDA's warps on waves of any width: a warp is an aligned group of 32 lanes, which is half of a 64-lane wave.
namespace warp32 {

constexpr int size = 32;

// The caller's lane in its warp.
__device__ __forceinline__ unsigned int lane() { return __lane_id() & 31; }

// From a mask of the caller's warp to the mask of its wave, and back.
__device__ __forceinline__ unsigned long long lanes(unsigned int mask) {
    return static_cast<unsigned long long>(mask) << (__lane_id() & 32);
}
__device__ __forceinline__ unsigned int bits(unsigned long long lanes) {
    return static_cast<unsigned int>(lanes >> (__lane_id() & 32));
}

// The lanes of `mask` meet and see each other's writes.
__device__ __forceinline__ void sync(unsigned int mask = 0xffffffff) { __syncwarp(lanes(mask)); }

}  // namespace warp32
#endif
