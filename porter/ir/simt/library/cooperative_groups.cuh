// Cooperative groups of a block, of tiles of a warp, and of a grid that need not wait; reductions have the order of porter's executor.
namespace cooperative_groups {

template <typename T>
struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct greater {
    __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
template <typename T>
struct less {
    __device__ T operator()(T a, T b) const { return a < b ? a : b; }
};

template <typename T>
struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};

struct thread_block {
    __device__ void sync() const { __syncthreads(); }
    __device__ unsigned thread_rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    __device__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ unsigned num_threads() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    __device__ dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ dim3 group_dim() const { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    __device__ dim3 dim_threads() const { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
__device__ thread_block this_thread_block() {
    return thread_block();
}

// Blocks of a grid do not wait for each other here: there is no sync.
struct grid_group {
    __device__ unsigned long long block_rank() const {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    __device__ unsigned long long thread_rank() const {
        return block_rank() * this_thread_block().size() + this_thread_block().thread_rank();
    }
    __device__ unsigned long long num_blocks() const {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    __device__ unsigned long long size() const { return num_blocks() * this_thread_block().size(); }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ dim3 group_dim() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ dim3 dim_blocks() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
__device__ grid_group this_grid() {
    return grid_group();
}

template <unsigned Size>
struct thread_block_tile {
    __device__ unsigned mask() const {
        return (Size == 32 ? 0xffffffffu : (1u << Size) - 1u) << block_rank() % 32 / Size * Size;
    }
    __device__ void sync() const { __syncwarp(mask()); }
    __device__ unsigned size() const { return Size; }
    __device__ unsigned num_threads() const { return Size; }
    __device__ unsigned block_rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    __device__ unsigned thread_rank() const { return block_rank() % Size; }
    __device__ unsigned meta_group_rank() const { return block_rank() / Size; }
    __device__ unsigned meta_group_size() const { return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size; }
    template <typename T>
    __device__ T shfl(T value, int rank) const { return __shfl_sync(mask(), value, rank, Size); }
    template <typename T>
    __device__ T shfl_up(T value, unsigned delta) const { return __shfl_up_sync(mask(), value, delta, Size); }
    template <typename T>
    __device__ T shfl_down(T value, unsigned delta) const { return __shfl_down_sync(mask(), value, delta, Size); }
    template <typename T>
    __device__ T shfl_xor(T value, unsigned bits) const { return __shfl_xor_sync(mask(), value, bits, Size); }
    __device__ unsigned ballot(int holds) const {
        return (__ballot_sync(mask(), holds) & mask()) >> block_rank() % 32 / Size * Size;
    }
    __device__ int any(int holds) const { return ballot(holds) != 0; }
    __device__ int all(int holds) const { return ballot(!holds) == 0; }
    template <typename T>
    __device__ unsigned match_any(T value) const {
        return (__match_any_sync(mask(), value) & mask()) >> block_rank() % 32 / Size * Size;
    }
    template <typename T>
    __device__ unsigned match_all(T value, int& holds) const {
        const unsigned whole = mask() >> block_rank() % 32 / Size * Size;
        holds = match_any(value) == whole;
        return holds ? whole : 0u;
    }
};
template <unsigned Size, typename Parent>
__device__ thread_block_tile<Size> tiled_partition(const Parent& parent) {
    return thread_block_tile<Size>();
}

// The lanes that run together where it is made; a rank counts those of `mask`.
struct coalesced_group {
    unsigned mask;
    __device__ coalesced_group(unsigned mask) : mask(mask) {}
    __device__ unsigned lane() const {
        return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
    }
    __device__ int lane_of(unsigned rank) const {
        unsigned left = mask;
        for (unsigned passed = 0; passed < rank; ++passed) left &= left - 1;
        return __ffs(left) - 1;
    }
    __device__ void sync() const { __syncwarp(mask); }
    __device__ unsigned size() const { return __popc(mask); }
    __device__ unsigned num_threads() const { return __popc(mask); }
    __device__ unsigned thread_rank() const { return __popc(mask & ((1u << lane()) - 1u)); }
    template <typename T>
    __device__ T shfl(T value, unsigned rank) const { return __shfl_sync(mask, value, lane_of(rank)); }
    __device__ int any(int holds) const { return __any_sync(mask, holds); }
    __device__ int all(int holds) const { return __all_sync(mask, holds); }
};
__device__ coalesced_group coalesced_threads() {
    return coalesced_group(__activemask());
}

// The lanes of a tile that have one label.
template <unsigned Size, typename T>
__device__ coalesced_group labeled_partition(const thread_block_tile<Size>& tile, T label) {
    return coalesced_group(__match_any_sync(tile.mask(), label) & tile.mask());
}
template <typename T>
__device__ coalesced_group labeled_partition(const coalesced_group& group, T label) {
    return coalesced_group(__match_any_sync(group.mask, label) & group.mask);
}
template <unsigned Size>
__device__ coalesced_group binary_partition(const thread_block_tile<Size>& tile, bool holds) {
    return labeled_partition(tile, (int)holds);
}
__device__ coalesced_group binary_partition(const coalesced_group& group, bool holds) {
    return labeled_partition(group, (int)holds);
}

// Any group: `width` threads side by side, or the block where that is 0.
struct thread_group {
    unsigned width;
    __device__ thread_group(unsigned width) : width(width) {}
    __device__ thread_group(const thread_block& block) : width(0) {}
    template <unsigned Size>
    __device__ thread_group(const thread_block_tile<Size>& tile) : width(Size) {}
    __device__ unsigned block_rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    __device__ unsigned size() const { return width == 0 ? blockDim.x * blockDim.y * blockDim.z : width; }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const { return width == 0 ? block_rank() : block_rank() % width; }
    __device__ void sync() const {
        if (width == 0) {
            __syncthreads();
        } else {
            __syncwarp((width == 32 ? 0xffffffffu : (1u << width) - 1u) << block_rank() % 32 / width * width);
        }
    }
};
template <typename Parent>
__device__ thread_group tiled_partition(const Parent& parent, unsigned width) {
    return thread_group(width);
}

// A tree towards rank 0, then its result for all.
template <typename Group, typename T, typename Op>
__device__ T reduce(const Group& group, T value, Op op) {
    const unsigned size = group.size(), rank = group.thread_rank();
    unsigned offset = 1;
    while (offset * 2 < size) offset *= 2;
    for (; offset != 0; offset /= 2) {
        const T other = group.shfl_down(value, offset);
        if (rank + offset < size && rank < offset) value = op(value, other);
    }
    return group.shfl(value, 0);
}

template <typename Group, typename T, typename Op>
__device__ T inclusive_scan(const Group& group, T value, Op op) {
    const unsigned rank = group.thread_rank();
    for (unsigned offset = 1; offset < group.size(); offset *= 2) {
        const T other = group.shfl_up(value, offset);
        if (rank >= offset) value = op(other, value);
    }
    return value;
}
template <typename Group, typename T>
__device__ T inclusive_scan(const Group& group, T value) { return inclusive_scan(group, value, plus<T>()); }
template <typename Group, typename T, typename Op>
__device__ T exclusive_scan(const Group& group, T value, Op op) {
    const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    T result = T();
    if (group.thread_rank() != 0) result = before;
    return result;
}
template <typename Group, typename T>
__device__ T exclusive_scan(const Group& group, T value) { return exclusive_scan(group, value, plus<T>()); }

// An asynchronous copy is made at once, by all threads of the group; waiting makes it visible to all of them.
template <typename Group, typename T>
__device__ void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
    for (size_t at = group.thread_rank(); at < bytes / sizeof(T); at += group.size()) to[at] = from[at];
}
template <typename Group>
__device__ void wait(const Group& group) {
    group.sync();
}

template <typename Group>
__device__ void sync(const Group& group) {
    group.sync();
}

}  // namespace cooperative_groups
