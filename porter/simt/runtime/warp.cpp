// The rendezvous of lanes: any mask, several at a time in one warp.
#include "porter/warp.h"

#include "sample.h"
#include "schedule.h"

namespace porter::simt {

namespace {

struct Meeting {
    WideMask mask, arrived;
    Complete complete;
    std::size_t bytes;
    Where where;
    bool together;  // __activemask: waits for no lane in particular
};

struct WarpOperations {
    Meeting meetings[MAX_LANES];
    int count;
    const void* input[MAX_LANES];
    void* output[MAX_LANES];
    int source[MAX_LANES];
};

WarpOperations operations[MAX_WARPS];

std::string lanes_text(WideMask lanes) {
    std::string text;
    while (lanes != 0) {
        const int first = __builtin_ctzll(lanes);
        int last = first;
        while (last + 1 < MAX_LANES && (lanes >> (last + 1) & 1) != 0) ++last;
        text += (text.empty() ? "" : ",") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
        lanes = last >= 63 ? 0 : lanes & (~0ull << (last + 1));
    }
    return text;
}

// What MaskPolicy says about a broken rule: ERROR ends the run, IGNORE is silent.
void broken_rule(FaultKind kind, Where where, const std::string& message) {
    if (options.mask_policy == MaskPolicy::ERROR) fail(kind, where, message);
    if (options.mask_policy == MaskPolicy::POISON) note(kind, where, message);
}

void fill_garbage(void* output, std::size_t bytes) {
    if (output != nullptr && options.mask_policy == MaskPolicy::POISON) std::memset(output, garbage(), bytes);
}

void serve_absent(const WarpOperations& in, const Meeting& meeting, WideMask unserved) {
    const int reader = __builtin_ctzll(unserved);
    broken_rule(FaultKind::LANE_ABSENT, meeting.where,
                "lane " + std::to_string(reader) + " reads lane " + std::to_string(in.source[reader]) +
                    ", which takes no part (lanes " + lanes_text(meeting.arrived) + " do)");
    for (; unserved != 0; unserved &= unserved - 1) fill_garbage(in.output[__builtin_ctzll(unserved)], meeting.bytes);
}

// Runs the operation for all its lanes and lets them go on; the running thread goes on by itself.
void finish(int warp, int index) {
    WarpOperations& in = operations[warp];
    const Meeting meeting = in.meetings[index];
    in.meetings[index] = in.meetings[--in.count];
    WideMask unserved = 0;
    meeting.complete({meeting.arrived, in.input, in.output, in.source, meeting.bytes, &unserved});
    if (unserved != 0) serve_absent(in, meeting, unserved);
    if (sampling()) sample_warp_operation(warp);
    if (watching) watch_warp(warp, meeting.arrived);
    make_ready(warps[warp], meeting.arrived);
}

int find_meeting(WarpOperations& in, WideMask mask, Complete complete, std::size_t bytes, const Where& where, bool together) {
    for (int i = 0; i < in.count; ++i) {
        const Meeting& meeting = in.meetings[i];
        if (meeting.together != together || meeting.complete != complete) continue;
        if (together ? meeting.where.line == where.line : meeting.mask == mask && meeting.bytes == bytes) return i;
    }
    in.meetings[in.count] = {mask, 0, complete, bytes, where, together};
    return in.count++;
}

bool is_whole(const Meeting& meeting, const Warp& warp) {
    return !meeting.together && (meeting.mask & warp.live & ~meeting.arrived) == 0;
}

int join(WideMask mask, Complete complete, const void* input, void* output, int source, std::size_t bytes, const Where& where,
         bool together) {
    Thread& self = *current;
    WarpOperations& in = operations[self.warp];
    in.input[self.lane] = input;
    in.output[self.lane] = output;
    in.source[self.lane] = source;
    self.where = where;
    self.waiting = Waiting::WARP_OPERATION;
    const int index = find_meeting(in, mask, complete, bytes, where, together);
    in.meetings[index].arrived |= 1ull << self.lane;
    return index;
}

}  // namespace

void reset_warp(int number) { operations[number].count = 0; }

bool rendezvous(WideMask mask, Complete complete, const void* input, void* output, int source, std::size_t bytes,
                const Where& where) {
    if (current == nullptr) fail(FaultKind::HOST_CHECK, where, "a warp operation in host code");
    Thread& self = *current;
    if ((mask >> self.lane & 1) == 0) {
        broken_rule(FaultKind::LANE_OUTSIDE_MASK, where,
                    "lane " + std::to_string(self.lane) + " is not in its mask (lanes " + lanes_text(mask) + ")");
        fill_garbage(output, complete == &move_lanes ? bytes : 0);
        return false;
    }
    const int index = join(mask, complete, input, output, source, bytes, where, false);
    if (is_whole(operations[self.warp].meetings[index], warps[self.warp])) finish(self.warp, index);
    suspend();
    return true;
}

void warp_after_exit(Warp& warp) {
    WarpOperations& in = operations[warp.number];
    for (int i = in.count - 1; i >= 0; --i) {
        if (is_whole(in.meetings[i], warp)) finish(warp.number, i);
    }
}

bool settle_warp(Warp& warp) {
    WarpOperations& in = operations[warp.number];
    for (int i = 0; i < in.count; ++i) {
        if (!in.meetings[i].together) continue;
        finish(warp.number, i);
        return true;
    }
    return false;
}

bool complete_partial_operations() {
    for (int w = 0; w < block.warps; ++w) {
        if (operations[w].count == 0) continue;
        const Meeting& meeting = operations[w].meetings[0];
        const WideMask absent = meeting.mask & warps[w].live & ~meeting.arrived;
        const Thread& away = threads[w * warp_width + __builtin_ctzll(absent)];
        broken_rule(FaultKind::LANE_ABSENT, meeting.where,
                    "lanes " + lanes_text(absent) + " of the mask never come (lanes " + lanes_text(meeting.arrived) +
                        " do); lane " + std::to_string(away.lane) + " waits in line " + std::to_string(away.where.line));
        finish(w, 0);
        return true;
    }
    return false;
}

void undefined_width(int width, Where where) {
    fail(FaultKind::LANE_ABSENT, where, "a shuffle among " + std::to_string(width) + " lanes, which is no power of two");
}

int lane_id() { return current == nullptr ? 0 : current->lane; }
int warp_id() { return current == nullptr ? 0 : current->warp; }
WideMask live_lanes() { return current == nullptr ? 1 : warps[current->warp].live; }

WideMask lanes_together(Where where) {
    if (current == nullptr) return 1;
    WideMask lanes = 0;
    join(0, &collect_present, nullptr, &lanes, 0, 0, where, true);
    suspend();
    return lanes;
}

namespace {

template <std::size_t BYTES>
void move(const Lanes& lanes) {
    const std::size_t bytes = BYTES != 0 ? BYTES : lanes.bytes;
    for (WideMask rest = lanes.present; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        const int source = lanes.source[lane];
        if (source < 0 || source >= warp_width) continue;
        if ((lanes.present >> source & 1) != 0) std::memcpy(lanes.output[lane], lanes.input[source], bytes);
        else *lanes.unserved |= 1ull << lane;
    }
}

}  // namespace

// Of the usual sizes a copy is two instructions.
void move_lanes(const Lanes& lanes) {
    switch (lanes.bytes) {
        case 4: return move<4>(lanes);
        case 8: return move<8>(lanes);
        default: return move<0>(lanes);
    }
}

void collect_votes(const Lanes& lanes) {
    WideMask votes = 0;
    for (WideMask rest = lanes.present; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        if (*static_cast<const bool*>(lanes.input[lane])) votes |= 1ull << lane;
    }
    for (WideMask rest = lanes.present; rest != 0; rest &= rest - 1) {
        *static_cast<WideMask*>(lanes.output[__builtin_ctzll(rest)]) = votes;
    }
}

void collect_present(const Lanes& lanes) {
    for (WideMask rest = lanes.present; rest != 0; rest &= rest - 1) {
        *static_cast<WideMask*>(lanes.output[__builtin_ctzll(rest)]) = lanes.present;
    }
}

void meet(const Lanes&) {}

}  // namespace porter::simt
