// cub::BlockRadixSort, BlockHistogram and BlockDiscontinuity.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "porter/atomics.h"
#include "porter/cub_block_io.h"

namespace cub {

// The bits of a key, ordered as unsigned numbers are: what a radix sort compares.
template <class Key>
inline unsigned long long radix_bits(Key key) {
    using Bits = std::conditional_t<sizeof(Key) == 8, unsigned long long,
                 std::conditional_t<sizeof(Key) == 4, unsigned int,
                 std::conditional_t<sizeof(Key) == 2, unsigned short, unsigned char>>>;
    const Bits bits = porter::bit_cast<Bits>(key), sign = Bits(1) << (sizeof(Key) * 8 - 1);
    if constexpr (std::is_unsigned_v<Key>) return bits;
    if constexpr (std::is_integral_v<Key>) return Bits(bits ^ sign);
    return bits & sign ? Bits(~bits) : Bits(bits | sign);
}

template <class Key>
inline bool radix_before(Key a, Key b, int begin, int end, bool descending) {
    const int width = end - begin;
    const unsigned long long kept = width >= 64 ? ~0ull : (1ull << width) - 1;
    const unsigned long long x = radix_bits(a) >> begin & kept, y = radix_bits(b) >> begin & kept;
    return descending ? y < x : x < y;
}

template <class Key, int DimX, int Items, class Value = NullType, int RadixBits = 4, bool Memoize = true,
          BlockScanAlgorithm Algorithm = BLOCK_SCAN_WARP_SCANS, cudaSharedMemConfig Banks = cudaSharedMemBankSizeFourByte,
          int DimY = 1, int DimZ = 1, int Architecture = 0>
class BlockRadixSort {
    static constexpr int kThreads = DimX * DimY * DimZ, kCount = kThreads * Items;

public:
    struct TempStorage {
        Room<Key, kCount> keys;
        Room<Value, kCount> values;
        int order[kCount];
    };
    explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

    void Sort(Key (&keys)[Items], int begin = 0, int end = 8 * sizeof(Key), Where where = Where::here()) {
        sort(keys, none_, begin, end, false, false, where);
    }
    void Sort(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = 8 * sizeof(Key), Where where = Where::here()) {
        sort(keys, values, begin, end, false, false, where);
    }
    void SortDescending(Key (&keys)[Items], int begin = 0, int end = 8 * sizeof(Key), Where where = Where::here()) {
        sort(keys, none_, begin, end, true, false, where);
    }
    void SortDescending(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = 8 * sizeof(Key),
                        Where where = Where::here()) {
        sort(keys, values, begin, end, true, false, where);
    }
    void SortBlockedToStriped(Key (&keys)[Items], int begin = 0, int end = 8 * sizeof(Key), Where where = Where::here()) {
        sort(keys, none_, begin, end, false, true, where);
    }
    void SortBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = 8 * sizeof(Key),
                              Where where = Where::here()) {
        sort(keys, values, begin, end, false, true, where);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin = 0,
                                        int end = 8 * sizeof(Key), Where where = Where::here()) {
        sort(keys, values, begin, end, true, true, where);
    }

private:
    // Thread 0 orders the whole tile: a stable sort, as the radix passes are.
    void sort(Key (&keys)[Items], Value (&values)[Items], int begin, int end, bool descending, bool striped, Where where) {
        const int rank = int(porter::simt::block_rank());
        for (int i = 0; i < Items; ++i) {
            storage_.keys[blocked<Items>(rank, i)] = keys[i];
            storage_.values[blocked<Items>(rank, i)] = values[i];
        }
        __syncthreads(where);
        if (rank == 0) {
            std::vector<int> order(kCount);
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
                return radix_before(storage_.keys[a], storage_.keys[b], begin, end, descending);
            });
            for (int i = 0; i < kCount; ++i) storage_.order[i] = order[i];
        }
        __syncthreads(where);
        for (int i = 0; i < Items; ++i) {
            const int from = storage_.order[striped ? rank + i * kThreads : blocked<Items>(rank, i)];
            keys[i] = storage_.keys[from];
            values[i] = storage_.values[from];
        }
    }
    TempStorage& storage_;
    Value none_[Items];
};

template <class T, int DimX, int Items, int Bins, BlockHistogramAlgorithm Algorithm = BLOCK_HISTO_SORT, int DimY = 1,
          int DimZ = 1, int Architecture = 0>
class BlockHistogram {
public:
    struct TempStorage {
        unsigned char none;
    };
    explicit BlockHistogram(TempStorage&) {}
    template <class Counter>
    void InitHistogram(Counter (&histogram)[Bins]) {
        for (int bin = int(porter::simt::block_rank()); bin < Bins; bin += DimX * DimY * DimZ) histogram[bin] = 0;
    }
    template <class Counter>
    void Composite(T (&items)[Items], Counter (&histogram)[Bins]) {
        for (int i = 0; i < Items; ++i) atomicAdd(&histogram[items[i]], Counter(1));
    }
    template <class Counter>
    void Histogram(T (&items)[Items], Counter (&histogram)[Bins], Where where = Where::here()) {
        InitHistogram(histogram);
        __syncthreads(where);
        Composite(items, histogram);
    }
};

template <class T, int DimX, int DimY = 1, int DimZ = 1, int Architecture = 0>
class BlockDiscontinuity {
public:
    using TempStorage = Room<T, DimX * DimY * DimZ>;
    explicit BlockDiscontinuity(TempStorage& storage) : storage_(storage) {}
    // A head differs from the item before it; the first of the block always is one.
    template <int Items, class Flag, class Op>
    void FlagHeads(Flag (&flags)[Items], T (&items)[Items], Op op, Where where = Where::here()) {
        const int rank = int(porter::simt::block_rank());
        storage_[rank] = items[Items - 1];
        __syncthreads(where);
        flags[0] = rank == 0 ? Flag(1) : Flag(op(storage_[rank - 1], items[0]));
        for (int i = 1; i < Items; ++i) flags[i] = Flag(op(items[i - 1], items[i]));
    }

private:
    TempStorage& storage_;
};

}  // namespace cub
