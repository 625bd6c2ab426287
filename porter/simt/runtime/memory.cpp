// The device's memory: an arena at a fixed address, in which nothing is used twice.
#include "porter/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "accesses.h"
#include "plan.h"
#include "process.h"
#include "regions.h"
#include "sample.h"
#include "state.h"

namespace porter::simt {

std::uintptr_t arena_base = 0;
std::size_t device_limit_bytes = 4ull << 30;

namespace {

constexpr std::size_t GRANULE = 1ull << GRANULE_BITS;
constexpr int POPULATE_WRITE = 23;  // MADV_POPULATE_WRITE, which older headers lack
constexpr std::size_t MOST_FETCHED_AT_ONCE = 4 << 20, MOST_FETCHED_BYTES = 64 << 20;
constexpr std::size_t GRANULES_BYTES = (ARENA_BYTES >> GRANULE_BITS) * sizeof(std::uint32_t);

std::deque<Region> allocations;  // a deque, so that a region stays where it is
std::vector<Region*> numbered;   // the same by number, which a deque has to divide to find
std::uint32_t* granules = nullptr;  // 1 + index of the allocation whose memory or guard zone it is
std::size_t arena_used = GUARD_BYTES;
std::size_t arena_gap = GUARD_BYTES;  // what lies before the next allocation
std::size_t bytes_in_use = 0;
std::size_t refused_bytes = 0;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Memory for following memory comes out of a reservation of its own, beside the user's limit.
void* map(std::size_t bytes) {
    static std::uintptr_t next = arena_base + ARENA_BYTES;
    void* memory = reinterpret_cast<void*>(next);
    bytes = round_up(bytes, 4096);
    if (next + bytes > arena_base + ARENA_BYTES + SHADOW_BYTES) return nullptr;
    if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    next += bytes;
    return memory;
}

void unmap(void* memory, std::size_t bytes) {
    madvise(memory, bytes, MADV_DONTNEED);
    mprotect(memory, bytes, PROT_NONE);
}

}  // namespace

void reserve_arena() {
    void* wanted = reinterpret_cast<void*>(arena_base);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    const std::size_t shadow = planning() ? GRANULES_BYTES : SHADOW_BYTES;  // nothing is followed that has no contents
    if (mmap(wanted, ARENA_BYTES + shadow, PROT_NONE, flags, -1, 0) != wanted) std::abort();
    granules = static_cast<std::uint32_t*>(map(GRANULES_BYTES));
    if (granules == nullptr) std::abort();
}

Region* find_allocation(std::uintptr_t address) {
    const std::uintptr_t offset = address - arena_base;
    if (offset >= ARENA_BYTES) return nullptr;
    const std::uint32_t index = granules[offset >> GRANULE_BITS];
    return index == 0 ? nullptr : numbered[index - 1];
}

std::uint32_t buffer_of(const Region& region) { return granules[(region.base - arena_base) >> GRANULE_BITS] - 1; }

int allocation_count() { return static_cast<int>(allocations.size()); }
Region& allocation(int index) { return allocations[static_cast<std::size_t>(index)]; }

// Pages of cells that a kernel is about to touch, all at once: one by one they are a third of the time of a kernel that
// does little. Of large tensors a kernel may touch few.
void fetch_pages(void* memory, std::size_t bytes) {
    static std::size_t left = MOST_FETCHED_BYTES;
    if (memory == nullptr || bytes > left || bytes > MOST_FETCHED_AT_ONCE) return;
    left -= bytes;
    madvise(memory, round_up(bytes, 4096), POPULATE_WRITE);  // a kernel before Linux 5.14 refuses
}

void follow(Region& region) {
    region.state = static_cast<std::uint8_t*>(map(region.bytes));
    region.cell_shift = 2;
    const std::size_t cells_bytes = ((region.bytes >> 2) + 1) * sizeof(Cell);
    region.cells = static_cast<Cell*>(map(cells_bytes));
    fetch_pages(region.cells, cells_bytes);
    if (region.state == nullptr || region.cells == nullptr) {
        fail(FaultKind::RESOURCE, {}, "no memory left to follow an allocation of " + std::to_string(region.bytes) + " bytes");
    }
}

// A thread came that touches parts of a cell: from now on cells are smaller, each with what the whole one knew.
void refine_cells(Region& region, int shift) {
    const std::size_t old_count = (region.bytes >> region.cell_shift) + 1;
    const std::size_t parts = 1ull << (region.cell_shift - shift);
    auto* fine = static_cast<Cell*>(map(old_count * parts * sizeof(Cell)));
    if (fine == nullptr) fail(FaultKind::RESOURCE, {}, "no memory left to follow an allocation byte by byte");
    for (std::size_t i = 0; i < old_count; ++i) {
        const Cell& cell = region.cells[i];
        if (cell.write == 0 && cell.read[0] == 0) continue;
        for (std::size_t k = 0; k < parts; ++k) fine[i * parts + k] = cell;
    }
    unmap(region.cells, old_count * sizeof(Cell));
    region.cells = fine;
    region.cell_shift = shift;
}

// Guard zones are memory in watched executables, which report an access there and go on; elsewhere they are holes.
void* device_allocate(std::size_t bytes, const char* label, bool managed) {
    const std::size_t body = round_up(bytes == 0 ? 1 : bytes, GRANULE);
    const std::size_t behind = arena_used < ARENA_BYTES / 4 ? FAR_BYTES : GUARD_BYTES;
    if (bytes > device_limit_bytes - bytes_in_use || arena_used + body + behind > ARENA_BYTES) {
        refused_bytes = bytes;
        // Said here, since a program that asks after every call prints an error of its own and ends in good order.
        if (!planning()) {
            note(FaultKind::RESOURCE, {}, "the memory limit is reached: " + std::to_string(bytes) +
                                              " bytes of device memory were refused");
        }
        return nullptr;
    }
    const std::uintptr_t base = arena_base + arena_used;
    const std::size_t guard = watching ? arena_gap : 0;
    const std::size_t last_page = watching ? body + behind : round_up(bytes == 0 ? 1 : bytes, 4096);
    if (!planning() || managed) {  // else it is an address without memory
        if (mprotect(reinterpret_cast<void*>(base - guard), last_page + guard, PROT_READ | PROT_WRITE) != 0) return nullptr;
        if (sampling()) madvise(reinterpret_cast<void*>(base), body, MADV_NOHUGEPAGE);  // few of its pages are ever touched
        else std::memset(reinterpret_cast<void*>(base), options.poison, bytes);
    }
    allocations.push_back({base, bytes, label, true, managed, false, nullptr, nullptr, 0, 0});
    numbered.push_back(&allocations.back());
    if (watching && !sampling()) follow(allocations.back());
    const std::size_t first = (arena_used - arena_gap / 2) >> GRANULE_BITS;
    const std::size_t end = (arena_used + body + behind / 2) >> GRANULE_BITS;
    for (std::size_t g = first; g < end; ++g) granules[g] = static_cast<std::uint32_t>(allocations.size());
    arena_used += body + behind;
    arena_gap = behind;
    bytes_in_use += bytes;
    if (planning()) plan_allocation(allocations.back());
    return reinterpret_cast<void*>(base);
}

// The memory itself stays, poisoned, so that a later use is seen.
bool device_free(void* pointer) {
    Region* region = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
    if (region == nullptr || !region->live || region->base != reinterpret_cast<std::uintptr_t>(pointer)) return false;
    region->live = false;
    bytes_in_use -= region->bytes;
    if (planning()) plan_free(*region);
    if (!watching || sampling()) {
        madvise(pointer, region->bytes, MADV_DONTNEED);
        mprotect(pointer, round_up(region->bytes == 0 ? 1 : region->bytes, 4096), PROT_NONE);
        return true;
    }
    madvise(pointer, region->bytes, MADV_DONTNEED);
    unmap(region->cells, ((region->bytes >> region->cell_shift) + 1) * sizeof(Cell));
    region->cells = nullptr;
    return true;
}

void device_reset() {
    if (planning()) plan_reset();
    for (Region& region : allocations) {
        if (region.live && !region.given && !region.variable) device_free(reinterpret_cast<void*>(region.base));
    }
}

bool is_host_memory(const void* pointer) {
    Region* const region = planning() ? find_allocation(reinterpret_cast<std::uintptr_t>(pointer)) : nullptr;
    if (region == nullptr || region->managed) return true;
    if (region->given) use_argument(*region, false);
    return region->given;
}

Extent device_extent(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    Region* region = find_allocation(address);
    if (region == nullptr || !region->live || address < region->base || address > region->base + region->bytes) return {};
    return {reinterpret_cast<void*>(region->base), region->bytes, region->managed};
}

namespace {

// The states of `[address, address + bytes)`, or null where it is no followed device memory.
std::uint8_t* states(const void* address, std::size_t bytes) {
    const auto start = reinterpret_cast<std::uintptr_t>(address);
    Region* region = find_allocation(start);
    if (region == nullptr || region->state == nullptr || start < region->base) return nullptr;
    const std::size_t offset = start - region->base;
    return offset + bytes <= region->bytes ? region->state + offset : nullptr;
}

}  // namespace

void host_wrote(void* pointer, std::size_t bytes) {
    std::uint8_t* to = states(pointer, bytes);
    for (std::size_t i = 0; to != nullptr && i < bytes; ++i) to[i] |= WRITTEN;
}

void host_used(const void* pointer, std::size_t bytes, bool write) {
    std::uint8_t* state = states(pointer, bytes);
    for (std::size_t i = 0; state != nullptr && i < bytes; ++i) {
        if (write) state[i] |= USER_WRITTEN;
        else if ((state[i] & USER_WRITTEN) == 0) state[i] |= USER_READ;
    }
}

void given_anew(const void* pointer, std::size_t bytes) {
    std::uint8_t* state = states(pointer, bytes);
    if (state == nullptr) return;
    find_allocation(reinterpret_cast<std::uintptr_t>(pointer))->beyond = 0;
    for (std::size_t i = 0; i < bytes; ++i) state[i] = WRITTEN;
}

void device_copy(void* to, const void* from, std::size_t bytes) {
    if (planning()) return plan_copy(to, from, bytes);
    std::memmove(to, from, bytes);
    std::uint8_t* target = states(to, bytes);
    const std::uint8_t* source = states(from, bytes);
    if (target == nullptr) return;
    if (source == nullptr) return host_wrote(to, bytes);
    for (std::size_t i = 0; i < bytes; ++i) target[i] = static_cast<std::uint8_t>((target[i] & ~WRITTEN) | (source[i] & WRITTEN));
}

void device_fill(void* to, int byte, std::size_t bytes) {
    if (planning()) return plan_fill(to, byte, bytes);
    std::memset(to, byte, bytes);
    host_wrote(to, bytes);
}

int multiprocessors() { return static_cast<int>(job.multiprocessors); }
bool like_a_device() { return job.chance != 0; }
float event_milliseconds() { return static_cast<float>(job.event_ms * (1 + static_cast<double>(next_chance() % 1000) / 2000)); }
std::size_t device_bytes_total() { return device_limit_bytes; }
std::size_t device_bytes_refused() { return refused_bytes; }
std::size_t device_bytes_free() { return device_limit_bytes - bytes_in_use; }

}  // namespace porter::simt
