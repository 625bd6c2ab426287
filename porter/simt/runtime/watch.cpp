// The watch: what every load and store of a kernel is checked against.
//
// Order is what barriers, warp operations and fenced atomics make of it. A block has a clock that each of them advances;
// an access is stamped with its thread's time. A later access by another thread is ordered after it when
//   - a block barrier lies between (stamp < floor), or
//   - both are in one warp and met, directly or through others, since (the warp's vector clocks), or
//   - the earlier thread released (fence, then atomic) and the later one acquired (atomic on the same place) since.
#include "porter/watch.h"

#include <cstdio>
#include <cstring>

#include "record.h"
#include "regions.h"
#include "state.h"

extern "C" char __data_start[], _end[];

// Dynamic shared memory, behind a guard zone.
__asm__(
    ".pushsection .bss\n.balign 4096\n.zero 4096\n.globl porter_dynamic_shared\nporter_dynamic_shared:\n"
    ".zero 1048576\n.popsection\n");

namespace porter::simt {

unsigned long long block_count __asm__("porter_current_block") = 0;

namespace {

constexpr int MAX_SHARED = 128;

Region shared_regions[4096];  // every `__shared__` variable of the executable that was ever entered
int shared_count = 0;
Region* entered[MAX_SHARED];  // those of the running block
int entered_count = 0;
std::size_t static_shared = 0, dynamic_shared = 0;
Region dynamic_region;
std::uint64_t first_block_of_grid = 1;
int unwatched_depth = 0;
constexpr std::size_t MAX_HOST_ARGUMENTS = 16;
const void* host_arguments[MAX_HOST_ARGUMENTS];  // pointers to host memory that the last kernel was launched with
std::size_t host_argument_count = 0;
std::uint32_t knows[MAX_WARPS][MAX_LANES][MAX_LANES];  // [w][a][b]: the time of b up to which a is ordered after it

// A stamp: block, thread, atomic, time.
constexpr int BLOCK_SHIFT = 38, THREAD_SHIFT = 28;
constexpr std::uint64_t ATOMIC = 1ull << 27, TIME_MASK = ATOMIC - 1;

std::uint64_t stamp_of(const Thread& thread) {
    const std::uint32_t time = thread.clock > block.floor ? thread.clock : block.floor;
    return (block_count << BLOCK_SHIFT) | (static_cast<std::uint64_t>(thread.number) << THREAD_SHIFT) | (time & TIME_MASK);
}

int thread_of(std::uint64_t stamp) { return static_cast<int>(stamp >> THREAD_SHIFT & 1023); }

bool ordered_within_block(std::uint64_t earlier) {
    const std::uint64_t time = earlier & TIME_MASK;
    if (time < block.floor) return true;
    const Thread& other = threads[thread_of(earlier)];
    const Thread& self = *current;
    if (other.warp == self.warp && knows[self.warp][self.lane][other.lane] > time) return true;
    return other.released > time && self.acquired >= other.released;
}

bool conflicts(const Region& region, std::uint64_t earlier, std::uint64_t own) {
    if (earlier == 0 || (earlier ^ own) >> THREAD_SHIFT == 0 || (earlier & own & ATOMIC) != 0) return false;
    const std::uint64_t block_then = earlier >> BLOCK_SHIFT;
    if (block_then == own >> BLOCK_SHIFT) return !ordered_within_block(earlier);
    return !region.shared && block_then >= first_block_of_grid && !block.acquired;
}

std::uint32_t place_of(const void* instruction) { return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(instruction)); }

Frames frames_of(const void* instruction) {
    Frames frames;
    frames.address[0] = place_of(instruction);
    return frames;
}

std::string described(const Region& region, std::int64_t offset) {
    const std::string text = std::string("`") + region.label + "` (" + std::to_string(region.bytes) + " bytes) at byte " + std::to_string(offset);
    return region.live ? text : text + ", which is freed";
}

std::string coordinates(unsigned x, unsigned y, unsigned z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

std::string who(const Thread& thread) {
    const uint3 t = thread.index;
    return "thread " + coordinates(t.x, t.y, t.z) + " of block " + coordinates(blockIdx.x, blockIdx.y, blockIdx.z);
}

// An access that nothing orders after an earlier one of another thread. A store is judged once it has happened, at the
// next access of any thread: one that leaves every byte as it was changes no result, whichever of the two comes first.
struct Conflict {
    const Region* region;  // null: there is none to judge
    std::size_t offset;
    std::uint64_t earlier;
    std::uint32_t earlier_place;
    bool wrote;            // the earlier one
    const void* instruction;
    const Thread* thread;
    const void* stored;
    std::size_t bytes;
    char before[64];
};
Conflict unjudged = {};

void report_race(const Conflict& race, bool write) {
    if (counted(FaultKind::RACE, place_of(race.instruction))) return;
    const bool same_block = race.earlier >> BLOCK_SHIFT == block_count;
    const uint3 other = threads[thread_of(race.earlier)].index;
    const std::string them = same_block ? "thread " + coordinates(other.x, other.y, other.z) + " of the same block" : "another block";
    char place[20];
    std::snprintf(place, sizeof place, "%x", race.earlier_place);
    note_at(FaultKind::RACE, frames_of(race.instruction),
            who(*race.thread) + (write ? " writes " : " reads ") + described(*race.region, static_cast<std::int64_t>(race.offset)) + "; " +
                them + (race.wrote ? " writes" : " reads") + " it in {0x" + place + "} with nothing that orders the two");
}

void judge_store() {
    if (unjudged.region == nullptr) return;
    const Conflict race = unjudged;
    unjudged.region = nullptr;  // first: a report may run library code that was built with hooks, too
    if (std::memcmp(race.stored, race.before, race.bytes) != 0) report_race(race, true);
}

void note_store(const void* address, std::size_t bytes) {
    if (unjudged.region == nullptr) return;
    unjudged.stored = address;
    unjudged.bytes = bytes;
    if (bytes <= sizeof unjudged.before) {
        std::memcpy(unjudged.before, address, bytes);
    } else {
        report_race(unjudged, true);
        unjudged.region = nullptr;
    }
}

void check_cell(Region& region, Cell& cell, std::size_t offset, std::uint64_t own, bool write, const void* instruction) {
    if (conflicts(region, cell.write, own)) {
        const Conflict found = {&region, offset, cell.write, cell.write_place, true, instruction, current, nullptr, 0, {}};
        write ? void(unjudged = found) : report_race(found, false);
    }
    if (write) {
        for (int i = 0; i < 2; ++i) {
            if (!conflicts(region, cell.read[i], own)) cell.read[i] = 0;
            else unjudged = {&region, offset, cell.read[i], cell.read_place[i], false, instruction, current, nullptr, 0, {}};
        }
        cell.write = own;
        cell.write_place = place_of(instruction);
        return;
    }
    // Two readers that nothing orders are enough: a later writer differs from one of them.
    for (int i = 0; i < 2; ++i) {
        if (cell.read[i] != 0 && conflicts(region, cell.read[i], own & ~ATOMIC)) continue;
        cell.read[i] = own;
        cell.read_place[i] = place_of(instruction);
        return;
    }
}

void check_race(Region& region, std::size_t offset, std::size_t bytes, std::uint64_t own, bool write, const void* instruction) {
    if (region.cell_shift > 0 && ((offset | bytes) & ((1ull << region.cell_shift) - 1)) != 0) {
        refine_cells(region, ((offset | bytes) & 1) != 0 ? 0 : 1);
    }
    const std::size_t last = (offset + bytes - 1) >> region.cell_shift;
    for (std::size_t i = offset >> region.cell_shift; i <= last; ++i) {
        check_cell(region, region.cells[i], offset, own, write, instruction);
    }
}

void report_uninitialised(const Region& region, std::size_t offset, const void* instruction) {
    if (counted(FaultKind::UNINITIALISED, place_of(instruction))) return;
    note_at(FaultKind::UNINITIALISED, frames_of(instruction),
            who(*current) + " reads " + described(region, static_cast<std::int64_t>(offset)) + ", which nobody has written");
}

void check_read_state(Region& region, std::size_t offset, std::size_t bytes, const void* instruction) {
    std::uint8_t* state = region.state + offset;
    bool missing = false;
    for (std::size_t i = 0; i < bytes; ++i) {
        missing |= (state[i] & WRITTEN) == 0;
        if ((state[i] & KERNEL_WRITTEN) == 0) state[i] |= KERNEL_READ;
    }
    if (missing) report_uninitialised(region, offset, instruction);
}

void report_outside(Region& region, std::int64_t offset, std::size_t bytes, bool write, const void* instruction) {
    ++region.beyond;
    if (counted(FaultKind::OUT_OF_BOUNDS, place_of(instruction))) return;
    note_at(FaultKind::OUT_OF_BOUNDS, frames_of(instruction),
            who(*current) + (write ? " writes " : " reads ") + std::to_string(bytes) + " bytes of " + described(region, offset));
}

void access(Region& region, std::uintptr_t address, std::size_t bytes, std::uint64_t own, bool read, bool write,
            const void* instruction) {
    const std::size_t offset = address - region.base;
    if (!region.live || offset >= region.bytes || bytes > region.bytes - offset) {
        return report_outside(region, static_cast<std::int64_t>(offset), bytes, write, instruction);
    }
    if (read) check_read_state(region, offset, bytes, instruction);
    check_race(region, offset, bytes, own, write, instruction);
    if (write) {
        note_store(reinterpret_cast<const void*>(address), bytes);
        for (std::size_t i = 0; i < bytes; ++i) region.state[offset + i] |= WRITTEN | KERNEL_WRITTEN;
    }
}

// Where a host pointer's memory ends is not known: its first element is what a kernel rarely leaves out.
void check_host_memory(const void* address, std::size_t bytes, bool write, const void* instruction) {
    for (std::size_t i = 0; i < host_argument_count; ++i) {
        if (host_arguments[i] != address || counted(FaultKind::OUT_OF_BOUNDS, place_of(instruction))) continue;
        note_at(FaultKind::OUT_OF_BOUNDS, frames_of(instruction),
                who(*current) + (write ? " writes " : " reads ") + std::to_string(bytes) +
                    " bytes of host memory through a pointer it was launched with; a device cannot reach them");
    }
}

// A fenced atomic releases what its thread did; any atomic that meets one acquires it. Which place they met at is not
// kept: too much is taken for ordered where a thread uses several locks, never too little.
void synchronise_by_atomic(Region& region, std::size_t offset) {
    Thread& self = *current;
    const std::uint64_t earlier = region.cells[offset >> region.cell_shift].write;
    if ((earlier & ATOMIC) != 0 && thread_of(earlier) != self.number) self.acquired = ++block.clock;
    if ((earlier & ATOMIC) != 0 && earlier >> BLOCK_SHIFT != block_count) block.acquired = true;
    if (self.fenced) self.released = self.clock = ++block.clock;
}

}  // namespace

Region* region_of(const volatile void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (address - ARENA_BASE < ARENA_BYTES) return find_allocation(address);
    if (address < reinterpret_cast<std::uintptr_t>(__data_start) || address >= reinterpret_cast<std::uintptr_t>(_end)) return nullptr;
    for (int i = 0; i < entered_count; ++i) {
        Region& region = *entered[i];
        const std::size_t zone = &region == &dynamic_region ? 4096 : SHARED_GUARD_BYTES;
        if (address - (region.base - zone) < region.bytes + 2 * zone) return &region;
    }
    return nullptr;
}

void access_plain(const volatile void* pointer, std::size_t bytes, bool write, const void* instruction) {
    if (current == nullptr || unwatched_depth != 0 || bytes == 0) return;
    judge_store();
    Region* region = region_of(pointer);
    if (region == nullptr) return check_host_memory(const_cast<const void*>(pointer), bytes, write, instruction);
    access(*region, reinterpret_cast<std::uintptr_t>(pointer), bytes, stamp_of(*current), !write, write, instruction);
}

void watch_arguments(const void* const* pointers, std::size_t count) {
    host_argument_count = 0;
    for (std::size_t i = 0; i < count && host_argument_count < MAX_HOST_ARGUMENTS; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(pointers[i]);
        const bool of_device = address - ARENA_BASE < ARENA_BYTES;
        const bool of_executable = address < reinterpret_cast<std::uintptr_t>(_end);  // where device variables live, too
        if (!of_device && !of_executable) host_arguments[host_argument_count++] = pointers[i];
    }
}

void watch_new_grid() { first_block_of_grid = block_count + 1; }

void watch_new_block() {
    ++block_count;
    entered_count = 0;
    static_shared = 0;
    if (watching) std::memset(knows, 0, sizeof(knows[0]) * static_cast<std::size_t>(block.warps));
}

void watch_block_end() { judge_store(); }

void watch_dynamic_shared(std::size_t bytes) {
    dynamic_shared = bytes;
    if (bytes == 0) return;
    std::memset(dynamic_shared_memory, options.poison, bytes);
    if (!watching) return;
    if (dynamic_region.bytes != bytes) {
        dynamic_region = {reinterpret_cast<std::uintptr_t>(dynamic_shared_memory), bytes, "dynamic shared memory", true, false, true, nullptr, nullptr, 0, 0};
        follow(dynamic_region);
    }
    std::memset(dynamic_region.state, 0, bytes);
    entered[entered_count++] = &dynamic_region;
}

void watch_warp(int warp, WideMask lanes) {
    std::uint32_t joined[MAX_LANES] = {};
    const std::uint32_t now = ++block.clock;
    for (WideMask rest = lanes; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        for (int i = 0; i < warp_width; ++i) {
            if (knows[warp][lane][i] > joined[i]) joined[i] = knows[warp][lane][i];
        }
    }
    for (WideMask rest = lanes; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        joined[lane] = now;
        threads[warp * warp_width + lane].clock = now;
    }
    for (WideMask rest = lanes; rest != 0; rest &= rest - 1) {
        std::memcpy(knows[warp][__builtin_ctzll(rest)], joined, sizeof(std::uint32_t) * static_cast<std::size_t>(warp_width));
    }
}

void enter_shared_once(SharedHeader& header, void* storage, std::size_t bytes, const char* name, Where where) {
    header.entered = block_count;
    if (current == nullptr) return;
    std::memset(storage, options.poison, bytes);
    static_shared += bytes;
    if (static_shared > options.shared_bytes || static_shared + dynamic_shared > options.dynamic_shared_bytes) {
        note(FaultKind::LAUNCH, where,
             "the block uses " + std::to_string(static_shared) + " bytes of static and " + std::to_string(dynamic_shared) +
                 " bytes of dynamic shared memory; the device has " + std::to_string(options.shared_bytes) + " and " +
                 std::to_string(options.dynamic_shared_bytes) + " in all");
        abandon_grid();
    }
    if (!watching || entered_count == MAX_SHARED) return;
    if (header.region < 0) {
        if (shared_count == static_cast<int>(sizeof(shared_regions) / sizeof(Region))) return;
        header.region = shared_count++;
        shared_regions[header.region] = {reinterpret_cast<std::uintptr_t>(storage), bytes, name, true, false, true, nullptr, nullptr, 0, 0};
        follow(shared_regions[header.region]);
    }
    Region& region = shared_regions[header.region];
    std::memset(region.state, 0, bytes);
    entered[entered_count++] = &region;
}

void begin_atomic(const volatile void* pointer, std::size_t bytes, void* instruction) {
    if (watching && current != nullptr && unwatched_depth == 0) {
        judge_store();
        Region* region = region_of(pointer);
        if (region != nullptr) {
            const std::size_t offset = reinterpret_cast<std::uintptr_t>(pointer) - region->base;
            if (region->live && offset < region->bytes) synchronise_by_atomic(*region, offset);
            access(*region, reinterpret_cast<std::uintptr_t>(pointer), bytes, stamp_of(*current) | ATOMIC, true, true, instruction);
        }
    }
    ++unwatched_depth;
}

void end_atomic() { --unwatched_depth; }

UnwatchedScope::UnwatchedScope() { ++unwatched_depth; }
UnwatchedScope::~UnwatchedScope() { --unwatched_depth; }

}  // namespace porter::simt
