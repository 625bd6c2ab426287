// PyTorch's tensor accessors: a pointer with sizes and strides, subscripted one axis after the other.
#define ACCESSOR(NAME, INDEX)                                                                                  \
    template <typename T, int N, typename Traits = void, typename index_t = INDEX>                             \
    struct NAME {                                                                                              \
        T* data_;                                                                                              \
        index_t size_[N];                                                                                      \
        index_t stride_[N];                                                                                    \
        __device__ index_t size(int axis) const { return size_[axis]; }                                        \
        __device__ index_t stride(int axis) const { return stride_[axis]; }                                    \
        __device__ T* data() const { return data_; }                                                           \
        __device__ TensorAccessor<T, N - 1, Traits, index_t> operator[](index_t i) const {                     \
            TensorAccessor<T, N - 1, Traits, index_t> rest;                                                    \
            rest.data_ = data_ + i * stride_[0];                                                               \
            for (int axis = 1; axis < N; ++axis) {                                                             \
                rest.size_[axis - 1] = size_[axis];                                                            \
                rest.stride_[axis - 1] = stride_[axis];                                                        \
            }                                                                                                  \
            return rest;                                                                                       \
        }                                                                                                      \
    };                                                                                                         \
    template <typename T, typename Traits, typename index_t>                                                   \
    struct NAME<T, 1, Traits, index_t> {                                                                       \
        T* data_;                                                                                              \
        index_t size_[1];                                                                                      \
        index_t stride_[1];                                                                                    \
        __device__ index_t size(int axis) const { return size_[axis]; }                                        \
        __device__ index_t stride(int axis) const { return stride_[axis]; }                                    \
        __device__ T* data() const { return data_; }                                                           \
        __device__ T& operator[](index_t i) const { return data_[i * stride_[0]]; }                            \
    };
ACCESSOR(TensorAccessor, long)
ACCESSOR(PackedTensorAccessor, long)
ACCESSOR(GenericPackedTensorAccessor, long)
ACCESSOR(PackedTensorAccessor64, long)
ACCESSOR(PackedTensorAccessor32, int)
