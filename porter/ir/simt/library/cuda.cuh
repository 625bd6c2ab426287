// Function objects of libcu++.
namespace cuda {

template <typename U = void>
struct maximum {
    template <typename T>
    __device__ T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <typename U = void>
struct minimum {
    template <typename T>
    __device__ T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};

}  // namespace cuda
