// What CUDA's compiler predefines, and what its device is called: an A100, compiled by CUDA 12.4.
#pragma once

#define __CUDA_ARCH__ 800
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_ARCH_LIST__ 800
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1

#define PORTER_DEVICE_NAME "NVIDIA A100-SXM4-80GB"
