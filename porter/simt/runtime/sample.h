// A sample of each launch: what its middle block asks of memory and waits for, at sizes at which nothing is executed whole.
//
// Memory has no contents then and reads as zero, so that what a block asks for may hang on no data. A model of the target
// makes a cost of it (porter/cost_model).
#pragma once

#include <cstddef>

#include "state.h"

namespace porter::simt {

static bool sampling();
static void sample_new_block();
static void sample_access(const volatile void* address, std::size_t bytes, bool write, bool atomic, const void* instruction);
static void sample_warp_operation(int warp);
static void sample_barrier();
// Writes what there is of the block, the `shared_bytes` that it has among it.
static void sample_block_end(std::size_t shared_bytes);

}  // namespace porter::simt
