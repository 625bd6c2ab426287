// The order of threads: who may run, who runs next, and what to do when nobody can.
#pragma once

#include "state.h"

namespace porter::simt {

// Ready lanes are kept by *position*: the order in which a schedule visits the lanes of a warp.
struct Warp {
    WideMask live;
    WideMask ready;  // by position
    int number;
};

extern Warp warps[MAX_WARPS];             // by warp number
extern int position_of_lane[MAX_LANES];

// Parks the running thread until `make_ready` names it.
void suspend();
void make_ready(const Thread& thread);
void make_ready(Warp& warp, WideMask lanes);
// The next choice starts with the first thread in the schedule's order.
void restart_order();

// Called when the running thread returned: what waited for it may go on.
void barriers_after_exit();
void warp_after_exit(Warp& warp);
// Completes what waits for lanes that cannot come. True when somebody became ready.
bool settle_warp(Warp& warp);            // __activemask of lanes that run together; called when no lane is ready
bool complete_partial_operations();      // notes LANE_ABSENT
[[noreturn]] void report_deadlock();
void reset_barriers();
void reset_warp(int number);

}  // namespace porter::simt
