// cub::BlockReduce over a block's shared memory.
//
// Every thread stores its value, so a kernel that reuses the storage without a barrier races here as it does there.
#pragma once

#include "porter/cub_operators.h"

namespace cub {

// Combines neighbours first: the rounding of a tree, and the order that an operator which does not commute needs.
template <class T, class Op>
inline T fold(T* values, int count, Op op) {
    if (count == 1) return values[0];
    int half = 1;
    while (half * 2 < count) half *= 2;
    const T left = fold(values, half, op);
    return op(left, fold(values + half, count - half, op));
}

template <class T, int DimX, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int DimY = 1, int DimZ = 1,
          int Architecture = 0>
class BlockReduce {
    static constexpr int kThreads = DimX * DimY * DimZ;

public:
    using TempStorage = Room<T, kThreads>;
    explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
    BlockReduce(TempStorage& storage, int) : storage_(storage) {}

    // The result is thread 0's; what the others get is not specified, here their own value. `valid` threads count.
    template <class Op>
    T Reduce(T value, Op op, int valid, Where where = Where::here()) {
        const int rank = int(porter::simt::block_rank());
        storage_[rank] = value;
        __syncthreads(where);
        if (rank != 0 || valid <= 0) return value;
        return fold(&storage_[0], valid < kThreads ? valid : kThreads, op);
    }
    template <class Op>
    T Reduce(T value, Op op, Where where = Where::here()) { return Reduce(value, op, kThreads, where); }
    template <int Items, class Op>
    T Reduce(T (&values)[Items], Op op, Where where = Where::here()) {
        T own = values[0];
        for (int i = 1; i < Items; ++i) own = op(own, values[i]);
        return Reduce(own, op, kThreads, where);
    }
    T Sum(T value, Where where = Where::here()) { return Reduce(value, cub::Sum(), kThreads, where); }
    T Sum(T value, int valid, Where where = Where::here()) { return Reduce(value, cub::Sum(), valid, where); }
    template <int Items>
    T Sum(T (&values)[Items], Where where = Where::here()) { return Reduce(values, cub::Sum(), where); }

private:
    TempStorage& storage_;
};

}  // namespace cub
