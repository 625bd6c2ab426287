// Device-side helpers of ATen: shuffles, atomics on every element type, accumulation types, block reductions, grids.
#pragma once

#include "porter/language.h"
#include "porter/torch/macros.h"
#include "porter/torch/tensor.h"

// The type a reduction accumulates in on the GPU (or CPU), and the type one operation computes in.
namespace at {

template <class T, bool is_cuda>
constexpr auto accumulator() {
    if constexpr (std::is_same_v<T, bool>) return false;
    else if constexpr (std::is_integral_v<T>) return std::int64_t(0);
    else if constexpr (std::is_same_v<T, double> || (!is_cuda && std::is_same_v<T, porter::Float>)) return 0.0;
    else return porter::Float(0);
}
template <class T, bool is_cuda>
struct AccumulateType {
    using type = decltype(accumulator<T, is_cuda>());
};
template <class T, bool is_cuda> using acc_type = typename AccumulateType<T, is_cuda>::type;
template <class T, DeviceType device> using acc_type_device = acc_type<T, device == kCUDA>;

template <class T> struct OpMathType { using type = T; };
template <> struct OpMathType<Half> { using type = porter::Float; };
template <> struct OpMathType<BFloat16> { using type = porter::Float; };
template <class T> using opmath_type = typename OpMathType<T>::type;
inline ScalarType toOpMathType(ScalarType type) { return isReducedFloatingType(type) ? kFloat : type; }
inline ScalarType toAccumulateType(ScalarType type, bool is_cuda) {
    if (isIntegralType(type, false)) return kLong;
    return isReducedFloatingType(type) ? kFloat : type == kFloat && !is_cuda ? kDouble : type;
}

template <class T>
inline bool _isnan(T value) {
    if constexpr (std::is_integral_v<T>) return false;
    else return value != value;
}
template <class T>
inline bool _isinf(T value) {
    if constexpr (std::is_integral_v<T>) return false;
    else return std::isinf(static_cast<double>(value));
}

// Bounds as ATen uses them: the infinities where the type has them.
template <class T>
struct numeric_limits {
    using Limits = std::numeric_limits<T>;
    static T lowest() { return Limits::lowest(); }
    static T max() { return Limits::max(); }
    static T lower_bound() { return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest(); }
    static T upper_bound() { return Limits::has_infinity ? Limits::infinity() : Limits::max(); }
};

template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <class T> constexpr T round_up(T a, T b) { return ceil_div(a, b) * b; }

}  // namespace at

namespace at::cuda {
template <class T> constexpr T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }
namespace detail {
inline bool canUse32BitIndexMath(const TensorBase& tensor, std::int64_t limit = INT32_MAX) {
    std::int64_t last = 0;
    for (std::int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d);
    return tensor.numel() <= limit && last * static_cast<std::int64_t>(tensor.element_size()) <= limit;
}
inline constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(std::int64_t n, std::int64_t threads = CUDA_NUM_THREADS) {
    TORCH_INTERNAL_ASSERT(n > 0, "CUDA kernel launch blocks must be positive, but got N=", n);
    return static_cast<int>((n - 1) / threads + 1);
}
}  // namespace detail
}  // namespace at::cuda

// Shuffles of a type the hardware could not move at once are fine here: `exchange` takes any. A source that does not
// include PyTorch's may have functions of the same names: whose operand is of one type, as in PyTorch, is preferred.
#define PORTER_TORCH_SHUFFLE(name, function, Operand) \
    template <class T, class Given> \
    inline T name(T value, Given given, int width = warpSize, \
                  porter::simt::LaneMask mask = porter::simt::FULL_MASK, \
                  porter::simt::Where where = porter::simt::Where::here()) { \
        const Operand operand = given; \
        return function(mask, value, operand, width, where); \
    }
PORTER_TORCH_SHUFFLE(WARP_SHFL, __shfl_sync, int)
PORTER_TORCH_SHUFFLE(WARP_SHFL_XOR, __shfl_xor_sync, int)
PORTER_TORCH_SHUFFLE(WARP_SHFL_UP, __shfl_up_sync, unsigned int)
PORTER_TORCH_SHUFFLE(WARP_SHFL_DOWN, __shfl_down_sync, unsigned int)
#undef PORTER_TORCH_SHUFFLE
inline porter::simt::LaneMask WARP_BALLOT(int predicate, porter::simt::LaneMask mask = porter::simt::FULL_MASK,
                                          porter::simt::Where where = porter::simt::Where::here()) {
    return __ballot_sync(mask, predicate, where);
}
inline porter::simt::LaneMask ACTIVE_MASK(porter::simt::Where where = porter::simt::Where::here()) {
    return porter::simt::active_mask(where);
}

// Not inlined: the watch names the caller's line by the return address.
#define PORTER_TORCH_ATOMIC(name, expression) \
    template <class T> \
    __attribute__((noinline)) T name(T* address, typename porter::Identity<T>::type value) { \
        const porter::simt::AtomicScope scope(address, sizeof(T)); \
        const T old = *address; \
        *address = static_cast<T>(expression); \
        return old; \
    }
PORTER_TORCH_ATOMIC(gpuAtomicAdd, old + value)
PORTER_TORCH_ATOMIC(gpuAtomicAddNoReturn, old + value)
PORTER_TORCH_ATOMIC(gpuAtomicMul, old * value)
PORTER_TORCH_ATOMIC(gpuAtomicMax, old < value ? value : old)
PORTER_TORCH_ATOMIC(gpuAtomicMin, value < old ? value : old)
#undef PORTER_TORCH_ATOMIC

// ATen adds the element types that CUDA's own atomicAdd lacks.
#define PORTER_TORCH_ATOMIC_ADD(T) \
    __attribute__((noinline)) inline T atomicAdd(T* address, T value) { \
        const porter::simt::AtomicScope scope(address, sizeof(T)); \
        const T old = *address; \
        *address = static_cast<T>(old + value); \
        return old; \
    }
PORTER_TORCH_ATOMIC_ADD(c10::Half)
PORTER_TORCH_ATOMIC_ADD(c10::BFloat16)
PORTER_TORCH_ATOMIC_ADD(std::uint8_t)
PORTER_TORCH_ATOMIC_ADD(std::int8_t)
PORTER_TORCH_ATOMIC_ADD(std::int16_t)
PORTER_TORCH_ATOMIC_ADD(bool)
#undef PORTER_TORCH_ATOMIC_ADD

namespace at::native {

template <class T, class Index> inline void fastAtomicAdd(T* tensor, Index index, const Index, T value, bool = true) {
    gpuAtomicAdd(tensor + index, value);
}

namespace cuda_utils {

constexpr int kCUDABlockReduceNumThreads = 512;
constexpr int kCUDABlockReduceMaxThreads = warpSize * warpSize;

template <class T>
inline T WarpReduceSum(T value, porter::simt::Where where = porter::simt::Where::here()) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(porter::simt::FULL_MASK, value, offset, warpSize, where);
    }
    return value;
}
// `shared` holds one T for each warp; only the first thread has the sum.
template <class T>
inline T BlockReduceSum(T value, T* shared, porter::simt::Where where = porter::simt::Where::here()) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warpSize, warp = thread / warpSize;
    value = WarpReduceSum(value, where);
    porter::simt::block_barrier(0, porter::simt::BarrierOp::NONE, where);
    if (lane == 0) shared[warp] = value;
    porter::simt::block_barrier(0, porter::simt::BarrierOp::NONE, where);
    value = thread < static_cast<int>(blockDim.x) / warpSize ? shared[lane] : T(0);
    if (warp == 0) value = WarpReduceSum(value, where);
    return value;
}

}  // namespace cuda_utils
}  // namespace at::native

// c10/cuda/CUDAMathCompat.h: one name for the float and double form.
namespace c10::cuda::compat {
#define PORTER_TORCH_COMPAT(name) \
    template <class T> inline T name(T x) { return static_cast<T>(::name(x)); }
PORTER_TORCH_COMPAT(ceil)
PORTER_TORCH_COMPAT(floor)
PORTER_TORCH_COMPAT(exp)
PORTER_TORCH_COMPAT(log)
PORTER_TORCH_COMPAT(log1p)
PORTER_TORCH_COMPAT(sqrt)
PORTER_TORCH_COMPAT(rsqrt)
PORTER_TORCH_COMPAT(tan)
PORTER_TORCH_COMPAT(tanh)
PORTER_TORCH_COMPAT(normcdf)
#undef PORTER_TORCH_COMPAT
template <class T> inline T abs(T x) { return x < T(0) ? -x : x; }
template <class T> inline T pow(T x, T y) { return static_cast<T>(::pow(x, y)); }
template <class T> inline T max(T x, T y) { return ::max(x, y); }
template <class T> inline T min(T x, T y) { return ::min(x, y); }
template <class T> inline T copysign(T x, T y) { return static_cast<T>(::copysign(x, y)); }
}  // namespace c10::cuda::compat
