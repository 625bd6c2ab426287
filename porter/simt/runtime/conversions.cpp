// Floats that become whole numbers of a type which does not hold them, as a device converts them (porter/simt/conversions.py).
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "porter/watch.h"
#include "state.h"
#include "ubsan.h"

namespace {

// A number of which the compiler's check has told and which no instruction has converted yet: its bits, and the answer.
struct Unfit {
    unsigned long bits, answer;
};
constexpr unsigned MOST_UNFIT = 8;  // conversions that the compiler puts behind the checks of others
Unfit waiting[MOST_UNFIT];
unsigned told = 0;

constexpr double TWO_TO_63 = 9223372036854775808.0;

// PTX: the nearest number, but of NaN zero, or the highest bit alone where a double or 64 bits are concerned.
template <class Integer>
Integer saturated(double value, bool is_single) {
    using Limits = std::numeric_limits<Integer>;
    constexpr Integer HIGHEST_BIT = Integer(1ull << (8 * sizeof(Integer) - 1));
    if (std::isnan(value)) return is_single && sizeof(Integer) == 4 ? 0 : HIGHEST_BIT;
    if (value <= double(Limits::min())) return Limits::min();
    return value >= double(Limits::max()) ? Limits::max() : Integer(value);
}

// Of numbers of fewer than 32 bits a device converts to 32 and drops the others, which the caller does.
unsigned long converted(double value, bool is_single, const UbsanType& to) {
    const bool is_signed = to.info & 1, is_wide = to.info >> 1 == 6;
    if (is_wide && is_signed) return static_cast<unsigned long>(saturated<long>(value, is_single));
    if (is_wide) return saturated<unsigned long>(value, is_single);
    const unsigned whole = is_signed ? static_cast<unsigned>(saturated<int>(value, is_single)) : saturated<unsigned>(value, is_single);
    const unsigned bits = 1u << (to.info >> 1);
    if (bits >= 32) return whole;
    const unsigned low = whole & ((1u << bits) - 1), sign = 1u << (bits - 1);
    return is_signed ? static_cast<unsigned>((low ^ sign) - sign) : low;
}

template <class Real>
unsigned long bits_of(double value) {
    const Real narrow = static_cast<Real>(value);
    unsigned long bits = 0;
    std::memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

}  // namespace

extern "C" {

unsigned char porter_is_unfit = 0;
alignas(16) unsigned char porter_kept_register[16];
unsigned long porter_converted, porter_answer;

struct UbsanConversion {
    UbsanPlace place;
    UbsanType* from;
    UbsanType* to;
};

// Host code has the processor's own answers, as it has beside a device.
void __ubsan_handle_float_cast_overflow(UbsanConversion* data, unsigned long bits) {
    constexpr unsigned short SINGLE = 32, DOUBLE = 64, WIDEST = 6;
    if (porter::simt::current == nullptr || (data->from->info != SINGLE && data->from->info != DOUBLE) || data->to->info >> 1 > WIDEST)
        return;
    const bool is_single = data->from->info == SINGLE;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (is_single) {
        float narrow;
        std::memcpy(&narrow, &bits, sizeof narrow);
        value = narrow;
    }
    unsigned long answer = converted(value, is_single || PORTER_DOUBLE_PRECISION, *data->to);
    if (value >= TWO_TO_63 && data->to->info == WIDEST << 1) {  // unsigned: the compiler converts what is above, and adds it
        bits = is_single ? bits_of<float>(value - TWO_TO_63) : bits_of<double>(value - TWO_TO_63);
        answer ^= 1ul << 63;
    }
    constexpr unsigned TOLD = ~0u;
    if (data->place.column != TOLD)
        porter::simt::note(porter::simt::FaultKind::UNFIT, {data->place.file, static_cast<int>(data->place.line)},
                           std::to_string(value) + " becomes " + data->to->name + ", which does not hold it");
    data->place.column = TOLD;
    waiting[told++ % MOST_UNFIT] = {is_single ? bits & 0xffffffff : bits, answer};
    porter_is_unfit = 1;
}

// Puts the executor's answer for `porter_converted` in the place of the processor's, if it has one.
__attribute__((no_caller_saved_registers, target("general-regs-only"))) void porter_settle() {
    unsigned left = 0;
    for (unsigned i = 0; i < MOST_UNFIT; ++i) {
        Unfit& one = waiting[i];
        if (one.answer == 0 && one.bits == 0) continue;
        if (one.bits == porter_converted) {
            porter_answer = one.answer;
            one = {0, 0};
        } else {
            ++left;
        }
    }
    porter_is_unfit = left != 0;
}

}  // extern "C"
