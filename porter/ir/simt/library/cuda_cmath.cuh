// <cuda/cmath> of CUDA's C++ library: functions of whole numbers.
namespace cuda {
template <class T, class U> __host__ __device__ T ceil_div(T a, U b) { return (T)((a + b - 1) / b); }
template <class T, class U> __host__ __device__ T round_up(T a, U b) { return (T)((a + b - 1) / b * b); }
template <class T, class U> __host__ __device__ T round_down(T a, U b) { return (T)(a / b * b); }
template <class T> __host__ __device__ bool is_power_of_two(T a) { return a > 0 && (a & (a - 1)) == 0; }
}
