// PyTorch's functions of a warp (ATen/cuda/DeviceUtils.cuh).
template <typename T>
__device__ T WARP_SHFL(T value, int lane, int width = 32, unsigned int mask = 0xffffffff) {
    return __shfl_sync(mask, value, lane, width);
}
template <typename T>
__device__ T WARP_SHFL_XOR(T value, int bits, int width = 32, unsigned int mask = 0xffffffff) {
    return __shfl_xor_sync(mask, value, bits, width);
}
template <typename T>
__device__ T WARP_SHFL_UP(T value, unsigned int distance, int width = 32, unsigned int mask = 0xffffffff) {
    return __shfl_up_sync(mask, value, distance, width);
}
template <typename T>
__device__ T WARP_SHFL_DOWN(T value, unsigned int distance, int width = 32, unsigned int mask = 0xffffffff) {
    return __shfl_down_sync(mask, value, distance, width);
}
__device__ unsigned int WARP_BALLOT(int holds, unsigned int mask = 0xffffffff) { return __ballot_sync(mask, holds); }
__device__ int WARP_ANY(int holds, unsigned int mask = 0xffffffff) { return __any_sync(mask, holds); }

// Whether all lanes of the mask that run hold the same number: these lanes, else none.
template <typename T>
__device__ unsigned int __match_all_sync(unsigned int mask, T value, int* holds) {
    const unsigned int present = __ballot_sync(mask, 1), same = __match_any_sync(mask, value);
    *holds = same == present;
    return same == present ? present : 0u;
}
