// CUDA's function and variable qualifiers, and the macros a CUDA or MACA compiler predefines.
//
// Included after every standard header of language.h: libstdc++ spells attributes `__noinline__`, which is a qualifier here.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __nv_pure__
#define __forceinline__ inline  // not `always_inline`: one that is called by its address would not compile
#define __inline_hint__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __no_return__ __attribute__((noreturn))
#define __thread__ thread_local
#define __cudart_builtin__
#define __device_builtin__
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB

// `__builtin_assume` is clang's; evaluating the expression could have side effects, which it must not have.
#if !defined(__clang__)
#define __builtin_assume(...) ((void)0)
#endif
#define __builtin_nv_assume(...) ((void)0)
#define __nv_builtin_assume(...) ((void)0)
#define __nvvm_builtin_assume(...) ((void)0)

// An Ampere part compiled by CUDA 12.4: the newest architecture whose language is modelled in full.
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040
#define __CUDART_API_VERSION 12040

#include "dialect/compiler.h"
