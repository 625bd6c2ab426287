// <array> of the standard library and of libcu++.
#define ARRAY_OF(SPACE)                                                    \
    namespace SPACE {                                                      \
    template <typename T, size_t N>                                        \
    struct array {                                                         \
        T elements[N];                                                     \
        __device__ T& operator[](size_t at) { return elements[at]; }       \
        __device__ const T& operator[](size_t at) const { return elements[at]; } \
        __device__ T& at(size_t at) { return elements[at]; }               \
        __device__ T& front() { return elements[0]; }                      \
        __device__ T& back() { return elements[N - 1]; }                   \
        __device__ T* data() { return elements; }                          \
        __device__ T* begin() { return elements; }                         \
        __device__ T* end() { return elements + N; }                       \
        __device__ size_t size() const { return N; }                       \
        __device__ void fill(const T& value) {                             \
            for (size_t i = 0; i < N; ++i) elements[i] = value;            \
        }                                                                  \
    };                                                                     \
    }
ARRAY_OF(std)
namespace cuda {
ARRAY_OF(std)
}
#undef ARRAY_OF
