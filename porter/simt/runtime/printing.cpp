// What threads print. A device prints in no order that anybody may count on, so here a launch prints when it has ended:
// block by block, from barrier to barrier, thread by thread, whatever the order in which the threads ran.
#include "printing.h"

#include <cstdarg>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "porter/block.h"
#include "state.h"

namespace porter::simt {
namespace {

constexpr std::size_t MOST_KEPT_BYTES = 4 << 20;  // what lies beyond goes out as it comes

using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint16_t>;  // block, the last barrier it met, thread

std::map<Place, std::string> printed;
std::size_t printed_bytes = 0;

bool keeps() { return current != nullptr && printed_bytes < MOST_KEPT_BYTES; }

void keep(const char* text, std::size_t bytes) {
    const std::uint64_t number = blockIdx.x + std::uint64_t(gridDim.x) * (blockIdx.y + std::uint64_t(gridDim.y) * blockIdx.z);
    printed[{number, block.floor, current->number}].append(text, bytes);
    printed_bytes += bytes;
}

int keep_formatted(const char* format, std::va_list values) {
    std::va_list again;
    va_copy(again, values);
    const int bytes = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    if (bytes < 0) return bytes;
    std::string text(std::size_t(bytes) + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, values);
    keep(text.data(), std::size_t(bytes));
    return bytes;
}

}  // namespace

void print_launch() {
    for (const auto& [place, text] : printed) std::fwrite(text.data(), 1, text.size(), stdout);
    printed.clear();
    printed_bytes = 0;
}

}  // namespace porter::simt

// These stand before those of the C library for the program and its kernels.
extern "C" {

int vprintf(const char* format, std::va_list values) {
    return porter::simt::keeps() ? porter::simt::keep_formatted(format, values) : std::vfprintf(stdout, format, values);
}

int printf(const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    const int bytes = vprintf(format, values);
    va_end(values);
    return bytes;
}

int puts(const char* text) { return printf("%s\n", text); }

int putchar(int character) { return printf("%c", character) < 0 ? EOF : static_cast<unsigned char>(character); }

}  // extern "C"
