// Time and chance that repeat: every reading of a clock is a tick of the job's after the one before, every seed the same.
//
// Defined in the executable, these stand before the C library's for it and for every shared library.
#include <sys/time.h>
#include <time.h>

#include <cstddef>
#include <random>

#include "process.h"

namespace {

long long microseconds = 0;

// No two ticks of a device are of one length.
long long tick() {
    const auto& job = porter::simt::job;
    microseconds += job.tick_us + static_cast<long long>(porter::simt::next_chance() % (2 * job.tick_us + 1));
    return job.clock_us + microseconds;
}

}  // namespace

namespace porter::simt {

std::uint64_t next_chance() {
    static std::uint64_t state = job.chance;
    if (job.chance == 0) return 0;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

// Each read of a device's clock comes some cycles after the one before; who reads it often waits, and time goes faster.
long long device_ticks() {
    static long long ticks = 0, reads = 0;
    const bool waits = job.chance == 0 || ++reads > 1024;
    return ticks += waits ? 1000 : 30 + static_cast<long long>(next_chance() % 40);
}

}  // namespace porter::simt

extern "C" {

int clock_gettime(clockid_t, timespec* out) noexcept {
    const long long now = tick();
    *out = {now / 1'000'000, now % 1'000'000 * 1000};
    return 0;
}

int gettimeofday(timeval* out, void*) noexcept {
    const long long now = tick();
    if (out != nullptr) *out = {now / 1'000'000, now % 1'000'000};
    return 0;
}

time_t time(time_t* out) noexcept {
    const time_t now = tick() / 1'000'000;
    if (out != nullptr) *out = now;
    return now;
}

clock_t clock() noexcept { return tick(); }

ssize_t getrandom(void* buffer, size_t bytes, unsigned) noexcept {
    for (size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(buffer)[i] = static_cast<unsigned char>(tick() * 167);
    return static_cast<ssize_t>(bytes);
}

// Sleeping only moves the clock.
int nanosleep(const timespec* wanted, timespec*) {
    microseconds += wanted->tv_sec * 1'000'000 + wanted->tv_nsec / 1000;
    return 0;
}

int clock_nanosleep(clockid_t, int, const timespec* wanted, timespec*) { return nanosleep(wanted, nullptr); }

int usleep(unsigned wanted) {
    microseconds += wanted;
    return 0;
}

unsigned sleep(unsigned seconds) {
    microseconds += seconds * 1'000'000LL;
    return 0;
}

}  // extern "C"

std::random_device::result_type std::random_device::_M_getval() { return static_cast<result_type>(tick() * 2654435761u); }
