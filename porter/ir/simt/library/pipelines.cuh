// Copies to shared memory in the background (<cuda_pipeline.h>, cp.async), done at once.
__device__ void __pipeline_commit() {}
__device__ void __pipeline_wait_prior(int count) {}
namespace porter {
namespace ptx {
template <typename To, typename From>
__device__ void copy_async(To* to, const From* from, int bytes, int given = 16) {
#pragma unroll
    for (int i = 0; i < bytes; i += 4)
        ((unsigned int*)to)[i / 4] = i < given ? ((const unsigned int*)from)[i / 4] : 0u;
}
}  // namespace ptx
}  // namespace porter
template <typename To, typename From>
__device__ void __pipeline_memcpy_async(To* to, const From* from, size_t bytes, size_t zeros = 0) {
    for (size_t i = 0; i < bytes; i += 4)
        ((unsigned int*)to)[i / 4] = i < bytes - zeros ? ((const unsigned int*)from)[i / 4] : 0u;
}
