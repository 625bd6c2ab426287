// cub::BlockLoad, BlockStore and BlockExchange: who holds which item of a block's tile.
//
// Blocked: thread t holds items t * Items ... Striped: items t, t + threads, ... Only those two differ to the caller.
#pragma once

#include "porter/cub_operators.h"

namespace cub {

template <int Items>
inline int blocked(int thread, int item) { return thread * Items + item; }

template <class T, int Items, class Input>
inline void LoadDirectBlocked(int thread, Input from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[blocked<Items>(thread, i)];
}
template <class T, int Items, class Input>
inline void LoadDirectBlocked(int thread, Input from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
        if (blocked<Items>(thread, i) < valid) items[i] = from[blocked<Items>(thread, i)];
}
template <class T, class Default, int Items, class Input>
inline void LoadDirectBlocked(int thread, Input from, T (&items)[Items], int valid, Default otherwise) {
    for (int i = 0; i < Items; ++i)
        items[i] = blocked<Items>(thread, i) < valid ? T(from[blocked<Items>(thread, i)]) : T(otherwise);
}
template <int Threads, class T, int Items, class Input>
inline void LoadDirectStriped(int thread, Input from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[thread + i * Threads];
}
template <int Threads, class T, int Items, class Input>
inline void LoadDirectStriped(int thread, Input from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
        if (thread + i * Threads < valid) items[i] = from[thread + i * Threads];
}
template <class T, int Items, class Output>
inline void StoreDirectBlocked(int thread, Output to, T (&items)[Items], int valid = 0x7fffffff) {
    for (int i = 0; i < Items; ++i)
        if (blocked<Items>(thread, i) < valid) to[blocked<Items>(thread, i)] = items[i];
}
template <int Threads, class T, int Items, class Output>
inline void StoreDirectStriped(int thread, Output to, T (&items)[Items], int valid = 0x7fffffff) {
    for (int i = 0; i < Items; ++i)
        if (thread + i * Threads < valid) to[thread + i * Threads] = items[i];
}

template <class T, int DimX, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int DimY = 1, int DimZ = 1,
          int Architecture = 0>
class BlockLoad {
    static constexpr int kThreads = DimX * DimY * DimZ;

public:
    struct TempStorage {
        unsigned char none;
    };
    BlockLoad() = default;
    explicit BlockLoad(TempStorage&) {}
    template <class Input>
    void Load(Input from, T (&items)[Items]) { Load(from, items, kThreads * Items); }
    template <class Input>
    void Load(Input from, T (&items)[Items], int valid) {
        for (int i = 0; i < Items; ++i)
            if (place(i) < valid) items[i] = from[place(i)];
    }
    template <class Input, class Default>
    void Load(Input from, T (&items)[Items], int valid, Default otherwise) {
        for (int i = 0; i < Items; ++i) items[i] = place(i) < valid ? T(from[place(i)]) : T(otherwise);
    }

private:
    static int place(int item) {
        const int rank = int(porter::simt::block_rank());
        return Algorithm == BLOCK_LOAD_STRIPED ? rank + item * kThreads : blocked<Items>(rank, item);
    }
};

template <class T, int DimX, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int DimY = 1, int DimZ = 1,
          int Architecture = 0>
class BlockStore {
    static constexpr int kThreads = DimX * DimY * DimZ;

public:
    struct TempStorage {
        unsigned char none;
    };
    BlockStore() = default;
    explicit BlockStore(TempStorage&) {}
    template <class Output>
    void Store(Output to, T (&items)[Items], int valid = kThreads * Items) {
        const int rank = int(porter::simt::block_rank());
        for (int i = 0; i < Items; ++i) {
            const int place = Algorithm == BLOCK_STORE_STRIPED ? rank + i * kThreads : blocked<Items>(rank, i);
            if (place < valid) to[place] = items[i];
        }
    }
};

template <class T, int DimX, int Items, bool TimeSliced = false, int DimY = 1, int DimZ = 1, int Architecture = 0>
class BlockExchange {
    static constexpr int kThreads = DimX * DimY * DimZ;

public:
    using TempStorage = Room<T, kThreads * Items>;
    explicit BlockExchange(TempStorage& storage) : storage_(storage) {}
    template <class U>
    void StripedToBlocked(const T (&in)[Items], U (&out)[Items], Where where = Where::here()) {
        exchange(in, out, &striped_place, &blocked_place, where);
    }
    template <class U>
    void BlockedToStriped(const T (&in)[Items], U (&out)[Items], Where where = Where::here()) {
        exchange(in, out, &blocked_place, &striped_place, where);
    }
    void StripedToBlocked(T (&items)[Items], Where where = Where::here()) { StripedToBlocked(items, items, where); }
    void BlockedToStriped(T (&items)[Items], Where where = Where::here()) { BlockedToStriped(items, items, where); }
    template <class U, class Rank>
    void ScatterToBlocked(const T (&in)[Items], U (&out)[Items], Rank (&ranks)[Items], Where where = Where::here()) {
        scatter(in, out, ranks, &blocked_place, where);
    }
    template <class U, class Rank>
    void ScatterToStriped(const T (&in)[Items], U (&out)[Items], Rank (&ranks)[Items], Where where = Where::here()) {
        scatter(in, out, ranks, &striped_place, where);
    }

private:
    using Place = int (*)(int item);
    static int rank() { return int(porter::simt::block_rank()); }
    static int striped_place(int item) { return rank() + item * kThreads; }
    static int blocked_place(int item) { return blocked<Items>(rank(), item); }
    template <class U>
    void exchange(const T (&in)[Items], U (&out)[Items], Place from, Place to, Where where) {
        for (int i = 0; i < Items; ++i) storage_[from(i)] = in[i];
        __syncthreads(where);
        for (int i = 0; i < Items; ++i) out[i] = storage_[to(i)];
    }
    template <class U, class Rank>
    void scatter(const T (&in)[Items], U (&out)[Items], Rank (&ranks)[Items], Place to, Where where) {
        for (int i = 0; i < Items; ++i) storage_[int(ranks[i])] = in[i];
        __syncthreads(where);
        for (int i = 0; i < Items; ++i) out[i] = storage_[to(i)];
    }
    TempStorage& storage_;
};

}  // namespace cub
