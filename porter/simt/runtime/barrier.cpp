// Barriers of a block: `__syncthreads` and PTX's sixteen named ones.
#include "porter/block.h"

#include <algorithm>

#include "sample.h"
#include "schedule.h"

namespace porter::simt {

namespace {

struct BlockBarrier {
    int arrived, holding;  // holding: threads whose value was not 0
    BarrierOp op;
    Where where;           // of the first to arrive
    WideMask waiting[MAX_WARPS];
    int result;
};

struct NamedBarrier {
    int arrived, expected;
    WideMask waiting[MAX_WARPS];
};

BlockBarrier barrier;
NamedBarrier named[NAMED_BARRIERS];
bool named_used = false;

int barrier_result() {
    switch (barrier.op) {
        case BarrierOp::COUNT: return barrier.holding;
        case BarrierOp::AND: return barrier.holding == barrier.arrived;
        case BarrierOp::OR: return barrier.holding != 0;
        case BarrierOp::NONE: break;
    }
    return 0;
}

void wake(WideMask* waiting) {
    for (int w = 0; w < block.warps; ++w) {
        make_ready(warps[w], waiting[w]);
        waiting[w] = 0;
    }
}

void release_barrier() {
    if (sampling()) sample_barrier();
    barrier.result = barrier_result();
    barrier.arrived = barrier.holding = 0;
    block.floor = ++block.clock;
    wake(barrier.waiting);
    restart_order();
}

void release_named(NamedBarrier& it) {
    if (sampling()) sample_barrier();
    it.arrived = 0;
    block.floor = ++block.clock;  // stricter kernels order fewer threads by it; no false race may come of it
    wake(it.waiting);
}

// Counts as the hardware does, in whole warps: the last warp of a block may have fewer lanes.
int arrivals_of(const Thread& thread) {
    const int missing = block.warps * warp_width - block.threads;
    return 1 + (thread.number == block.threads - 1 ? missing : 0);
}

NamedBarrier* named_at(int id, int expected, Where where) {
    named_used = true;
    if (id < 0 || id >= NAMED_BARRIERS) fail(FaultKind::DEADLOCK, where, "a barrier number outside 0..15: " + std::to_string(id));
    named[id].expected = expected;
    return &named[id];
}

void note_mismatch(const Thread& self, Where first) {
    note(FaultKind::DEADLOCK, self.where,
         "a barrier that not all threads reach: some wait in line " + std::to_string(first.line) + ", thread " +
             std::to_string(self.number) + " in line " + std::to_string(self.where.line));
}

}  // namespace

void reset_barriers() {
    barrier = BlockBarrier{};
    if (named_used) std::fill(named, named + NAMED_BARRIERS, NamedBarrier{});
    named_used = false;
}

int block_barrier(int value, BarrierOp op, Where where) {
    if (current == nullptr) fail(FaultKind::HOST_CHECK, where, "a block barrier in host code");
    Thread& self = *current;
    self.where = where;
    if (barrier.arrived == 0) {
        barrier.where = where;
        barrier.op = op;
    } else if (barrier.where.line != where.line || barrier.op != op) {
        note_mismatch(self, barrier.where);
    }
    ++barrier.arrived;
    barrier.holding += value != 0;
    barrier.waiting[self.warp] |= 1ull << self.lane;
    self.waiting = Waiting::BLOCK_BARRIER;
    if (barrier.arrived == block.live) release_barrier();
    suspend();
    return barrier.result;
}

void named_barrier(int id, int expected, Where where) {
    if (current == nullptr) fail(FaultKind::HOST_CHECK, where, "a named barrier in host code");
    Thread& self = *current;
    NamedBarrier& it = *named_at(id, expected, where);
    self.where = where;
    self.waiting = Waiting::NAMED_BARRIER;
    it.arrived += arrivals_of(self);
    it.waiting[self.warp] |= 1ull << self.lane;
    if (it.arrived >= expected) release_named(it);
    suspend();
}

void arrive_named_barrier(int id, int expected, Where where) {
    if (current == nullptr) fail(FaultKind::HOST_CHECK, where, "a named barrier in host code");
    NamedBarrier& it = *named_at(id, expected, where);
    it.arrived += arrivals_of(*current);
    if (it.arrived >= expected) release_named(it);
}

void barriers_after_exit() {
    if (barrier.arrived != 0 && barrier.arrived == block.live) release_barrier();
}

void memory_fence(Scope scope) {
    if (current == nullptr) return;
    current->fenced = true;
    if (watching && scope == Scope::DEVICE) watch_fence();
}

namespace {

const char* waiting_for(Waiting waiting) {
    switch (waiting) {
        case Waiting::BLOCK_BARRIER: return "at __syncthreads";
        case Waiting::NAMED_BARRIER: return "at a named barrier";
        case Waiting::WARP_OPERATION: return "at a warp operation";
        case Waiting::NOTHING: break;
    }
    return "nowhere";
}

bool same_place(const Thread& a, const Thread& b) { return a.waiting == b.waiting && a.where.line == b.where.line; }

}  // namespace

void report_deadlock() {
    std::string message = "no thread of the block can go on:";
    const Thread* first = nullptr;
    for (int i = 0; i < block.threads; ++i) {
        const Thread& thread = threads[i];
        if (thread.waiting == Waiting::NOTHING) continue;
        const Thread* before = i > 0 ? &threads[i - 1] : nullptr;
        if (before != nullptr && same_place(*before, thread)) continue;
        if (first == nullptr) first = &thread;
        int last = i;
        while (last + 1 < block.threads && same_place(threads[last + 1], thread)) ++last;
        message += " threads " + std::to_string(i) + "-" + std::to_string(last) + " wait " + waiting_for(thread.waiting) +
                   " in line " + std::to_string(thread.where.line) + ";";
        if (message.size() > 300) break;
    }
    fail(FaultKind::DEADLOCK, first != nullptr ? first->where : Where{}, message);
}

}  // namespace porter::simt
