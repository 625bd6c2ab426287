// How the watch tells what is wrong with an access; each place once, the others are counted.
#include "accesses.h"

#include <cstdio>
#include <cstring>
#include <vector>

#include "porter/block.h"
#include "record.h"

namespace porter::simt {

namespace {

Frames frames_of(const void* instruction) {
    Frames frames;
    frames.address[0] = place_of(instruction);
    return frames;
}

std::string described(const Access& access) {
    const Region& region = *access.region;
    const std::string text = std::string("`") + region.label + "` (" + std::to_string(region.bytes) + " bytes) at byte " +
                             std::to_string(static_cast<std::int64_t>(access.offset));
    return region.live ? text : text + ", which is freed";
}

std::string coordinates(unsigned x, unsigned y, unsigned z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

std::string who(const Thread& thread) {
    const uint3 t = thread.index;
    return "thread " + coordinates(t.x, t.y, t.z) + " of block " + coordinates(blockIdx.x, blockIdx.y, blockIdx.z);
}

// What a read of one word would be reported for.
struct Doubt {
    Access read;
    Conflict race;  // of a region, or none
    bool outside;
    unsigned char value[8];
};
std::vector<Doubt> doubts;  // by threads; nearly no process has any
bool any_doubt = false;     // of the running block

void report(Doubt& doubt) {
    if (doubt.race.access.region != nullptr) report_race(doubt.race, false);
    if (doubt.outside) report_outside(doubt.read, false);
    doubt = {};
}

Doubt& doubt_about(const Access& read) {
    doubts.resize(MAX_THREADS);
    Doubt& doubt = doubts[read.thread->number];
    const bool same = doubt.read.region == read.region && doubt.read.offset == read.offset && doubt.read.instruction == read.instruction;
    if (!same) {
        if (doubt.read.region != nullptr) report(doubt);
        doubt.read = read;
    }
    std::memcpy(doubt.value, reinterpret_cast<const void*>(read.address()), read.bytes);
    any_doubt = true;
    return doubt;
}

const char* missing(FaultKind kind) {
    switch (kind) {
        case FaultKind::UNPUBLISHED: return ", with no __threadfence() between that and the atomic which tells of it";
        case FaultKind::UNACQUIRED: return ", with no __threadfence() between the atomic that tells of it and the read";
        default: return " with nothing that orders the two";
    }
}

}  // namespace

void report_race(const Conflict& race, bool write) {
    const Access& access = race.access;
    if (counted(race.kind, place_of(access.instruction))) return;
    const bool same_block = race.earlier >> BLOCK_SHIFT == block_count;
    const uint3 other = threads[thread_of(race.earlier)].index;
    const std::string them = same_block ? "thread " + coordinates(other.x, other.y, other.z) + " of the same block" : "another block";
    char place[20];
    std::snprintf(place, sizeof place, "%x", race.earlier_place);
    note_at(race.kind, frames_of(access.instruction),
            who(*access.thread) + (write ? " writes " : " reads ") + described(access) + "; " + them +
                (race.earlier_wrote ? " writes" : " reads") + " it in {0x" + place + "}" + missing(race.kind));
}

void report_uninitialised(const Access& access) {
    if (counted(FaultKind::UNINITIALISED, place_of(access.instruction))) return;
    note_at(FaultKind::UNINITIALISED, frames_of(access.instruction),
            who(*access.thread) + " reads " + described(access) + ", which nobody has written");
}

void report_outside(const Access& access, bool write) {
    ++access.region->beyond;
    if (counted(FaultKind::OUT_OF_BOUNDS, place_of(access.instruction))) return;
    note_at(FaultKind::OUT_OF_BOUNDS, frames_of(access.instruction),
            who(*access.thread) + (write ? " writes " : " reads ") + std::to_string(access.bytes) + " bytes of " + described(access));
}

void report_misaligned(const char* type, std::uintptr_t address, std::size_t alignment, const void* instruction) {
    if (counted(FaultKind::MISALIGNED, place_of(instruction))) return;
    note_at(FaultKind::MISALIGNED, frames_of(instruction),
            std::string("an access of type ") + type + " needs an address that is a multiple of " + std::to_string(alignment) +
                "; this one is " + std::to_string(address % alignment) + " past one");
}

void report_host_memory(std::size_t bytes, bool write, const void* instruction) {
    if (counted(FaultKind::OUT_OF_BOUNDS, place_of(instruction))) return;
    note_at(FaultKind::OUT_OF_BOUNDS, frames_of(instruction),
            who(*current) + (write ? " writes " : " reads ") + std::to_string(bytes) +
                " bytes of host memory through a pointer it was launched with; a device cannot reach them");
}

void doubt_race(const Conflict& race) { doubt_about(race.access).race = race; }

void doubt_outside(const Access& access) { doubt_about(access).outside = true; }

void end_doubt(const Access& swap, const void* expected) {
    if (!any_doubt) return;
    Doubt& doubt = doubts[swap.thread->number];
    const bool same = doubt.read.region == swap.region && doubt.read.offset == swap.offset && doubt.read.bytes == swap.bytes;
    if (same && std::memcmp(doubt.value, expected, swap.bytes) == 0) doubt = {};
}

void report_doubts() {
    if (!any_doubt) return;
    any_doubt = false;
    for (Doubt& doubt : doubts) {
        if (doubt.read.region != nullptr) report(doubt);
    }
}

}  // namespace porter::simt
