// Which sides of the branches of the user's code were taken, for the result file.
#include "porter/branches.h"

#include "record.h"

extern "C" {
extern unsigned char porter_taken[] __attribute__((weak));
extern const char __stop_porter_marks[] __attribute__((weak));
extern const char __stop_porter_instances[] __attribute__((weak));
}

namespace porter::simt {

// A mark is listed once for each copy of it that the compiler made.
static void record_branches() {
    constexpr unsigned char TOLD = 2;
    const auto* marks_end = reinterpret_cast<const unsigned*>(__stop_porter_marks);
    for (auto* mark = reinterpret_cast<const unsigned*>(__start_porter_marks); mark != marks_end; ++mark) {
        unsigned char& taken = porter_taken[*mark];
        if ((taken & TOLD) == 0) record_mark(*mark, taken != 0, "");
        taken |= TOLD;
    }
    const auto* instances_end = reinterpret_cast<const Instance*>(__stop_porter_instances);
    for (auto* one = reinterpret_cast<const Instance*>(__start_porter_instances); one != instances_end; ++one)
        record_mark(static_cast<unsigned>(one->number), *one->taken != 0, one->name);
}

}  // namespace porter::simt
