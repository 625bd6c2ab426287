// Writing the result file. Layout: porter/simt/protocol.py. Nothing here may need memory that is not there yet.
#include "record.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>

#include "accesses.h"
#include "process.h"
#include "state.h"

namespace porter::simt {

const char* current_kernel = "";

namespace {

enum class Tag : std::uint32_t { LAUNCH = 1, FAULT, OUTPUT, RESULT, SNAPSHOT, TOUCHED, END, STEP, READ, SIDE, MARK, SAMPLE };

char buffer[1 << 16];
std::size_t used = 0;
bool launches_count = true;

void write_all(const void* data, std::size_t bytes) {
    const char* next = static_cast<const char*>(data);
    while (bytes > 0) {
        const long written = syscall(SYS_write, RESULT_FILE, next, bytes, 0, 0, handlers_word);
        if (written <= 0) return;  // a result cut short is read as a crash
        next += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

void flush() {
    write_all(buffer, used);
    used = 0;
}

void put(const void* data, std::size_t bytes) {
    if (bytes > sizeof(buffer) - used) flush();
    if (bytes > sizeof(buffer)) return write_all(data, bytes);
    std::memcpy(buffer + used, data, bytes);
    used += bytes;
}

template <class T>
void put(T value) {
    put(&value, sizeof(value));
}

void put_text(const char* text, std::size_t length) {
    put(static_cast<std::uint32_t>(length));
    put(text, length);
}

void begin(Tag tag, std::size_t length) {
    put(static_cast<std::uint32_t>(tag));
    put(static_cast<std::uint64_t>(length));
}

constexpr int MAX_FAULTS = 256;
constexpr std::size_t MESSAGE_BYTES = 480;

struct FaultEntry {
    FaultKind kind;
    bool fatal;
    std::uint64_t count;
    Where where;
    const char* kernel;
    Frames frames;
    char message[MESSAGE_BYTES];
};

FaultEntry faults[MAX_FAULTS];
int fault_count = 0;

bool same_text(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }

FaultEntry* find(FaultKind kind, Where where, std::uint32_t address) {
    for (int i = 0; i < fault_count; ++i) {
        FaultEntry& fault = faults[i];
        if (fault.kind == kind && fault.where.line == where.line && fault.frames.address[0] == address &&
            same_text(fault.kernel, current_kernel) && same_text(fault.where.file, where.file)) {
            return &fault;
        }
    }
    return nullptr;
}

// The first of its kind and place is kept whole, later ones are counted. Beyond the table's size they are dropped.
void add(FaultKind kind, Where where, const Frames& frames, const char* message, bool fatal) {
    FaultEntry* fault = find(kind, where, frames.address[0]);
    if (fault == nullptr) {
        if (fault_count == MAX_FAULTS && !fatal) return;
        fault = &faults[fault_count < MAX_FAULTS ? fault_count++ : MAX_FAULTS - 1];
        *fault = {kind, false, 0, where, current_kernel, frames, {}};
        std::strncpy(fault->message, message, MESSAGE_BYTES - 1);
    }
    ++fault->count;
    fault->fatal = fault->fatal || fatal;
}

void put_fault(const FaultEntry& fault) {
    const std::size_t file_length = std::strlen(fault.where.file), kernel_length = std::strlen(fault.kernel),
                      length = std::strlen(fault.message);
    begin(Tag::FAULT, 1 + 1 + 8 + 4 + sizeof(Frames) + 3 * 4 + file_length + kernel_length + length);
    put(static_cast<std::uint8_t>(fault.kind));
    put(static_cast<std::uint8_t>(fault.fatal));
    put(fault.count);
    put(static_cast<std::int32_t>(fault.where.line));
    put(fault.frames);
    put_text(fault.where.file, file_length);
    put_text(fault.kernel, kernel_length);
    put_text(fault.message, length);
}

[[noreturn]] void leave(int exit_code, bool finished) {
    for (int i = 0; i < fault_count; ++i) put_fault(faults[i]);
    record_all_touched();
    record_branches();
    begin(Tag::END, 4 + 1);
    put(static_cast<std::int32_t>(exit_code));
    put(static_cast<std::uint8_t>(finished));
    flush();
    _exit(finished ? 0 : 1);
}

}  // namespace

void open_result(const char* path) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup3(file, RESULT_FILE, O_CLOEXEC);
    close(file);
    put("PORTRES1", 8);
}

void note(FaultKind kind, Where where, const std::string& message) { add(kind, where, {}, message.c_str(), false); }

void fail(FaultKind kind, Where where, const std::string& message) {
    add(kind, where, {}, message.c_str(), true);
    end_process(1, false);
}

bool counted(FaultKind kind, std::uint32_t address) {
    FaultEntry* fault = find(kind, {}, address);
    if (fault != nullptr) ++fault->count;
    return fault != nullptr;
}

void note_at(FaultKind kind, const Frames& frames, const std::string& message) { add(kind, {}, frames, message.c_str(), false); }

void fail_in_handler(FaultKind kind, const Frames& frames, const char* message, int exit_code) {
    add(kind, {}, frames, message, true);
    leave(exit_code, false);
}

void record_launches(bool from_now) { launches_count = from_now; }

void record_launch(const char* kernel, dim3 grid, dim3 block_extent, std::size_t shared_bytes, Where where) {
    if (!launches_count) return;
    const std::size_t length = std::strlen(kernel);
    begin(Tag::LAUNCH, 4 + length + 6 * 4 + 8 + 4);
    put_text(kernel, length);
    for (const unsigned extent : {grid.x, grid.y, grid.z, block_extent.x, block_extent.y, block_extent.z}) put(extent);
    put(static_cast<std::uint64_t>(shared_bytes));
    put(static_cast<std::int32_t>(where.line));
}

void record_output(const Argument& argument) {
    begin(Tag::OUTPUT, argument.bytes);
    put(argument.data, argument.bytes);
}

void record_mark(unsigned number, bool taken, const char* instance) {
    const std::size_t length = std::strlen(instance);
    begin(Tag::MARK, 4 + 1 + 4 + length);
    put(static_cast<std::uint32_t>(number));
    put(static_cast<std::uint8_t>(taken));
    put_text(instance, length);
}

void record_result(const Result& result) {
    begin(Tag::RESULT, 1 + 4 + 8 * result.shape.size() + result.bytes);
    put(static_cast<std::uint8_t>(result.dtype));
    put(static_cast<std::uint32_t>(result.shape.size()));
    for (const std::int64_t extent : result.shape) put(extent);
    put(result.data, result.bytes);
}

void record_step(const void* data, std::size_t bytes) {
    begin(Tag::STEP, bytes);
    put(data, bytes);
}

void record_read(const void* data, std::size_t bytes) {
    begin(Tag::READ, bytes);
    put(data, bytes);
}

static const char* label_at(const SampledPlace& place) {
    const Region* const region = find_allocation(place.first);
    return region == nullptr ? "" : region->label;
}

void record_sample(const SampledBlock& sample) {
    std::size_t length = 7 * 8;
    for (const SampledPlace& place : sample.places) length += 1 + 1 + 7 * 8 + 4 + std::strlen(label_at(place));
    begin(Tag::SAMPLE, length);
    for (const std::uint64_t number : {sample.barriers, sample.warp_operations, sample.first_warp_operations, sample.memory_waits,
                                       sample.shared_waits, sample.atomic_waits, sample.shared_bytes}) {
        put(number);
    }
    for (const SampledPlace& place : sample.places) {
        put(static_cast<std::uint8_t>(place.kind));
        put(place.bytes);
        const Region* const region = find_allocation(place.first);
        for (const std::uint64_t number : {region ? region->base : 0, region ? region->bytes : 0, place.executions, place.sectors,
                                           place.fresh, place.near, place.lines}) {
            put(number);
        }
        put_text(label_at(place), std::strlen(label_at(place)));
    }
}

void record_touched(std::uint64_t read_end, std::uint64_t written_end, std::uint64_t beyond) {
    begin(Tag::TOUCHED, 3 * 8);
    put(read_end);
    put(written_end);
    put(beyond);
}

void record_snapshot(const std::vector<std::pair<const void*, std::size_t>>& buffers) {
    std::size_t total = 4;
    for (const auto& [data, bytes] : buffers) total += 8 + bytes;
    begin(Tag::SNAPSHOT, total);
    put(static_cast<std::uint32_t>(buffers.size()));
    for (const auto& [data, bytes] : buffers) {
        put(static_cast<std::uint64_t>(bytes));
        put(data, bytes);
    }
}

void end_process(int exit_code, bool finished) {
    report_doubts();
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr);
    leave(exit_code, finished);
}

}  // namespace porter::simt
