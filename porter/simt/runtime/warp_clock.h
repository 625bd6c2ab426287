// What the lanes of one warp know of each other: for each two of them the time up to which what one did is ordered before
// what the other does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "state.h"

namespace porter::simt {

// Nearly all meetings are of a whole warp, or of all lanes of a group as `width` makes them: 2, 4, 8, 16 or 32 lanes in a row,
// from a multiple of that number on. These groups form a tree, and as long as only they met, two lanes know of each other what
// the groups that hold both have seen: one number a group, so that a meeting writes one. When others meet (some lanes have
// returned, a mask has holes), a table of all pairs is made of the tree; it is kept until the whole warp meets again.
class WarpClock {
public:
    // Nobody has met; the warp has `lanes` lanes.
    void restart(int lanes) {
        all_ = lanes >= MAX_LANES ? ~0ull : (1ull << lanes) - 1;
        pairs_ = false;
        std::memset(met_, 0, sizeof met_);
    }

    // `lanes`, at least one, met at the time `now`, which is later than any before.
    void meet(WideMask lanes, std::uint32_t now) {
        const int group = smallest_group(lanes);
        const bool whole = lanes == (lanes_of(group) & all_);
        if (whole && lanes == all_) pairs_ = false;
        if (whole && !pairs_) met_[lanes == all_ ? 1 : group] = now;
        else meet_apart(lanes, now);
    }

    // The time up to which what `other` did is ordered before what `lane` does.
    std::uint32_t known(int lane, int other) const { return pairs_ ? knows_[lane][other] : seen_together(lane, other); }

private:
    // Groups are numbered as in a heap: 1 is the warp, 2 and 3 are its halves, MAX_LANES + i is the lane i.
    static int smallest_group(WideMask lanes) {
        int first = MAX_LANES + __builtin_ctzll(lanes), last = 2 * MAX_LANES - 1 - __builtin_clzll(lanes);
        for (; first != last; last /= 2) first /= 2;
        return first;
    }

    static WideMask lanes_of(int group) {
        int size = 1;
        for (; group < MAX_LANES; group *= 2) size *= 2;
        return (size == MAX_LANES ? ~0ull : (1ull << size) - 1) << (group - MAX_LANES);
    }

    std::uint32_t seen_together(int lane, int other) const {
        int group = MAX_LANES + lane;
        for (int its = MAX_LANES + other; group != its; its /= 2) group /= 2;
        std::uint32_t time = 0;
        for (; group != 0; group /= 2) time = std::max(time, met_[group]);
        return time;
    }

    void meet_apart(WideMask lanes, std::uint32_t now) {
        if (!pairs_) make_pairs();
        std::uint32_t joined[MAX_LANES] = {};
        for (WideMask rest = lanes; rest != 0; rest &= rest - 1) {
            const std::uint32_t* knows = knows_[__builtin_ctzll(rest)];
            for (int i = 0; i < warp_width; ++i) joined[i] = std::max(joined[i], knows[i]);
        }
        for (WideMask rest = lanes; rest != 0; rest &= rest - 1) joined[__builtin_ctzll(rest)] = now;
        for (WideMask rest = lanes; rest != 0; rest &= rest - 1) {
            std::memcpy(knows_[__builtin_ctzll(rest)], joined, sizeof(std::uint32_t) * static_cast<std::size_t>(warp_width));
        }
    }

    void make_pairs() {
        for (int a = 0; a < warp_width; ++a) {
            for (int b = 0; b < warp_width; ++b) knows_[a][b] = seen_together(a, b);
        }
        pairs_ = true;
    }

    WideMask all_;
    bool pairs_;  // the table is in use
    std::uint32_t met_[2 * MAX_LANES];  // when all lanes of a group met last; 0: never
    std::uint32_t knows_[MAX_LANES][MAX_LANES];
};

}  // namespace porter::simt
