// The process around the user's code: the job it was given, its limits, its signals, its walls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "record.h"

namespace porter::simt {

// What is done with the entry: it is called, or its host code alone is, for the plan of its launches (plan.cpp), or there
// is no host code and a plan is carried out (replay.cpp), or one block of each of its launches is, on memory without contents
// (sample.cpp).
enum class JobMode : std::uint8_t { CALL, PLAN, REPLAY, SAMPLE };

// The head of a job file, as porter/simt/protocol.py writes it.
struct __attribute__((packed)) JobHeader {
    char magic[8];
    std::uint8_t schedule, mask_policy, poison, snapshots;
    JobMode mode;
    std::uint64_t seed;
    std::uint32_t max_threads, claimed_warp_size;
    std::uint64_t shared_bytes, dynamic_shared_bytes;
    std::uint32_t grid[3], block[3];
    std::uint64_t dynamic_bytes;
    std::uint64_t memory_bytes, file_bytes;
    double cpu_s, wall_s;
    std::uint64_t snapshot_bytes;
    std::uint32_t entry, argument_count;
    // What host code may ask of the machine: where device memory lies, its size, times, the number of multiprocessors.
    std::uint64_t arena_base, device_bytes;
    double event_ms;
    std::int64_t clock_us;
    std::uint32_t tick_us, multiprocessors;
    std::uint64_t chance;  // by which a device differs from the executor in all else; 0 for the executor
};

extern JobHeader job;

// Numbers that repeat with the job: those of `chance` where it is a device's, else always 0.
std::uint64_t next_chance();
extern int job_file;  // open behind the header

void catch_signals();
void run_guarded(const std::function<void()>& body);  // what it throws is a fault
void begin_entry(bool whole_program);  // the objects of the user's files are made
static void raise_walls(const char* work_directory);  // seccomp and Landlock
static unsigned long handlers_word = 0;               // last argument of the executor's own calls; unknown to user code
void take_snapshot();                          // of the device's buffers, where the job asks for it

}  // namespace porter::simt
