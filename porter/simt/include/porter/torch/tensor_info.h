// A tensor as kernels walk it, element by element: a pointer with the sizes and strides of any number of axes.
#pragma once

#include "porter/torch/tensor.h"

#define MAX_TENSORINFO_DIMS 25

namespace at::cuda::detail {

template <typename T, typename IndexType>
struct TensorInfo {
    TensorInfo() = default;
    TensorInfo(T* elements, int count, const IndexType* extents, const IndexType* steps) : data(elements), dims(count) {
        TORCH_CHECK(count < MAX_TENSORINFO_DIMS, "CUDA Tensors cannot have more than 25 dimensions");
        for (int i = 0; i < count; ++i) sizes[i] = extents[i], strides[i] = steps[i];
    }

    void reduceDim(int dim) {
        TORCH_CHECK(dim >= 0 && dim < dims, "expected dim between 0 and dims - 1");
        sizes[dim] = 1;
    }

    // Joins axes that lie in memory as one and drops those of size 1, but for one; returns where that is now.
    int collapseDims(int excluded = -1) {
        int kept = 0, place = -1;
        for (int i = 0; i < dims; ++i) {
            if (i == excluded) {
                place = kept;
            } else if (sizes[i] == 1) {
                continue;
            } else if (kept > 0 && kept - 1 != place && strides[kept - 1] == sizes[i] * strides[i]) {
                sizes[kept - 1] *= sizes[i], strides[kept - 1] = strides[i];
                continue;
            }
            sizes[kept] = sizes[i], strides[kept] = strides[i], ++kept;
        }
        if (kept == 0) sizes[kept] = 1, strides[kept] = 1, ++kept;
        dims = kept;
        return place;
    }

    __host__ __device__ bool isContiguous() const { return dims == 1 && strides[0] == 1; }

    T* data = nullptr;
    IndexType sizes[MAX_TENSORINFO_DIMS] = {};
    IndexType strides[MAX_TENSORINFO_DIMS] = {};
    int dims = 0;
};

// Where the element of a number lies; a negative `Dims` is as many axes as the tensor has.
template <typename T, typename IndexType, int Dims>
struct IndexToOffset {
    __host__ __device__ static IndexType get(IndexType number, const TensorInfo<T, IndexType>& info) {
        IndexType offset = 0;
        for (int i = (Dims < 0 ? info.dims : Dims) - 1; i > 0; --i) {
            offset += number % info.sizes[i] * info.strides[i];
            number /= info.sizes[i];
        }
        return offset + number * info.strides[0];
    }
};

template <typename T, typename IndexType>
TensorInfo<T, IndexType> getTensorInfo(const TensorBase& tensor) {
    IndexType sizes[MAX_TENSORINFO_DIMS] = {}, strides[MAX_TENSORINFO_DIMS] = {};
    const int dims = static_cast<int>(tensor.dim());
    for (int i = 0; i < dims && i < MAX_TENSORINFO_DIMS; ++i) {
        sizes[i] = static_cast<IndexType>(tensor.size(i)), strides[i] = static_cast<IndexType>(tensor.stride(i));
    }
    return {tensor.template data_ptr<std::remove_const_t<T>>(), dims, sizes, strides};
}

}  // namespace at::cuda::detail
