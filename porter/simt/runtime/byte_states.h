// The states of bytes that are accessed together, eight at a time.
#pragma once

#include <cstdint>
#include <cstring>

#include "regions.h"

namespace porter::simt {

static_assert(USER_READ == USER_WRITTEN << 1);

// Notes a read of bytes with the states from `state` on, as many as a `Word` has. Returns whether all were written.
template <class Word>
inline bool note_read(std::uint8_t* state) {
    constexpr Word EACH = static_cast<Word>(static_cast<Word>(-1) / 0xFF);
    Word states;
    std::memcpy(&states, state, sizeof states);
    const auto noted = static_cast<Word>(states | (~states & EACH * USER_WRITTEN) << 1);
    if (noted != states) std::memcpy(state, &noted, sizeof noted);
    return (states & EACH) == EACH;
}

template <class Word>
inline void note_write(std::uint8_t* state) {
    constexpr Word EACH = static_cast<Word>(static_cast<Word>(-1) / 0xFF);
    Word states;
    std::memcpy(&states, state, sizeof states);
    const auto noted = static_cast<Word>(states | EACH * (WRITTEN | USER_WRITTEN));
    if (noted != states) std::memcpy(state, &noted, sizeof noted);
}

[[gnu::always_inline]] inline bool note_reads(std::uint8_t* state, std::size_t bytes) {
    bool written = true;
    for (; bytes >= 8; bytes -= 8, state += 8) written &= note_read<std::uint64_t>(state);
    if (bytes >= 4) written &= note_read<std::uint32_t>(state), state += 4, bytes -= 4;
    if (bytes >= 2) written &= note_read<std::uint16_t>(state), state += 2, bytes -= 2;
    return bytes == 0 ? written : note_read<std::uint8_t>(state) && written;
}

[[gnu::always_inline]] inline void note_writes(std::uint8_t* state, std::size_t bytes) {
    for (; bytes >= 8; bytes -= 8, state += 8) note_write<std::uint64_t>(state);
    if (bytes >= 4) note_write<std::uint32_t>(state), state += 4, bytes -= 4;
    if (bytes >= 2) note_write<std::uint16_t>(state), state += 2, bytes -= 2;
    if (bytes != 0) note_write<std::uint8_t>(state);
}

}  // namespace porter::simt
