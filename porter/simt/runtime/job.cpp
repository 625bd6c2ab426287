// Reading the job file. Layout: porter/simt/protocol.py.
#include "job.h"

#include <unistd.h>

#include <cstdio>

#include "plan.h"
#include "porter/memory.h"
#include "regions.h"
#include "sample.h"
#include "state.h"

namespace porter::simt {

JobHeader job;
int job_file = -1;
Arguments arguments;

void read_exactly(void* data, std::size_t bytes) {
    char* next = static_cast<char*>(data);
    while (bytes > 0) {
        const ssize_t got = read(job_file, next, bytes);
        if (got <= 0) fail(FaultKind::CRASH, {}, "the job file ends too early");
        next += got;
        bytes -= static_cast<std::size_t>(got);
    }
}

std::string read_text() {
    std::string text(read_value<std::uint32_t>(), '\0');
    read_exactly(text.data(), text.size());
    return text;
}

const char* label_of(int argument) {
    static char labels[64][16];
    char* const label = labels[argument < 64 ? argument : 63];
    std::snprintf(label, sizeof labels[0], "argument %d", argument);
    return label;
}

namespace {

void read_tensor(Argument& argument, int number, bool strided) {
    argument.is_tensor = true;
    argument.dtype = static_cast<DType>(read_value<std::uint8_t>());
    argument.shape.resize(read_value<std::uint32_t>());
    for (auto& extent : argument.shape) extent = read_value<std::int64_t>();
    argument.strides.resize(strided ? argument.shape.size() : 0);
    for (auto& stride : argument.strides) stride = read_value<std::int64_t>();
    if (strided) argument.offset = read_value<std::int64_t>();
    argument.bytes = read_value<std::uint64_t>();
    const char* const label = label_of(number);
    argument.data = planning() ? plan_input(number, argument.bytes, label) : device_allocate(argument.bytes, label);
    if (argument.data == nullptr) fail(FaultKind::RESOURCE, {}, "no device memory left for " + std::string(label));
    if (planning()) return;
    find_allocation(reinterpret_cast<std::uintptr_t>(argument.data))->given = true;
    if (sampling()) return;
    read_exactly(argument.data, argument.bytes);
    host_wrote(argument.data, argument.bytes);
}

}  // namespace

void read_arguments() {
    for (std::uint32_t i = 0; i < job.argument_count; ++i) {
        Argument argument;
        switch (read_value<std::uint8_t>()) {
            case 0: read_tensor(argument, static_cast<int>(i), false); break;
            case 4: read_tensor(argument, static_cast<int>(i), true); break;
            case 1:
                argument.integral = true;
                argument.integer = read_value<std::int64_t>();
                break;
            case 3:  // a null pointer
                argument.is_tensor = true;
                argument.dtype = static_cast<DType>(read_value<std::uint8_t>());
                argument.shape = {0};
                break;
            default: argument.real = read_value<double>();
        }
        arguments.push_back(std::move(argument));
    }
}

void read_next_contents() {
    for (const Argument& argument : arguments) {
        if (argument.data == nullptr) continue;
        read_exactly(argument.data, argument.bytes);
        given_anew(argument.data, argument.bytes);
    }
}

}  // namespace porter::simt
