// Warps: the rendezvous of lanes that shuffles, votes, matches and reductions are made of.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "porter/block.h"

#ifndef PORTER_WARP_SIZE
#define PORTER_WARP_SIZE 32
#endif

constexpr int warpSize = PORTER_WARP_SIZE;

namespace porter::simt {

using LaneMask = std::conditional_t<PORTER_WARP_SIZE == 64, unsigned long long, unsigned int>;
inline constexpr LaneMask FULL_MASK = static_cast<LaneMask>(~0ull);
using WideMask = unsigned long long;

// What the lanes of one warp operation brought. The last lane to arrive completes the operation for all of them.
struct Lanes {
    WideMask present;           // lanes that take part
    const void* const* input;   // [lane], valid for lanes present
    void* const* output;        // [lane]
    const int* source;          // [lane]
    std::size_t bytes;          // of one lane's value
    WideMask* unserved;         // lanes that read a lane not present; their output is the policy's to fill
};
using Complete = void (*)(const Lanes&);

// Meets the other lanes of `mask`, then `complete` runs once. False when the caller's mask leaves it out: nothing was met.
// (`where` by reference: a copy of a parameter is a call under -fno-elide-constructors, with which sources are compiled.)
bool rendezvous(WideMask mask, Complete complete, const void* input, void* output, int source, std::size_t bytes,
                const Where& where);

// Ends the run at a shuffle among `width` lanes, for which CUDA defines no result. Kernels make no text of their own: they are
// linked with the executor, which has what the standard library needs for it, too.
[[noreturn]] void undefined_width(int width, Where where);

// Constant for a thread as long as it runs, as threadIdx is.
__attribute__((const)) int lane_id();
__attribute__((const)) int warp_id();
WideMask live_lanes();

// The calling thread's lane, its warp within the block, and the lanes of its warp that have not returned.
inline int lane() { return lane_id(); }
inline int warp_index() { return warp_id(); }
inline LaneMask live_mask() { return static_cast<LaneMask>(live_lanes()); }

// __activemask(): the lanes of the warp that would run together here; a lane that waits or returned is not among them.
WideMask lanes_together(Where where);
inline LaneMask active_mask(Where where = Where::here()) { return static_cast<LaneMask>(lanes_together(where)); }

// Copies from `source` lane to every lane present; a lane that names no lane of the warp keeps its own value.
void move_lanes(const Lanes& lanes);
void collect_votes(const Lanes& lanes);
void collect_present(const Lanes& lanes);
void meet(const Lanes& lanes);

// The value of `source_lane`, brought there by the same call. Outside the warp: the caller's own value.
template <class T>
PORTER_UNWATCHED T exchange(LaneMask mask, T value, int source_lane, Where where = Where::here()) {
    T result = value;
    rendezvous(mask, &move_lanes, &value, &result, source_lane, sizeof(T), where);
    return result;
}

// The lanes of `mask` whose predicate holds.
PORTER_UNWATCHED inline LaneMask ballot(LaneMask mask, bool predicate, Where where = Where::here()) {
    WideMask votes = 0;
    rendezvous(mask, &collect_votes, &predicate, &votes, 0, sizeof(bool), where);
    return static_cast<LaneMask>(votes);
}

PORTER_UNWATCHED inline void warp_barrier(LaneMask mask = FULL_MASK, Where where = Where::here()) {
    rendezvous(mask, &meet, nullptr, nullptr, 0, 0, where);
}

// The lanes of `mask` whose value has the same bytes as the caller's.
template <class T>
PORTER_UNWATCHED LaneMask match_any(LaneMask mask, T value, Where where = Where::here()) {
    WideMask equal = 0;
    const Complete complete = [](const Lanes& lanes) {
        for (WideMask a = lanes.present; a != 0; a &= a - 1) {
            const int lane = __builtin_ctzll(a);
            WideMask equals = 0;
            for (WideMask b = lanes.present; b != 0; b &= b - 1) {
                const int other = __builtin_ctzll(b);
                if (std::memcmp(lanes.input[lane], lanes.input[other], sizeof(T)) == 0) equals |= 1ull << other;
            }
            *static_cast<WideMask*>(lanes.output[lane]) = equals;
        }
    };
    rendezvous(mask, complete, &value, &equal, 0, sizeof(T), where);
    return static_cast<LaneMask>(equal);
}

// `combine` folded over the lanes of `mask` in lane order; every lane gets the result.
template <class T, class Combine>
PORTER_UNWATCHED T reduce(LaneMask mask, T value, Combine, Where where = Where::here()) {
    static_assert(std::is_empty_v<Combine>, "the combiner must not capture");
    T result = value;
    const Complete complete = [](const Lanes& lanes) {
        const auto& combine = *reinterpret_cast<const Combine*>(&lanes);  // stateless: never read
        WideMask rest = lanes.present;
        T total = *static_cast<const T*>(lanes.input[__builtin_ctzll(rest)]);
        for (rest &= rest - 1; rest != 0; rest &= rest - 1) {
            total = combine(total, *static_cast<const T*>(lanes.input[__builtin_ctzll(rest)]));
        }
        for (rest = lanes.present; rest != 0; rest &= rest - 1) {
            *static_cast<T*>(lanes.output[__builtin_ctzll(rest)]) = total;
        }
    };
    rendezvous(mask, complete, &value, &result, 0, sizeof(T), where);
    return result;
}

}  // namespace porter::simt
