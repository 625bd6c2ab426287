// Shuffles among a number of lanes that only a run knows, as ones of the whole warp.
__device__ int __lane_of_warp() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; }
template <typename T>
__device__ T __shuffled_index(unsigned int mask, T value, int lane, int width) {
    return __shfl_sync(mask, value, (__lane_of_warp() & -width) | (lane & (width - 1)));
}
template <typename T>
__device__ T __shuffled_up(unsigned int mask, T value, int distance, int width) {
    const int lane = __lane_of_warp();
    return __shfl_sync(mask, value, lane - distance < (lane & -width) ? lane : lane - distance);
}
template <typename T>
__device__ T __shuffled_down(unsigned int mask, T value, int distance, int width) {
    const int lane = __lane_of_warp();
    return __shfl_sync(mask, value, lane + distance >= (lane & -width) + width ? lane : lane + distance);
}
template <typename T>
__device__ T __shuffled_xor(unsigned int mask, T value, int bits, int width) {
    const int lane = __lane_of_warp();
    return __shfl_sync(mask, value, (lane ^ bits) >= (lane & -width) + width ? lane : lane ^ bits);
}
