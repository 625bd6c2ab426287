// The macros of c10/macros/Macros.h that extensions use.
#pragma once

#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#define AT_HOST_DEVICE
#define AT_DEVICE
#define AT_HOST
#define C10_HOST_CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(...)
#define C10_LAUNCH_BOUNDS_2(...)
#define C10_LAUNCH_BOUNDS(...)
#define C10_MAX_THREADS_PER_BLOCK(value) (value)
#define C10_MIN_BLOCKS_PER_SM(threads, blocks) (blocks)
#define C10_WARP_SIZE PORTER_WARP_SIZE
#define C10_RESTRICT __restrict
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define C10_NOINLINE __attribute__((noinline))
#define C10_UNUSED __attribute__((unused))
#define C10_NODISCARD [[nodiscard]]
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning)
#define C10_DIAGNOSTIC_POP()
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_EXPORT
#define C10_API
#define C10_HIDDEN
#define C10_CUDA_API
#define TORCH_API
#define TORCH_CUDA_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(name) C10_CONCATENATE(name, __COUNTER__)
#define C10_DISABLE_COPY_AND_ASSIGN(name) \
    name(const name&) = delete; \
    name& operator=(const name&) = delete

// The version of torch whose interface this is.
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 4
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION "2.4.0"
