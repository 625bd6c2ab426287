// Collects the accesses of a block, and counts what its warps ask for together.
#include "sample.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "accesses.h"
#include "process.h"
#include "record.h"
#include "regions.h"

namespace porter::simt {

namespace sampled {

namespace {

constexpr std::size_t MOST_EVENTS = 4 << 20;  // of a block: 128 MB
// Of a thread at one place; the turns of a loop behind these are taken to be like them. Two passes over a row that is longer
// than the nearest cache are still told from two over a short one.
constexpr std::uint32_t MOST_TURNS = 128;
constexpr std::uint64_t SECTOR_BYTES = 32, SECTORS_OF_LINE = 4;
// 32 KB of the nearest cache, which several blocks share, as the model of Triton has it.
constexpr std::uint64_t NEAR_SECTORS = 1024;
constexpr std::size_t MOST_AHEAD = 16;  // loads that are on their way before the first of them is waited for

// One access of one thread: `at` is its number in the thread, `turn` that among the thread's accesses at this place.
struct Event {
    std::uint64_t address;
    std::uint32_t place, turn, at;
    std::uint16_t thread, warp;
    SampledKind kind;
    std::uint8_t bytes;
};

struct Group {
    std::uint32_t at;
    std::size_t place, first, end;  // sectors
};

std::vector<Event> events;
std::unordered_map<std::uint64_t, std::uint32_t> turns;  // by thread and place
std::unordered_map<std::uint32_t, std::uint64_t> further;  // accesses at a place behind MOST_TURNS
std::vector<std::uint32_t> numbers;                      // the next of each thread
SampledBlock found;
std::vector<std::uint32_t> ahead;  // places of loads that the first thread has on their way
bool ahead_is_shared = false;

void wait_for_loads() {
    if (!ahead.empty()) ++(ahead_is_shared ? found.shared_waits : found.memory_waits);
    ahead.clear();
}

// The first thread waits for what it has loaded when it comes to the same place again, or to anything but loads.
void follow_first(SampledKind kind, std::uint32_t place) {
    const bool loads = kind == SampledKind::LOAD || kind == SampledKind::SHARED_LOAD;
    const bool shared = kind == SampledKind::SHARED_LOAD;
    const bool known = std::find(ahead.begin(), ahead.end(), place) != ahead.end();
    if (!loads || known || ahead.size() == MOST_AHEAD || shared != ahead_is_shared) wait_for_loads();
    if (kind == SampledKind::ATOMIC) ++found.atomic_waits;
    if (!loads) return;
    ahead_is_shared = shared;
    ahead.push_back(place);
}

bool in_one_group(const Event& a, const Event& b) {
    return std::tie(a.warp, a.place, a.turn) == std::tie(b.warp, b.place, b.turn);
}

// The sectors that a warp asks for at once, behind those in `sectors`.
void add_sectors(std::size_t first, std::size_t end, std::vector<std::uint64_t>& sectors) {
    const std::size_t before = sectors.size();
    for (std::size_t i = first; i < end; ++i) {
        const std::uint64_t last = (events[i].address + events[i].bytes - 1) / SECTOR_BYTES;
        for (std::uint64_t s = events[i].address / SECTOR_BYTES; s <= last; ++s) sectors.push_back(s);
    }
    std::sort(sectors.begin() + static_cast<std::ptrdiff_t>(before), sectors.end());
    sectors.erase(std::unique(sectors.begin() + static_cast<std::ptrdiff_t>(before), sectors.end()), sectors.end());
}

std::uint64_t lines_of(const std::vector<std::uint64_t>& sectors, const Group& group) {
    std::uint64_t lines = 0, last = ~0ull;
    for (std::size_t i = group.first; i < group.end; ++i) {
        lines += sectors[i] / SECTORS_OF_LINE != last;
        last = sectors[i] / SECTORS_OF_LINE;
    }
    return lines;
}

// Of the sectors that are asked for, in time, those that the block never touched before, and those that it touched lately.
void count_touched(std::vector<Group>& groups, const std::vector<std::uint64_t>& sectors) {
    std::unordered_map<std::uint64_t, std::uint64_t> touched;
    std::uint64_t passed = 0;
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.at < b.at; });
    for (const Group& group : groups) {
        SampledPlace& place = found.places[group.place];
        for (std::size_t i = group.first; i < group.end; ++i) {
            const auto before = touched.find(sectors[i]);
            const bool fresh = before == touched.end();
            const bool near = !fresh && passed - before->second <= NEAR_SECTORS;
            place.fresh += fresh, place.near += near, passed += !near;
            touched[sectors[i]] = passed;
        }
    }
}

// Adds the accesses behind MOST_TURNS to those that were looked at.
void add_further(SampledPlace& place, std::uint64_t seen) {
    const auto more = further.find(place.place);
    if (more == further.end()) return;
    for (std::uint64_t* count : {&place.executions, &place.sectors, &place.fresh, &place.near, &place.lines}) {
        *count += static_cast<std::uint64_t>(static_cast<double>(*count) * static_cast<double>(more->second) / static_cast<double>(seen));
    }
}

void count_events() {
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return std::tie(a.place, a.warp, a.turn, a.thread) < std::tie(b.place, b.warp, b.turn, b.thread);
    });
    std::vector<Group> groups;
    std::vector<std::uint64_t> sectors;
    for (std::size_t i = 0; i < events.size();) {
        std::size_t end = i;
        while (end < events.size() && in_one_group(events[i], events[end])) ++end;
        if (found.places.empty() || found.places.back().place != events[i].place) {
            found.places.push_back({events[i].place, events[i].kind, events[i].bytes, events[i].address});
        }
        SampledPlace& place = found.places.back();
        ++place.executions;
        if (events[i].kind < SampledKind::SHARED_LOAD) {
            const std::size_t first = sectors.size();
            add_sectors(i, end, sectors);
            groups.push_back({events[i].at, found.places.size() - 1, first, sectors.size()});
            place.sectors += sectors.size() - first;
            place.lines += lines_of(sectors, groups.back());
        }
        i = end;
    }
    count_touched(groups, sectors);
    std::unordered_map<std::uint32_t, std::uint64_t> seen;
    for (const Event& event : events) ++seen[event.place];
    for (SampledPlace& place : found.places) add_further(place, seen[place.place]);
}

}  // namespace

}  // namespace sampled

bool sampling() { return job.mode == JobMode::SAMPLE; }

void sample_new_block() {
    sampled::events.clear(), sampled::turns.clear(), sampled::further.clear(), sampled::ahead.clear();
    sampled::numbers.assign(static_cast<std::size_t>(block.threads), 0);
    sampled::found = {};
}

void sample_access(const volatile void* pointer, std::size_t bytes, bool write, bool atomic, const void* instruction) {
    const Region* const region = region_of(pointer);
    if (region == nullptr) return;  // a variable of the thread's, or of what the executor adds to the source
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const bool shared = region->shared;
    const Thread& self = *current;
    const std::uint32_t place = place_of(instruction);
    const auto kind = shared   ? (write ? SampledKind::SHARED_STORE : SampledKind::SHARED_LOAD)
                      : atomic ? SampledKind::ATOMIC
                      : write  ? SampledKind::STORE
                               : SampledKind::LOAD;
    const std::uint32_t turn = sampled::turns[static_cast<std::uint64_t>(self.number) << 32 | place]++;
    if (self.number == 0) sampled::follow_first(kind, place);
    if (turn >= sampled::MOST_TURNS) {
        ++sampled::further[place];
        return;
    }
    if (sampled::events.size() == sampled::MOST_EVENTS) fail(FaultKind::TIMEOUT, {}, "a block accesses memory in too many ways");
    sampled::events.push_back({address, place, turn, sampled::numbers[self.number]++, self.number, self.warp, kind, static_cast<std::uint8_t>(bytes)});
}

void sample_warp_operation(int warp) {
    ++sampled::found.warp_operations;
    if (warp != 0) return;
    sampled::wait_for_loads();
    ++sampled::found.first_warp_operations;
}

void sample_barrier() {
    sampled::wait_for_loads();
    ++sampled::found.barriers;
}

void sample_block_end(std::size_t shared_bytes) {
    sampled::wait_for_loads();
    sampled::count_events();
    sampled::found.shared_bytes = shared_bytes;
    record_sample(sampled::found);
}

}  // namespace porter::simt
