// The votes of a block: all threads of it count at one place, which a barrier shows to all.
__device__ int __syncthreads_count(int holds) {
    __shared__ int counted;
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) counted = 0;
    __syncthreads();
    atomicAdd(&counted, holds != 0);
    __syncthreads();
    const int told = counted;
    __syncthreads();
    return told;
}
__device__ int __syncthreads_or(int holds) {
    __shared__ int some;
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) some = 0;
    __syncthreads();
    atomicMax(&some, holds != 0);
    __syncthreads();
    const int told = some;
    __syncthreads();
    return told;
}
__device__ int __syncthreads_and(int holds) {
    __shared__ int every;
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) every = 1;
    __syncthreads();
    atomicMin(&every, holds != 0);
    __syncthreads();
    const int told = every;
    __syncthreads();
    return told;
}
