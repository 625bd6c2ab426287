// The grids that PyTorch gives kernels of one thread an element (ATen/cuda/ApplyGridUtils.cuh), in host code.
namespace at {
namespace cuda {
inline int getApplyBlockSize() { return 512; }
inline int getApplyBlocksPerSM() { return 4; }
inline dim3 getApplyBlock(int threads = 512) { return dim3(threads); }
inline bool getApplyGrid(uint64_t elements, dim3& grid, int64_t device, int threads = 512) {
    grid = dim3((elements + threads - 1) / threads);
    return true;
}
}  // namespace cuda
}  // namespace at
