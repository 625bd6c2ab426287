// Shifts by at least as many bits as there are, as a device does them (porter/simt/conversions.py).
#include <string>

#include "porter/watch.h"
#include "state.h"
#include "ubsan.h"

extern "C" {

// A shift of which the compiler's check has told and which is yet to come: the low bits of its count.
unsigned char porter_is_wide_shift = 0, porter_wide_shift = 0;

struct UbsanShift {
    UbsanPlace place;
    UbsanType* shifted;
    UbsanType* count;
};

// Host code has the processor's own answers, as it has beside a device. A count below zero is a large one of no sign.
void __ubsan_handle_shift_out_of_bounds(UbsanShift* data, unsigned long, unsigned long count) {
    if (porter::simt::current == nullptr) return;
    porter_wide_shift = static_cast<unsigned char>(count);
    porter_is_wide_shift = 1;
    constexpr unsigned TOLD = ~0u;
    if (data->place.column == TOLD) return;
    data->place.column = TOLD;
    const bool is_signed = data->count->info & 1, is_wide = data->count->info >> 1 > 5;
    const long by = is_signed && !is_wide ? static_cast<int>(count) : static_cast<long>(count);
    porter::simt::note(porter::simt::FaultKind::SHIFTED, {data->place.file, static_cast<int>(data->place.line)},
                       std::string(data->shifted->name) + " is shifted by " + std::to_string(by) + " bits");
}

}  // extern "C"
