// Cooperative groups: blocks, tiles of a warp, coalesced lanes, and the grid.
#pragma once

#include "porter/barriers.h"
#include "porter/integer.h"
#include "porter/warp_functions.h"

namespace cooperative_groups {

using porter::simt::LaneMask;
using porter::simt::Where;

namespace details {

using porter::simt::block_rank;
using porter::simt::block_threads;
using porter::simt::low_lanes;

inline int count(LaneMask mask) { return __popcll(mask); }
inline int nth_lane(LaneMask mask, unsigned int rank) {
    while (rank-- != 0) mask &= mask - 1;
    return mask == 0 ? -1 : __builtin_ctzll(mask);
}

}  // namespace details

// Some lanes of one warp, ranked in lane order: what tiles and coalesced groups have in common.
class lane_group {
public:
    explicit lane_group(LaneMask mask) : mask_(mask) {}

    unsigned long long size() const { return unsigned(details::count(mask_)); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const { return unsigned(details::count(mask_ & ((LaneMask(1) << porter::simt::lane()) - 1))); }
    void sync(Where where = Where::here()) const { porter::simt::warp_barrier(mask_, where); }

    template <class T>
    T shfl(T value, int rank, Where where = Where::here()) const {
        return porter::simt::exchange(mask_, value, details::nth_lane(mask_, unsigned(rank) % unsigned(size())), where);
    }
    template <class T>
    T shfl_up(T value, unsigned int delta, Where where = Where::here()) const {
        const unsigned int rank = unsigned(thread_rank());
        return shfl(value, int(rank < delta ? rank : rank - delta), where);
    }
    template <class T>
    T shfl_down(T value, unsigned int delta, Where where = Where::here()) const {
        const unsigned int rank = unsigned(thread_rank());
        return shfl(value, int(rank + delta >= size() ? rank : rank + delta), where);
    }
    template <class T>
    T shfl_xor(T value, unsigned int mask, Where where = Where::here()) const {
        const unsigned int rank = unsigned(thread_rank());
        return shfl(value, int((rank ^ mask) >= size() ? rank : rank ^ mask), where);
    }
    int any(int predicate, Where where = Where::here()) const { return porter::simt::ballot(mask_, predicate != 0, where) != 0; }
    int all(int predicate, Where where = Where::here()) const { return porter::simt::ballot(mask_, predicate == 0, where) == 0; }
    LaneMask ballot(int predicate, Where where = Where::here()) const {
        return packed(porter::simt::ballot(mask_, predicate != 0, where));
    }
    template <class T>
    LaneMask match_any(T value, Where where = Where::here()) const {
        return packed(porter::simt::match_any(mask_, value, where));
    }
    template <class T>
    LaneMask match_all(T value, int& predicate, Where where = Where::here()) const {
        predicate = porter::simt::match_any(mask_, value, where) == mask_;
        return predicate ? details::low_lanes(unsigned(size())) : 0;
    }
    LaneMask lanes() const { return mask_; }

protected:
    // Bits of lanes become bits of ranks.
    LaneMask packed(LaneMask lanes) const {
        LaneMask result = 0;
        int rank = 0;
        for (LaneMask rest = mask_; rest != 0; rest &= rest - 1, ++rank)
            if (lanes & rest & -rest) result |= LaneMask(1) << rank;
        return result;
    }
    LaneMask mask_;
};

class thread_block {
public:
    static void sync(Where where = Where::here()) { __syncthreads(where); }
    static unsigned int thread_rank() { return details::block_rank(); }
    static unsigned int size() { return details::block_threads(); }
    static unsigned int num_threads() { return details::block_threads(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// `Size` neighbouring lanes. The parent is part of the type in CUDA; here it only decides the tile's rank.
template <unsigned int Size, class Parent = void>
class thread_block_tile : public lane_group {
    static_assert((Size & (Size - 1)) == 0 && Size <= unsigned(warpSize), "a tile is a power of two of lanes of one warp");

public:
    thread_block_tile(unsigned int meta_rank, unsigned int meta_size)
        : lane_group(porter::simt::segment_lanes(Size)), meta_rank_(meta_rank), meta_size_(meta_size) {}
    template <class Other>
    thread_block_tile(const thread_block_tile<Size, Other>& other)
        : thread_block_tile(other.meta_group_rank(), other.meta_group_size()) {}

    static constexpr unsigned int size() { return Size; }
    static constexpr unsigned int num_threads() { return Size; }
    static unsigned int thread_rank() { return details::block_rank() % Size; }
    unsigned int meta_group_rank() const { return meta_rank_; }
    unsigned int meta_group_size() const { return meta_size_; }

    template <class T>
    T shfl(T value, int rank, Where where = Where::here()) const {
        return __shfl_sync(mask_, value, rank, int(Size), where);
    }
    template <class T>
    T shfl_up(T value, unsigned int delta, Where where = Where::here()) const {
        return __shfl_up_sync(mask_, value, delta, int(Size), where);
    }
    template <class T>
    T shfl_down(T value, unsigned int delta, Where where = Where::here()) const {
        return __shfl_down_sync(mask_, value, delta, int(Size), where);
    }
    template <class T>
    T shfl_xor(T value, unsigned int mask, Where where = Where::here()) const {
        return __shfl_xor_sync(mask_, value, int(mask), int(Size), where);
    }

private:
    unsigned int meta_rank_, meta_size_;
};

// The lanes that run together where it is created.
class coalesced_group : public lane_group {
public:
    explicit coalesced_group(LaneMask mask, unsigned int meta_rank = 0, unsigned int meta_size = 1)
        : lane_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
    template <unsigned int Size, class Parent>
    coalesced_group(const thread_block_tile<Size, Parent>& tile) : coalesced_group(tile.lanes()) {}
    unsigned int meta_group_rank() const { return meta_rank_; }
    unsigned int meta_group_size() const { return meta_size_; }

private:
    unsigned int meta_rank_, meta_size_;
};
inline coalesced_group coalesced_threads(Where where = Where::here()) {
    return coalesced_group(porter::simt::active_mask(where));
}

class grid_group {
public:
    static bool is_valid() { return blocks() == 1; }
    // Blocks run one after another, so only a grid of one block can wait for all of itself.
    static void sync(Where where = Where::here()) {
        if (blocks() != 1)
            porter::simt::fail(porter::simt::FaultKind::UNKNOWN, where, "grid-wide synchronisation over several blocks is not modelled");
        __syncthreads(where);
    }
    static unsigned long long size() { return blocks() * details::block_threads(); }
    static unsigned long long num_threads() { return size(); }
    static unsigned long long num_blocks() { return blocks(); }
    static unsigned long long block_rank() {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static unsigned long long thread_rank() { return block_rank() * details::block_threads() + details::block_rank(); }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }

private:
    static unsigned long long blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
};
inline grid_group this_grid() { return {}; }

// Any group, its kind known at run time: all of the block, or some lanes of a warp.
class thread_group {
public:
    thread_group(const thread_block&) : lanes_(0), whole_block_(true) {}
    thread_group(const lane_group& group) : lanes_(group.lanes()), whole_block_(false) {}
    void sync(Where where = Where::here()) const { whole_block_ ? __syncthreads(where) : lanes_.sync(where); }
    unsigned long long size() const { return whole_block_ ? details::block_threads() : lanes_.size(); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const { return whole_block_ ? details::block_rank() : lanes_.thread_rank(); }
    const lane_group& lanes() const { return lanes_; }
    template <class T>
    T shfl(T value, int rank, Where where = Where::here()) const { return lanes_.shfl(value, rank, where); }
    template <class T>
    T shfl_down(T value, unsigned int delta, Where where = Where::here()) const { return lanes_.shfl_down(value, delta, where); }
    template <class T>
    T shfl_up(T value, unsigned int delta, Where where = Where::here()) const { return lanes_.shfl_up(value, delta, where); }

private:
    explicit thread_group(LaneMask mask) : lanes_(mask), whole_block_(false) {}
    lane_group lanes_;
    bool whole_block_;
};

template <unsigned int Size, class Group>
inline thread_block_tile<Size, Group> tiled_partition(const Group& parent) {
    return {unsigned(parent.thread_rank()) / Size, (unsigned(parent.size()) + Size - 1) / Size};
}
template <class Group>
inline thread_group tiled_partition(const Group& parent, unsigned int size) {
    (void)parent;
    return lane_group(porter::simt::segment_lanes(size));
}
template <class Label>
inline coalesced_group labeled_partition(const lane_group& parent, Label label, Where where = Where::here()) {
    return coalesced_group(porter::simt::match_any(parent.lanes(), label, where));
}
inline coalesced_group binary_partition(const lane_group& parent, bool predicate, Where where = Where::here()) {
    return labeled_partition(parent, int(predicate), where);
}

template <class Group>
inline void sync(const Group& group, Where where = Where::here()) { group.sync(where); }
template <class Group>
inline unsigned int thread_rank(const Group& group) { return unsigned(group.thread_rank()); }
template <class Group>
inline unsigned int group_size(const Group& group) { return unsigned(group.size()); }
template <class Group>
inline bool is_valid(const Group&) { return true; }

// Asynchronous copies are done at once by the group's threads; waiting makes them visible to all of them.
template <class Group, class T>
inline void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes) {
    for (std::size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size()) to[i] = from[i];
}
template <class Group>
inline void wait(const Group& group, Where where = Where::here()) { group.sync(where); }
template <unsigned int Stages, class Group>
inline void wait_prior(const Group& group, Where where = Where::here()) { group.sync(where); }

}  // namespace cooperative_groups
