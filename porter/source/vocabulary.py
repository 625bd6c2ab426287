"""Words of C++ and CUDA by the part they play for a reader that has no compiler."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPACES = _words("__global__ __device__ __host__")
STORAGE = _words("__shared__ __constant__ __managed__ __grid_constant__")
HINTS = _words(
    """__restrict__ __restrict __forceinline__ __forceinline __noinline__ __inline__ __inline __extension__ __nv_pure__
    __tile_global__ CUDART_CB"""
)
ALIGNING = _words("alignas __align__ __builtin_align__")
WITH_ARGUMENTS = ALIGNING | _words(
    """__launch_bounds__ __cluster_dims__ __block_size__ __maxnreg__ __attribute__ __attribute __declspec _Pragma
    __pragma"""
)
# Everything CUDA and compilers add to a declaration, and a C++ grammar does not know.
QUALIFIERS = SPACES | STORAGE | HINTS | WITH_ARGUMENTS

TYPES = _words(
    "void bool char short int long float double signed unsigned auto wchar_t char8_t char16_t char32_t",
)
CV = _words("const volatile")
TYPE_KEYS = _words("struct class enum union typename")
SPECIFIERS = _words("static inline extern constexpr consteval virtual friend explicit typename register")
# Macros that begin the definition of a module, which binds functions to Python.
MODULES = _words(
    """PYBIND11_MODULE NB_MODULE TORCH_LIBRARY TORCH_LIBRARY_FRAGMENT TORCH_LIBRARY_IMPL STABLE_TORCH_LIBRARY
    STABLE_TORCH_LIBRARY_FRAGMENT STABLE_TORCH_LIBRARY_IMPL"""
)
COORDINATES = _words("threadIdx blockIdx blockDim gridDim")  # of a thread, in a kernel alone
# A body with one of these is no expression.
STATEMENTS = QUALIFIERS | _words(
    """if else for while do switch case default return break continue goto template using namespace struct class enum
    union static inline extern constexpr typedef asm __asm__ operator public private noexcept static_assert try catch"""
)
# What cannot stand directly behind the name of a type.
NEVER_AFTER_TYPE = (QUALIFIERS - _words("__restrict__ __restrict __launch_bounds__ __attribute__")) | _words(
    """for while do if switch return template typename using struct class enum auto void bool char short float double
    static inline extern constexpr typedef"""
)
AFTER_DECLARATOR = _words("const noexcept override final requires and or not else")
EXPRESSION_KEYWORDS = _words("return throw new delete case goto typename operator else namespace")
WITH_PARENTHESIS = _words("for if while switch catch sizeof asm __asm__ return")
CALLS_IN_HEAD = WITH_ARGUMENTS | _words("decltype requires noexcept sizeof alignof explicit asm __asm__ static_assert")
CONTROL = _words("if for while switch catch do else return")
ASM = _words("asm __asm __asm__")
# What stands before the first word of a statement and behind its last.
STATEMENT_ENDS = _words("; { }")

LAMBDA_KERNELS = _words(
    """gpu_kernel gpu_kernel_with_scalars gpu_kernel_multiple_outputs gpu_reduce_kernel
    opmath_gpu_kernel_with_scalars"""
)
TEXTURES = _words(
    """tex1D tex2D tex3D tex1Dfetch tex1DLod tex2DLod tex2DLayered texCubemap cudaTextureObject_t cudaSurfaceObject_t
    surf1Dread surf2Dread surf3Dread surf1Dwrite surf2Dwrite surf3Dwrite"""
)
# Names that nobody needs whose blocks do not wait for each other.
COOPERATIVE = _words(
    "multi_grid_group this_multi_grid cudaLaunchCooperativeKernel cudaLaunchCooperativeKernelMultiDevice"
)
# What a using-directive for a library's namespace makes known without it.
LIBRARIES = {
    "cooperative_groups": _words(
        """thread_group thread_block thread_block_tile coalesced_group grid_group this_thread_block this_grid
        tiled_partition labeled_partition binary_partition coalesced_threads sync reduce inclusive_scan exclusive_scan
        plus less greater bit_and bit_or bit_xor invoke_one"""
    ),
    "cub": _words(
        """BlockReduce BlockScan BlockLoad BlockStore BlockRadixSort BlockExchange BlockHistogram BlockDiscontinuity
        WarpReduce WarpScan DeviceReduce DeviceScan DeviceSegmentedReduce DeviceRadixSort Sum Max Min ArgMax ArgMin
        Equality KeyValuePair CachingDeviceAllocator"""
    ),
}
