// Chance that repeats.
#pragma once

#include <cstdint>

namespace porter::simt {

// 32 random bits: the same in every run with the job's seed.
std::uint32_t chance();

}  // namespace porter::simt
