// From the first instruction to the last: limits, walls, the job, the entry, the results.
//
// Usage: executable JOB RESULT WORK_DIRECTORY
#include "porter/serve.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "job.h"
#include "plan.h"
#include "porter/memory.h"
#include "process.h"
#include "regions.h"
#include "state.h"

namespace porter::simt {

int warp_width = 32;
bool watching = false;

namespace {

constexpr std::size_t WATCHED_DEVICE_SHARE = 16;  // of the memory limit: each device byte costs up to 11 to follow
Results results;
std::size_t snapshot_left = 0;
bool program_runs = false;

// The same addresses in every run, so that what depends on an address repeats, too.
void fix_addresses(char** words, char** environment) {
    const int now = personality(0xffffffff);
    if (now < 0 || (now & ADDR_NO_RANDOMIZE) != 0) return;
    if (personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0) execve("/proc/self/exe", words, environment);
}

void limit(int what, std::uint64_t soft, std::uint64_t hard) {
    const rlimit value = {soft, hard};
    setrlimit(static_cast<__rlimit_resource_t>(what), &value);
}

std::size_t mapped_bytes() {
    char text[64] = {};
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    return count <= 0 ? 0 : static_cast<std::size_t>(std::strtoull(text, nullptr, 10)) * 4096;
}

void start_timer(__itimer_which which, double seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
    setitimer(which, &timer, nullptr);
}

// Processor time ends a run, to the fraction of a second; the resource limit stands behind its timer for user code that
// takes the signal for itself.
void limit_time() {
    const auto whole = static_cast<std::uint64_t>(std::ceil(job.cpu_s));
    limit(RLIMIT_CPU, whole + 1, whole + 2);
    start_timer(ITIMER_PROF, job.cpu_s);
    start_timer(ITIMER_REAL, job.wall_s);
}

void set_limits() {
    limit(RLIMIT_AS, mapped_bytes() + job.memory_bytes, mapped_bytes() + job.memory_bytes);
    limit(RLIMIT_FSIZE, job.file_bytes, job.file_bytes);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_NOFILE, 256, 256);
    limit_time();
}

void read_options() {
    options.schedule = static_cast<Schedule>(job.schedule);
    options.mask_policy = static_cast<MaskPolicy>(job.mask_policy);
    options.poison = job.poison;
    options.seed = job.seed;
    options.max_threads = static_cast<int>(job.max_threads);
    options.claimed_warp_size = job.claimed_warp_size ? static_cast<int>(job.claimed_warp_size) : porter_warp_size;
    options.shared_bytes = job.shared_bytes;
    options.dynamic_shared_bytes = job.dynamic_shared_bytes;
    warp_width = porter_warp_size;
    watching = porter_watched && job.mode != JobMode::PLAN;
    device_limit_bytes = watching ? job.memory_bytes / WATCHED_DEVICE_SHARE : job.memory_bytes;
    if (planning() || job.mode == JobMode::SAMPLE) device_limit_bytes = job.device_bytes;  // none of it is there
    arena_base = job.arena_base;
    snapshot_left = job.snapshots != 0 ? job.snapshot_bytes : 0;
}

// Before the constructors of any shared library, of the executor and of the user.
void before_everything(int count, char** words, char** environment) {
    if (count != 4) {
        static const char usage[] = "usage: EXECUTABLE JOB RESULT WORK_DIRECTORY\n";
        if (write(2, usage, sizeof usage - 1) < 0) _exit(3);
        _exit(2);
    }
    fix_addresses(words, environment);
    job_file = open(words[1], O_RDONLY | O_CLOEXEC);
    if (read(job_file, &job, sizeof job) != static_cast<ssize_t>(sizeof job) || std::memcmp(job.magic, "PORTJOB1", 8) != 0) _exit(2);
    open_result(words[2]);
    read_options();
    reserve_arena();
    catch_signals();
    set_limits();
    raise_walls(words[3]);
}
__attribute__((section(".preinit_array"), used)) void (*const before_everything_entry)(int, char**, char**) = before_everything;

std::uint64_t end_of(const Region& region, std::uint8_t bit) {
    std::size_t end = region.bytes;
    while (end > 0 && (region.state[end - 1] & bit) == 0) --end;
    return end;
}

}  // namespace

void run_guarded(const std::function<void()>& body) {
    try {
        body();
    } catch (const HostCheck& check) {
        fail(FaultKind::HOST_CHECK, check.where, check.what());
    } catch (const std::bad_alloc&) {
        fail(FaultKind::RESOURCE, {}, "the memory limit is reached");
    } catch (const std::exception& exception) {
        fail(FaultKind::HOST_CHECK, {}, exception.what());
    } catch (...) {
        fail(FaultKind::HOST_CHECK, {}, "an exception of a type of its own");
    }
}

namespace {

void run_entry(Entry entry) {
    run_guarded([entry] { entry(arguments, results); });
}

// A job may say what its tensors held in a call before. That call is made, and nothing told of it: what the user's code
// keeps of it in variables of its own is there when the job is done.
void call_before(Entry entry) {
    char marker = 0;
    if (read(job_file, &marker, 1) != 1) return;
    std::vector<std::string> now;
    for (const Argument& argument : arguments) {
        if (argument.data == nullptr) continue;
        now.emplace_back(static_cast<const char*>(argument.data), argument.bytes);
        read_exactly(argument.data, argument.bytes);
    }
    record_launches(false);
    run_entry(entry);
    results.clear();
    record_launches(true);
    auto next = now.begin();
    for (const Argument& argument : arguments) {
        if (argument.data == nullptr) continue;
        std::memcpy(argument.data, next++->data(), argument.bytes);
        given_anew(argument.data, argument.bytes);
    }
}

// Calls behind the first have their tensors elsewhere: pointers that the host kept of the first are not theirs.
void move_arguments() {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        Argument& argument = arguments[i];
        if (argument.data == nullptr) continue;
        argument.data = plan_input(static_cast<int>(i), argument.bytes, label_of(static_cast<int>(i)));
        if (argument.data == nullptr) fail(FaultKind::RESOURCE, {}, "no device memory left for the tensors of another call");
    }
}

// Every call of the job, one after the other: what the host keeps of one is there in the next.
[[noreturn]] void plan(Entry entry) {
    const auto calls = read_value<std::uint32_t>();
    read_answers();
    close(job_file);
    for (std::uint32_t call = 0; call < calls; ++call) {
        if (call > 0) plan_call();
        if (call == 1) move_arguments();
        results.clear();
        run_entry(entry);
    }
    plan_results(results);
    end_process(0, true);
}

// `exit` in user code: a program's way to end, anything else's failure. Runs after the user's own exit handlers.
void on_exit_called(int code, void*) {
    if (program_runs) end_process(code, true);
    fail(FaultKind::HOST_CHECK, {}, "the program called exit(" + std::to_string(code) + ")");
}

}  // namespace

void record_all_touched() {
    for (const Argument& argument : arguments) {
        if (!argument.is_tensor || !watching || job.mode == JobMode::SAMPLE) continue;
        if (argument.data == nullptr) {
            record_touched(0, 0, 0);
            continue;
        }
        const Region* region = find_allocation(reinterpret_cast<std::uintptr_t>(argument.data));
        record_touched(end_of(*region, USER_READ), end_of(*region, USER_WRITTEN), region->beyond);
    }
}

void serve(const Entry* entries) {
    begin_entry(false);
    on_exit(on_exit_called, nullptr);
    read_arguments();
    if (job.mode == JobMode::PLAN) plan(entries[job.entry]);
    call_before(entries[job.entry]);
    close(job_file);
    run_entry(entries[job.entry]);
    for (const Argument& argument : arguments) {
        if (argument.is_tensor) record_output(argument);
    }
    for (const Result& result : results) record_result(result);
    end_process(0, true);
}

void run_program(int (*program)(int, char**)) {
    static std::vector<std::string> texts{"program"};
    for (const Argument& argument : arguments)
        texts.push_back(argument.integral ? std::to_string(argument.integer) : std::to_string(argument.real));
    static std::vector<char*> words;
    for (std::string& text : texts) words.push_back(text.data());
    words.push_back(nullptr);
    begin_entry(true);
    program_runs = true;
    std::exit(program(static_cast<int>(texts.size()), words.data()));
}

dim3 job_grid() { return {job.grid[0], job.grid[1], job.grid[2]}; }
dim3 job_block() { return {job.block[0], job.block[1], job.block[2]}; }
std::size_t job_shared_bytes() { return job.dynamic_bytes; }

void expect_arguments(const Arguments& given, std::size_t count, const char* entry) {
    if (given.size() == count) return;
    fail(FaultKind::HOST_CHECK, {}, std::string(entry) + " takes " + std::to_string(count) + " arguments, the job has " + std::to_string(given.size()));
}

void take_snapshot() {
    if (snapshot_left == 0) return;
    std::vector<std::pair<const void*, std::size_t>> buffers;
    std::size_t bytes = 0;
    for (int i = 0; i < allocation_count(); ++i) {
        const Region& region = allocation(i);
        if (!region.live) continue;
        buffers.emplace_back(reinterpret_cast<const void*>(region.base), region.bytes);
        bytes += region.bytes;
    }
    if (bytes > snapshot_left) {
        snapshot_left = 0;
        return;
    }
    snapshot_left -= bytes;
    record_snapshot(buffers);
}

}  // namespace porter::simt

// What `assert` calls, in kernels and in host code.
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line, const char*) noexcept {
    using namespace porter::simt;
    fail(in_kernel() ? FaultKind::DEVICE_ASSERT : FaultKind::HOST_CHECK, {file, static_cast<int>(line)},
         std::string("assertion `") + expression + "` failed");
}
