// The grids that PyTorch gives kernels of one thread an element (ATen/cuda/ApplyGridUtils.cuh).
#pragma once

#include <algorithm>
#include <cstdint>

#include "porter/torch/cuda.h"
#include "porter/torch/device_utils.h"

namespace at::cuda {

constexpr std::uint32_t AT_APPLY_THREADS_PER_BLOCK = 512, AT_APPLY_BLOCKS_PER_SM = 4;

constexpr int getApplyBlockSize() { return AT_APPLY_THREADS_PER_BLOCK; }
constexpr int getApplyBlocksPerSM() { return AT_APPLY_BLOCKS_PER_SM; }
inline dim3 getApplyBlock(int threads = AT_APPLY_THREADS_PER_BLOCK) { return dim3(threads); }

// Sets `grid` to as many blocks as cover the elements, `step` a thread, or to as many as the device takes.
template <int step = 1>
bool getApplyGrid(std::uint64_t elements, dim3& grid, std::int64_t device, int threads = AT_APPLY_THREADS_PER_BLOCK) {
    if (device < 0) return false;
    const std::uint64_t most = getCurrentDeviceProperties()->maxGridSize[0];
    grid = dim3(static_cast<unsigned>(std::min(ATenCeilDiv<std::uint64_t>(elements, std::uint64_t(threads) * step), most)));
    return true;
}

}  // namespace at::cuda
