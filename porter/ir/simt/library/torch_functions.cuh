// PyTorch's functions of numbers (ATen/ceil_div.h, ATen/cuda/DeviceUtils.h, ATen/NumericUtils.h, THC/THCDeviceUtils.cuh).
template <typename T>
__device__ T THCCeilDiv(T a, T b) { return (a + b - 1) / b; }
template <typename T>
__device__ T THCRoundUp(T a, T b) { return (a + b - 1) / b * b; }
namespace at {
template <typename T>
__device__ T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <typename T>
__device__ T round_up(T a, T b) { return (a + b - 1) / b * b; }
template <typename T>
__device__ bool _isnan(T value) { return value != value; }
template <typename T>
__device__ bool _isinf(T value) { return isinf((double)value); }
namespace cuda {
template <typename T>
__device__ T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }
}  // namespace cuda
}  // namespace at
