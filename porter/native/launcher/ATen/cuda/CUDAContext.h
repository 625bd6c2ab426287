// PyTorch's without the handles of cuBLAS, cuSPARSE and cuSOLVER.
#pragma once
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)

namespace at::cuda {
using namespace c10::cuda;
TORCH_CUDA_CPP_API cudaDeviceProp* getCurrentDeviceProperties();
}  // namespace at::cuda
