// The watch: what every load and store of a kernel is checked against.
//
// Order is what barriers, warp operations and fenced atomics make of it. A block has a clock that each of them advances;
// an access is stamped with its thread's time. A later access by another thread is ordered after it when
//   - a block barrier lies between (stamp < floor), or
//   - both are in one warp and met, directly or through others, since (the warp's vector clocks), or
//   - the earlier thread released (fence, then atomic) and the later one acquired (atomic on the same place) since.
// Blocks run one after the other, so that whatever an earlier one did is there. On a device it is for a block that met an
// atomic of the earlier one, and only what a fence of the whole device published before; what is read behind such an atomic
// without another fence a device may have read ahead of it.
#include "porter/watch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "accesses.h"
#include "byte_states.h"
#include "record.h"
#include "sample.h"
#include "warp_clock.h"

extern "C" char __data_start[], _end[];

// Dynamic shared memory, behind a guard zone: room for the most that a launch may ask for, whatever it does ask for.
__asm__(
    ".pushsection .bss\n.balign 4096\n.zero 4096\n.globl porter_dynamic_shared\nporter_dynamic_shared:\n"
    ".zero 1048576\n.popsection\n");
constexpr std::size_t DYNAMIC_GUARD_BYTES = 4096, DYNAMIC_ROOM_BYTES = 1048576;

// What all accesses come to is one function for each size of a word; what is rare is no part of it and is handed copies.
#define PORTER_USUAL [[gnu::always_inline]] inline
#define PORTER_RARE [[gnu::noinline, gnu::cold]]

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
// What fences of a block published: every store before the clock stood at `floor`, and of each thread those before its own
// time, which count for those whose fence another thread's atomic follows, too, as behind a barrier it may.
struct Published {
    std::uint32_t floor = 0;
    std::vector<std::uint32_t> times;
};
std::unordered_map<std::uint64_t, Published> published;  // by blocks of the running grid
std::size_t published_times = 0;
constexpr std::size_t MOST_PUBLISHED_TIMES = 1 << 24;  // 64 MiB; of blocks beyond nothing is asked
int unwatched_depth = 0;
constexpr std::size_t MAX_HOST_ARGUMENTS = 16;
const void* host_arguments[MAX_HOST_ARGUMENTS];  // pointers to host memory that the last kernel was launched with
std::size_t host_argument_count = 0;

WarpClock warp_clocks[MAX_WARPS];

std::uint64_t stamp_of(const Thread& thread) {
    const std::uint32_t time = std::max(thread.clock, block.floor);
    return (block_count << BLOCK_SHIFT) | (static_cast<std::uint64_t>(thread.number) << THREAD_SHIFT) | (time & TIME_MASK);
}

// Whether something orders `earlier`, of another thread of the block and later than `floor`, before what the thread does now.
inline bool is_ordered_since(std::uint64_t earlier) {
    const std::uint64_t time = earlier & TIME_MASK;
    const Thread& self = *current;
    if (self.clock > time) {  // else it met nobody since, and so nobody that knows of it
        const int lane = thread_of(earlier) - (self.number - self.lane);  // its warp has no such lane where it is of another one
        if (lane >= 0 && lane < warp_width && warp_clocks[self.warp].known(self.lane, lane) > time) return true;
    }
    if (self.acquired == 0) return false;
    const std::uint32_t released = threads[thread_of(earlier)].released;
    return released > time && self.acquired >= released;
}

bool ordered_within_block(std::uint64_t earlier) { return (earlier & TIME_MASK) < block.floor || is_ordered_since(earlier); }

bool conflicts(const Region& region, std::uint64_t earlier, std::uint64_t own) {
    if (earlier == 0 || (earlier ^ own) >> THREAD_SHIFT == 0 || (earlier & own & ATOMIC) != 0) return false;
    const std::uint64_t block_then = earlier >> BLOCK_SHIFT;
    if (block_then == own >> BLOCK_SHIFT) return !ordered_within_block(earlier);
    return !region.shared && block_then >= first_block_of_grid && !block.acquired;
}

// The least stamp of the running grid, and of the running block: what is earlier needs no look. 0 where stamps have no room
// for the block's number, so that a later one may look earlier.
std::uint64_t oldest_of_grid = 0, oldest_of_block = 0;

// Nearly all accesses come after one of another launch, of the thread itself, or from before a barrier: `conflicts` is false
// then, and no fence is asked for.
PORTER_USUAL bool is_settled(std::uint64_t earlier, std::uint64_t own, std::uint64_t oldest) {
    if (earlier < oldest || (earlier ^ own) >> THREAD_SHIFT == 0) return true;
    return (earlier ^ own) >> BLOCK_SHIFT == 0 && (earlier & TIME_MASK) < block.floor;
}

// As `conflicts` of a thread's own access that is not atomic and an earlier one.
PORTER_USUAL bool conflicts_plainly(const Region& region, std::uint64_t earlier, std::uint64_t own, std::uint64_t oldest) {
    if (is_settled(earlier, own, oldest)) return false;
    if ((earlier ^ own) >> BLOCK_SHIFT == 0) return !is_ordered_since(earlier);
    return conflicts(region, earlier, own);
}

bool is_published(std::uint64_t stamp) {
    if (published_times >= MOST_PUBLISHED_TIMES) return true;
    const auto found = published.find(stamp >> BLOCK_SHIFT);
    if (found == published.end()) return false;
    const std::uint64_t time = stamp & TIME_MASK;
    return time < found->second.floor || time < found->second.times[static_cast<std::size_t>(thread_of(stamp))];
}

// Whether a read of what an earlier block of the grid wrote, behind an atomic that tells of it, lacks a fence: the kind of
// that fault, or a race where there is none.
FaultKind lacks_fence(const Region& region, std::uint64_t earlier, std::uint64_t own) {
    const std::uint64_t block_then = earlier >> BLOCK_SHIFT;
    const bool of_grid = !region.shared && block_then >= first_block_of_grid && block_then != own >> BLOCK_SHIFT;
    if (!of_grid) return FaultKind::RACE;
    if (!is_published(earlier)) return FaultKind::UNPUBLISHED;
    return block.fenced_since ? FaultKind::RACE : FaultKind::UNACQUIRED;
}

// A store is judged once it has happened, at the next access of any thread: one that leaves every byte as it was changes no
// result, whichever of the two accesses comes first.
struct Unjudged {
    Conflict conflict;  // of a region, or none
    char before[64];
};
Unjudged unjudged = {};

PORTER_RARE void judge_noted_store() {
    const Unjudged store = unjudged;
    unjudged.conflict.access.region = nullptr;  // first: a report may run library code that was built with hooks, too
    const Access& access = store.conflict.access;
    const void* stored = reinterpret_cast<const void*>(access.address());
    if (std::memcmp(stored, store.before, access.bytes) != 0) report_race(store.conflict, true);
}

inline void judge_store() {
    if (unjudged.conflict.access.region != nullptr) judge_noted_store();
}

PORTER_RARE void note_doubtful_store(const Access store) {
    if (store.bytes <= sizeof unjudged.before) {
        std::memcpy(unjudged.before, reinterpret_cast<const void*>(store.address()), store.bytes);
    } else {
        report_race(unjudged.conflict, true);
        unjudged.conflict.access.region = nullptr;
    }
}

PORTER_RARE void check_earlier_write(const Access access, const Cell& cell, std::uint64_t own, bool write) {
    const Region& region = *access.region;
    const bool races = conflicts(region, cell.write, own);
    const FaultKind kind = races || write ? FaultKind::RACE : lacks_fence(region, cell.write, own);
    if (!races && kind == FaultKind::RACE) return;
    const Conflict found = {access, cell.write, cell.write_place, true, kind};
    if (write) unjudged.conflict = found;
    else access.is_word() ? doubt_race(found) : report_race(found, false);
}

PORTER_RARE void check_earlier_read(const Access access, Cell& cell, int i, std::uint64_t own) {
    if (!conflicts(*access.region, cell.read[i], own)) cell.read[i] = 0;
    else unjudged.conflict = {access, cell.read[i], cell.read_place[i], false};
}

PORTER_USUAL void check_cell(const Access& access, Cell& cell, std::uint64_t own, std::uint64_t oldest, bool write) {
    static_cast<volatile std::uint32_t&>(cell.touched) = 1;
    if (!is_settled(cell.write, own, oldest)) check_earlier_write(access, cell, own, write);
    if (write) {
#pragma GCC unroll 2
        for (int i = 0; i < 2; ++i) {
            if (is_settled(cell.read[i], own, oldest)) cell.read[i] = 0;
            else check_earlier_read(access, cell, i, own);
        }
        cell.write = own;
        cell.write_place = place_of(access.instruction);
        return;
    }
    // Two readers that nothing orders are enough: a later writer differs from one of them.
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
        if (conflicts_plainly(*access.region, cell.read[i], own, oldest)) continue;
        cell.read[i] = own;
        cell.read_place[i] = place_of(access.instruction);
        return;
    }
}

[[gnu::noinline]] void check_small_cells(const Access access, std::size_t bytes, std::uint64_t own, std::uint64_t oldest, bool write) {
    Region& region = *access.region;
    if (region.cell_shift > 0 && ((access.offset | bytes) & ((1ull << region.cell_shift) - 1)) != 0) {
        refine_cells(region, ((access.offset | bytes) & 1) != 0 ? 0 : 1);
    }
    const std::size_t last = (access.offset + bytes - 1) >> region.cell_shift;
    for (std::size_t i = access.offset >> region.cell_shift; i <= last; ++i) check_cell(access, region.cells[i], own, oldest, write);
}

// `bytes` of the access are inside its region.
PORTER_USUAL void check_race(const Access& access, std::size_t bytes, std::uint64_t own, bool write) {
    const Region& region = *access.region;
    const std::uint64_t oldest = region.shared ? oldest_of_block : oldest_of_grid;
    if (region.cell_shift != 2 || ((access.offset | bytes) & 3) != 0) return check_small_cells(access, bytes, own, oldest, write);
    Cell* const cells = region.cells + access.offset / 4;
    for (std::size_t i = 0; i < bytes / 4; ++i) check_cell(access, cells[i], own, oldest, write);
}

PORTER_RARE void tell_uninitialised(const Access access) { report_uninitialised(access); }
PORTER_RARE void tell_outside(const Access access, bool write) { report_outside(access, write); }

// How a word that overlaps the end of its region is accessed, if it may be: read in doubt, or swapped, which must leave the
// bytes behind the end as they are.
struct Overlap {
    Access swap;  // of a region, or none
    unsigned char behind[8];
};
Overlap overlap = {};

PORTER_RARE bool may_overlap_end(const Access access, bool write, const void* expected) {
    if (!access.is_word() || (write && expected == nullptr)) return false;
    if (write) {
        overlap.swap = access;
        std::memcpy(overlap.behind, reinterpret_cast<const void*>(access.address()), access.bytes);
    } else {
        doubt_outside(access);
    }
    return true;
}

void judge_overlap() {
    if (overlap.swap.region == nullptr) return;
    const Access swap = overlap.swap;
    overlap.swap.region = nullptr;
    const std::size_t inside = swap.region->bytes - swap.offset;
    const auto* behind = reinterpret_cast<const unsigned char*>(swap.address()) + inside;
    if (std::memcmp(behind, overlap.behind + inside, swap.bytes - inside) != 0) report_outside(swap, true);
}

// `expected` is what a compare-and-swap compares with, null for anything else.
PORTER_USUAL void check_access(const Access& access, std::uint64_t own, bool read, bool write, const void* expected) {
    Region& region = *access.region;
    if (!region.live || access.offset >= region.bytes) return tell_outside(access, write);
    std::size_t bytes = access.bytes;
    if (bytes > region.bytes - access.offset) {
        if (!may_overlap_end(access, write, expected)) return tell_outside(access, write);
        bytes = region.bytes - access.offset;
    }
    if (read && !note_reads(region.state + access.offset, bytes)) tell_uninitialised(access);
    check_race(access, bytes, own, write);
    if (write) {
        if (unjudged.conflict.access.region != nullptr) note_doubtful_store(access);
        note_writes(region.state + access.offset, bytes);
    }
}

// Where a host pointer's memory ends is not known: its first element is what a kernel rarely leaves out.
void check_host_memory(const void* address, std::size_t bytes, bool write, const void* instruction) {
    for (std::size_t i = 0; i < host_argument_count; ++i) {
        if (host_arguments[i] == address) report_host_memory(bytes, write, instruction);
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

// Atomics on `__device__` variables order, as those on allocations do. Nothing else is followed of the executable's storage.
void meet_at_variable(std::uintptr_t address) {
    const auto start = reinterpret_cast<std::uintptr_t>(__data_start), end = reinterpret_cast<std::uintptr_t>(_end);
    if (address < start || address >= end) return;
    static Region variables = {start, end - start, "device variables", true, false, false, nullptr, nullptr, 0, 0};
    if (variables.cells == nullptr) follow(variables);
    synchronise_by_atomic(variables, address - start);
    variables.cells[(address - start) >> variables.cell_shift].write = stamp_of(*current) | ATOMIC;
}

std::map<std::uintptr_t, Region> variables;  // of the source, by their begin
std::map<std::uintptr_t, std::size_t> free_storage;  // of headers, by its begin
bool variables_known = false;

Region* variable_at(std::uintptr_t address) {
    auto next = variables.upper_bound(address);
    if (next == variables.begin()) return nullptr;
    Region& region = std::prev(next)->second;
    return address - region.base < region.bytes ? &region : nullptr;
}

// What kernels are told of themselves, and what headers keep.
bool is_free_to_kernels(std::uintptr_t address) {
    auto next = free_storage.upper_bound(address);
    if (next != free_storage.begin() && address - std::prev(next)->first < std::prev(next)->second) return true;
    const auto within = [&](const auto& told) { return address - reinterpret_cast<std::uintptr_t>(&told) < sizeof told; };
    return within(thread_index) || within(block_index) || within(block_extent) || within(grid_extent) || within(block_count);
}

// Static storage that belongs to nobody a kernel knows: it is another variable's, or the executor's.
void check_static_storage(std::uintptr_t address, std::size_t bytes, bool write, const void* instruction) {
    const auto start = reinterpret_cast<std::uintptr_t>(__data_start), end = reinterpret_cast<std::uintptr_t>(_end);
    if (!variables_known || address < start || address >= end || is_free_to_kernels(address)) return;
    static Region others = {start, end - start, "static storage", true, false, false, nullptr, nullptr, 0, 0};
    auto next = variables.upper_bound(address);
    Region& region = next == variables.begin() ? others : std::prev(next)->second;
    report_outside({&region, address - region.base, bytes, current, instruction}, write);
}

}  // namespace

void watch_variables_alone() { variables_known = true; }

void watch_variable(std::uintptr_t base, std::size_t bytes, const char* symbol, bool of_source) {
    if (!of_source) {
        free_storage[base] = bytes;
        return;
    }
    Region& region = variables[base] = {base, bytes, symbol, true, false, false, nullptr, nullptr, 0, 0};
    if (!watching) return;
    follow(region);
    std::memset(region.state, WRITTEN, bytes);
}

// Stacks and what the host has allocated; on the stack of the host's thread lie the arguments of a launch, which each thread reads.
PORTER_USUAL static bool is_of_host(std::uintptr_t address) {
    return address - arena_base >= ARENA_BYTES && address >= reinterpret_cast<std::uintptr_t>(_end);
}

// What `region_of` says of an address that is no shared variable's and no allocation's is left to it.
PORTER_USUAL static Region* usual_region(std::uintptr_t address) {
    if (address - arena_base < ARENA_BYTES) return find_allocation(address);
    for (int i = 0; i < entered_count; ++i) {
        if (address - entered[i]->base < entered[i]->bytes) return entered[i];
    }
    return nullptr;
}

Region* region_of(const volatile void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (address - arena_base < ARENA_BYTES) return find_allocation(address);
    if (address < reinterpret_cast<std::uintptr_t>(__data_start) || address >= reinterpret_cast<std::uintptr_t>(_end)) return nullptr;
    if (Region* region = variable_at(address)) return region;
    for (int i = 0; i < entered_count; ++i) {
        Region& region = *entered[i];
        const bool dynamic = &region == &dynamic_region;
        const std::size_t before = dynamic ? DYNAMIC_GUARD_BYTES : SHARED_GUARD_BYTES;
        const std::size_t room = dynamic ? DYNAMIC_ROOM_BYTES : region.bytes + SHARED_GUARD_BYTES;
        if (address - (region.base - before) < before + room) return &region;
    }
    return nullptr;
}

// An access of memory that is no region's.
[[gnu::noinline]] static void check_elsewhere(const volatile void* pointer, std::size_t bytes, bool write, const void* instruction) {
    check_static_storage(reinterpret_cast<std::uintptr_t>(pointer), bytes, write, instruction);
    check_host_memory(const_cast<const void*>(pointer), bytes, write, instruction);
}

PORTER_USUAL static void check_plain(const volatile void* pointer, std::size_t bytes, bool write, const void* instruction) {
    if (current == nullptr) return host_used(const_cast<const void*>(pointer), bytes, write);
    if (unwatched_depth != 0 || bytes == 0) return;
    if (sampling()) return sample_access(pointer, bytes, write, false, instruction);
    judge_store();
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    Region* region = usual_region(address);
    if (region == nullptr) region = region_of(pointer);
    if (region == nullptr) return check_elsewhere(pointer, bytes, write, instruction);
    const std::size_t offset = address - region->base;
    check_access({region, offset, bytes, current, instruction}, stamp_of(*current), !write, write, nullptr);
}

void access_plain(const volatile void* pointer, std::size_t bytes, bool write, const void* instruction) {
    check_plain(pointer, bytes, write, instruction);
}

template <std::size_t BYTES, bool WRITE>
[[gnu::noinline]] static void check_word(const volatile void* pointer, const void* instruction) {
    check_plain(pointer, BYTES, WRITE, instruction);
}

template <std::size_t BYTES, bool WRITE>
void access_word(const volatile void* pointer, const void* instruction) {
    const bool judged = unjudged.conflict.access.region == nullptr;
    if (judged && host_argument_count == 0 && is_of_host(reinterpret_cast<std::uintptr_t>(pointer))) return;
    check_word<BYTES, WRITE>(pointer, instruction);
}
#define PORTER_WORDS(bytes) \
    template void access_word<bytes, false>(const volatile void*, const void*); \
    template void access_word<bytes, true>(const volatile void*, const void*);
PORTER_WORDS(1)
PORTER_WORDS(2)
PORTER_WORDS(4)
PORTER_WORDS(8)
PORTER_WORDS(16)
#undef PORTER_WORDS

void watch_arguments(const void* const* pointers, std::size_t count) {
    host_argument_count = 0;
    for (std::size_t i = 0; i < count && host_argument_count < MAX_HOST_ARGUMENTS; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(pointers[i]);
        const bool of_device = address - arena_base < ARENA_BYTES;
        const bool of_executable = address < reinterpret_cast<std::uintptr_t>(_end);  // where device variables live, too
        if (!of_device && !of_executable) host_arguments[host_argument_count++] = pointers[i];
    }
}

void watch_new_grid() {
    first_block_of_grid = block_count + 1;
    published.clear();
    published_times = 0;
}

void watch_fence() {
    Thread& self = *current;
    block.fenced_since = block.acquired;
    if (published_times >= MOST_PUBLISHED_TIMES) return;
    Published& by_block = published[block_count];
    std::vector<std::uint32_t>& times = by_block.times;
    if (times.empty()) {
        times.resize(static_cast<std::size_t>(block.threads));
        published_times += times.size();
    }
    const auto publish = [&times](int thread, std::uint32_t until) {
        std::uint32_t& time = times[static_cast<std::size_t>(thread)];
        time = std::max(time, until);
    };
    self.clock = ++block.clock;
    by_block.floor = std::max(by_block.floor, block.floor);
    publish(self.number, self.clock);
    const int first = self.warp * warp_width;
    for (int i = 0; i < std::min(warp_width, block.threads - first); ++i) publish(first + i, warp_clocks[self.warp].known(self.lane, i));
    if (self.acquired == 0) return;  // else it met atomics of threads of its block, which released what they did
    for (int i = 0; i < block.threads; ++i) {
        if (threads[i].released != 0 && threads[i].released <= self.acquired) publish(i, threads[i].released);
    }
}

void watch_new_block() {
    ++block_count;
    entered_count = 0;
    static_shared = 0;
    if (!watching) return;
    const bool have_room = block_count < 1ull << (64 - BLOCK_SHIFT);
    oldest_of_grid = have_room ? first_block_of_grid << BLOCK_SHIFT : 0;
    oldest_of_block = have_room ? block_count << BLOCK_SHIFT : 0;
    for (int w = 0; w < block.warps; ++w) warp_clocks[w].restart(std::min(warp_width, block.threads - w * warp_width));
}

void watch_block_end() {
    judge_store();
    report_doubts();
}

void watch_dynamic_shared(std::size_t bytes) {
    dynamic_shared = bytes;
    std::memset(dynamic_shared_memory, garbage(), bytes);
    if (!watching) return;
    if (dynamic_region.base == 0 || dynamic_region.bytes != bytes) {
        dynamic_region = {reinterpret_cast<std::uintptr_t>(dynamic_shared_memory), bytes, "dynamic shared memory", true, false, true, nullptr, nullptr, 0, 0};
        follow(dynamic_region);
    }
    std::memset(dynamic_region.state, 0, bytes);
    entered[entered_count++] = &dynamic_region;
}

std::size_t shared_in_use() { return static_shared + dynamic_shared; }

void watch_warp(int warp, WideMask lanes) {
    const std::uint32_t now = ++block.clock;
    warp_clocks[warp].meet(lanes, now);
    for (WideMask rest = lanes; rest != 0; rest &= rest - 1) threads[warp * warp_width + __builtin_ctzll(rest)].clock = now;
}

void enter_shared_once(SharedHeader& header, void* storage, std::size_t bytes, const char* name, Where where) {
    header.entered = block_count;
    if (current == nullptr) return;
    std::memset(storage, garbage(), bytes);
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

void begin_atomic(const volatile void* pointer, std::size_t bytes, void* instruction, const void* expected) {
    if (sampling() && current != nullptr && unwatched_depth == 0) {
        sample_access(pointer, bytes, true, true, instruction);
    } else if (watching && current != nullptr && unwatched_depth == 0) {
        judge_store();
        const auto address = reinterpret_cast<std::uintptr_t>(pointer);
        Region* region = region_of(pointer);
        if (region == nullptr) {
            meet_at_variable(address);
        } else {
            const std::size_t offset = address - region->base;
            const Access atomic = {region, offset, bytes, current, instruction};
            if (region->live && offset < region->bytes) synchronise_by_atomic(*region, offset);
            if (expected != nullptr) end_doubt(atomic, expected);
            check_access(atomic, stamp_of(*current) | ATOMIC, true, true, expected);
        }
    }
    ++unwatched_depth;
}

void end_atomic() {
    --unwatched_depth;
    judge_overlap();
}

bool library_at_work() { return unwatched_depth != 0; }

UnwatchedScope::UnwatchedScope() { ++unwatched_depth; }
UnwatchedScope::~UnwatchedScope() { --unwatched_depth; }

}  // namespace porter::simt

#undef PORTER_USUAL
#undef PORTER_RARE
