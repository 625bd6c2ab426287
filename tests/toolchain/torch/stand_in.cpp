// Device memory and faults for tests of tensors alone: no executor, no watch.
#include <cstdlib>
#include <cstring>

#include "porter/memory.h"
#include "porter/plan_tensors.h"

namespace porter::simt {

void* device_allocate(std::size_t bytes, const char*, bool) { return std::memset(std::malloc(bytes), 0xFF, bytes); }
bool device_free(void* pointer) { return std::free(pointer), true; }
void host_wrote(void*, std::size_t) {}
void device_copy(void* to, const void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
void device_fill(void* to, int byte, std::size_t bytes) { std::memset(to, byte, bytes); }

// Nothing is planned here: tensors have their contents.
bool planning() { return false; }
void plan_library(const void*) { std::abort(); }
void plan_step(const char*, const std::vector<PlannedTensor>&, const std::vector<PlannedTensor>&, const std::vector<double>&) { std::abort(); }
void plan_move_elements(const Elements&, const Elements&, const std::int64_t*, std::size_t) { std::abort(); }
void plan_fill_elements(const Elements&, const void*, std::size_t, const std::int64_t*, std::size_t) { std::abort(); }

}  // namespace porter::simt
