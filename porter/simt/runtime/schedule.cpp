// One block on one OS thread: a fiber for every CUDA thread that has to wait, none for those that do not.
#include "schedule.h"

#include <vector>

#include "porter/block.h"
#include "porter/chance.h"

namespace porter::simt {

// The values behind threadIdx and its like (here and in launch.cpp). User code sees them as constants.
uint3 thread_index __asm__("porter_thread_index");

Block block;
Thread threads[MAX_THREADS];
Thread* current = nullptr;
Warp warps[MAX_WARPS];
int position_of_lane[MAX_LANES];

namespace {

int lane_at_position[MAX_LANES];
int warp_order[MAX_WARPS];      // by turn
int turn_of_warp[MAX_WARPS];
int turn = 0;                   // of the warp that runs
int position = -1;              // of the lane that ran last

Fiber scheduler;
std::vector<Fiber*> idle;
void (*thread_body)(const void*) = nullptr;
const void* thread_context = nullptr;
bool abandoned = false;

void thread_main();

Fiber* take_fiber() {
    if (idle.empty()) {
        auto* fiber = new Fiber;
        map_stack(*fiber);
        prepare(*fiber, thread_main);
        return fiber;
    }
    Fiber* fiber = idle.back();
    idle.pop_back();
    return fiber;
}

Thread* pick(Warp& warp, int after) {
    const WideMask later = after >= 63 ? 0 : warp.ready & (~0ull << (after + 1));
    position = __builtin_ctzll(later != 0 ? later : warp.ready);
    warp.ready &= ~(1ull << position);
    return &threads[warp.number * warp_width + lane_at_position[position]];
}

// The lanes of the running warp go first, so that a warp without block barriers needs few stacks.
Thread* next_ready() {
    for (int i = 0; i <= block.warps; ++i) {
        const int candidate = turn + i < block.warps ? turn + i : turn + i - block.warps;
        Warp& warp = warps[warp_order[candidate]];
        if (warp.ready == 0 && !settle_warp(warp)) continue;
        const int after = i == 0 ? position : -1;
        turn = candidate;
        return pick(warp, after);
    }
    return nullptr;
}

Thread* next_thread() {
    for (;;) {
        if (Thread* thread = next_ready()) return thread;
        if (!complete_partial_operations()) report_deadlock();
    }
}

void enter(Thread& thread) {
    current = &thread;
    thread_index = thread.index;
    thread.waiting = Waiting::NOTHING;
}

// Runs threads one after the other on this stack; a fiber taken from `idle` goes on behind its switch.
void thread_main() {
    for (;;) {
        Fiber* const own = current->fiber;
        thread_body(thread_context);
        Thread& finished = *current;
        finished.fiber = nullptr;
        Warp& warp = warps[finished.warp];
        warp.live &= ~(1ull << finished.lane);
        --block.live;
        warp_after_exit(warp);
        barriers_after_exit();
        Thread* thread = block.live == 0 ? nullptr : next_thread();
        if (thread != nullptr && thread->fiber == nullptr) {
            thread->fiber = own;
            enter(*thread);
            continue;
        }
        idle.push_back(own);
        if (thread != nullptr) enter(*thread);
        switch_fiber(*own, thread == nullptr ? scheduler : *thread->fiber);
    }
}

std::uint64_t mix(std::uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

void fill_order(int* order, int count, std::uint64_t seed) {
    const bool reverse = options.schedule == Schedule::REVERSE;
    for (int i = 0; i < count; ++i) order[i] = reverse ? count - 1 - i : i;
    if (options.schedule != Schedule::SHUFFLED) return;
    for (int i = count - 1; i > 0; --i) {
        seed = mix(seed);
        std::swap(order[i], order[seed % static_cast<std::uint64_t>(i + 1)]);
    }
}

void set_up_threads() {
    const dim3 extent = block.extent;
    int number = 0;
    for (unsigned z = 0; z < extent.z; ++z) {
        for (unsigned y = 0; y < extent.y; ++y) {
            for (unsigned x = 0; x < extent.x; ++x, ++number) {
                Thread& thread = threads[number];
                thread = Thread{};
                thread.index = {x, y, z};
                thread.number = static_cast<std::uint16_t>(number);
                thread.lane = static_cast<std::uint16_t>(number % warp_width);
                thread.warp = static_cast<std::uint16_t>(number / warp_width);
            }
        }
    }
}

void set_up_warps() {
    for (int w = 0; w < block.warps; ++w) {
        Warp& warp = warps[w];
        warp.number = w;
        warp.ready = 0;
        const int lanes = block.threads - w * warp_width < warp_width ? block.threads - w * warp_width : warp_width;
        warp.live = lanes >= 64 ? ~0ull : (1ull << lanes) - 1;
        reset_warp(w);
        make_ready(warp, warp.live);
    }
}

}  // namespace

std::uint32_t chance() {
    static std::uint64_t drawn = 0;
    return static_cast<std::uint32_t>(mix(options.seed ^ mix(++drawn)));
}

void order_threads(std::uint64_t block_number) {
    const std::uint64_t seed = mix(options.seed ^ mix(block_number));
    fill_order(lane_at_position, warp_width, seed);
    for (int i = 0; i < warp_width; ++i) position_of_lane[lane_at_position[i]] = i;
    fill_order(warp_order, block.warps, ~seed);
    for (int i = 0; i < block.warps; ++i) turn_of_warp[warp_order[i]] = i;
}

void make_ready(Warp& warp, WideMask lanes) {
    if (options.schedule == Schedule::FORWARD) {
        warp.ready |= lanes;
        return;
    }
    for (; lanes != 0; lanes &= lanes - 1) warp.ready |= 1ull << position_of_lane[__builtin_ctzll(lanes)];
}

void make_ready(const Thread& thread) { make_ready(warps[thread.warp], 1ull << thread.lane); }

void restart_order() {
    turn = 0;
    position = -1;
}

void suspend() {
    Thread& self = *current;
    Thread* thread = next_thread();
    if (thread == &self) {
        self.waiting = Waiting::NOTHING;
        return;
    }
    if (thread->fiber == nullptr) thread->fiber = take_fiber();
    enter(*thread);
    switch_fiber(*self.fiber, *thread->fiber);
}

void yield_thread() {
    if (current == nullptr) return;
    make_ready(*current);
    turn = turn + 1 < block.warps ? turn + 1 : 0;
    position = block.warps == 1 ? position : -1;
    suspend();
}

bool run_block(void (*body)(const void*), const void* context) {
    thread_body = body;
    thread_context = context;
    abandoned = false;
    set_up_threads();
    set_up_warps();
    reset_barriers();
    restart_order();
    Thread* first = next_thread();
    first->fiber = take_fiber();
    enter(*first);
    switch_fiber(scheduler, *first->fiber);
    current = nullptr;
    return !abandoned;
}

// The stacks of the threads left behind are prepared afresh: what lives on them is never destroyed.
void abandon_grid() {
    abandoned = true;
    for (int i = 0; i < block.threads; ++i) {
        Fiber* fiber = threads[i].fiber;
        if (fiber == nullptr || &threads[i] == current) continue;
        prepare(*fiber, thread_main);
        idle.push_back(fiber);
    }
    Fiber dropped;  // the running stack itself is not used again
    switch_fiber(dropped, scheduler);
    __builtin_unreachable();
}

bool in_kernel() { return current != nullptr; }

}  // namespace porter::simt
