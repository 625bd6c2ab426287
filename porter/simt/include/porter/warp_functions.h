// Shuffles, votes, matches and reductions of a warp as kernels spell them.
//
// A mask of a 32-bit unsigned type names lanes 0 to 31 also where warps are wider; a signed one is sign-extended, as
// its conversion to the mask type says.
#pragma once

#include "porter/conversion.h"
#include "porter/fault.h"
#include "porter/warp.h"

namespace porter::simt {

inline unsigned int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned int block_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

// The first `count` lanes of a warp, and the lanes of the calling warp that the block has threads for.
inline LaneMask low_lanes(unsigned int count) { return count >= unsigned(warpSize) ? FULL_MASK : (LaneMask(1) << count) - 1; }
inline LaneMask warp_lanes() { return low_lanes(block_threads() - unsigned(warp_index() * warpSize)); }
// The `width` neighbouring lanes, a power of two, that the calling lane belongs to.
inline LaneMask segment_lanes(unsigned int width) {
    return (low_lanes(width) << (lane() & ~int(width - 1))) & warp_lanes();
}

// CUDA defines shuffles of segments whose extent is a power of two, and no others.
inline int checked_width(int width, Where where) {
    if (width > 0 && (width & (width - 1)) == 0) return width;
    undefined_width(width, where);
}

// The lane a shuffle of `width` lanes reads; a lane outside the caller's segment is replaced by the caller's own.
inline int segment_of(int width) { return lane() & ~(width - 1); }
inline int shuffle_index(int source, int width) { return segment_of(width) + (source & (width - 1)); }
inline int shuffle_up(unsigned int delta, int width) {
    const long long source = (long long)lane() - delta;
    return source < segment_of(width) ? lane() : int(source);
}
inline int shuffle_down(unsigned int delta, int width) {
    const long long source = (long long)lane() + delta;
    return source >= segment_of(width) + width ? lane() : int(source);
}
// A butterfly may reach back into an earlier segment, never forward into a later one.
inline int shuffle_xor(int lane_mask, int width) {
    const int source = lane() ^ lane_mask;
    return source >= segment_of(width) + width ? lane() : source;
}

}  // namespace porter::simt

#define PORTER_SHUFFLE(name, Operand, source) \
    template <class Mask, class T> \
    inline T name##_sync(Mask mask, T value, Operand operand, int width = warpSize, \
                         porter::simt::Where where = porter::simt::Where::here()) { \
        return porter::simt::exchange(static_cast<porter::simt::LaneMask>(mask), value, \
                                      porter::simt::source(operand, porter::simt::checked_width(width, where)), where); \
    } \
    /* The form without a mask, gone since Volta, takes the lanes that run together here. */ \
    template <class T> \
    inline T name(T value, Operand operand, int width = warpSize, \
                  porter::simt::Where where = porter::simt::Where::here()) { \
        return porter::simt::exchange(porter::simt::active_mask(where), value, \
                                      porter::simt::source(operand, porter::simt::checked_width(width, where)), where); \
    }
PORTER_SHUFFLE(__shfl, int, shuffle_index)
PORTER_SHUFFLE(__shfl_up, unsigned int, shuffle_up)
PORTER_SHUFFLE(__shfl_down, unsigned int, shuffle_down)
PORTER_SHUFFLE(__shfl_xor, int, shuffle_xor)
#undef PORTER_SHUFFLE

template <class Mask>
inline porter::simt::LaneMask __ballot_sync(Mask mask, int predicate,
                                            porter::simt::Where where = porter::simt::Where::here()) {
    return porter::simt::ballot(static_cast<porter::simt::LaneMask>(mask), predicate != 0, where);
}
template <class Mask>
inline int __any_sync(Mask mask, int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    return __ballot_sync(mask, predicate, where) != 0;
}
template <class Mask>
inline int __all_sync(Mask mask, int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    return __ballot_sync(mask, predicate == 0, where) == 0;
}
template <class Mask>
inline int __uni_sync(Mask mask, int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    const porter::simt::LaneMask votes = __ballot_sync(mask, predicate, where);
    return votes == 0 || votes == static_cast<porter::simt::LaneMask>(mask);
}
inline porter::simt::LaneMask __activemask(porter::simt::Where where = porter::simt::Where::here()) {
    return porter::simt::active_mask(where);
}
inline porter::simt::LaneMask __ballot(int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    return __ballot_sync(porter::simt::active_mask(where), predicate, where);
}
inline int __any(int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    return __any_sync(porter::simt::active_mask(where), predicate, where);
}
inline int __all(int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    return __all_sync(porter::simt::active_mask(where), predicate, where);
}

template <class Mask, class T>
inline porter::simt::LaneMask __match_any_sync(Mask mask, T value,
                                               porter::simt::Where where = porter::simt::Where::here()) {
    return porter::simt::match_any(static_cast<porter::simt::LaneMask>(mask), value, where);
}
template <class Mask, class T>
inline porter::simt::LaneMask __match_all_sync(Mask mask, T value, int* predicate,
                                               porter::simt::Where where = porter::simt::Where::here()) {
    const porter::simt::LaneMask lanes = static_cast<porter::simt::LaneMask>(mask);
    *predicate = porter::simt::match_any(lanes, value, where) == lanes;
    return *predicate ? lanes : 0;
}

#define PORTER_REDUCE(name, expression) \
    template <class Mask> \
    inline unsigned int __reduce_##name##_sync(Mask mask, unsigned int value, \
                                               porter::simt::Where where = porter::simt::Where::here()) { \
        return porter::simt::reduce(static_cast<porter::simt::LaneMask>(mask), value, \
                                    [](unsigned int a, unsigned int b) { return expression; }, where); \
    } \
    template <class Mask> \
    inline int __reduce_##name##_sync(Mask mask, int value, porter::simt::Where where = porter::simt::Where::here()) { \
        return porter::simt::reduce(static_cast<porter::simt::LaneMask>(mask), value, \
                                    [](int a, int b) -> int { return expression; }, where); \
    }
PORTER_REDUCE(add, a + b)
PORTER_REDUCE(min, a < b ? a : b)
PORTER_REDUCE(max, a > b ? a : b)
PORTER_REDUCE(and, a& b)
PORTER_REDUCE(or, a | b)
PORTER_REDUCE(xor, a ^ b)
#undef PORTER_REDUCE

inline void __syncwarp(porter::simt::Where where = porter::simt::Where::here()) {
    porter::simt::warp_barrier(porter::simt::FULL_MASK, where);
}
template <class Mask, std::enable_if_t<std::is_integral_v<Mask>, int> = 0>
inline void __syncwarp(Mask mask, porter::simt::Where where = porter::simt::Where::here()) {
    porter::simt::warp_barrier(static_cast<porter::simt::LaneMask>(mask), where);
}

// Names MetaX's compiler adds.
inline unsigned int __lane_id() { return unsigned(porter::simt::lane()); }
