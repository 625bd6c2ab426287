// Planning: host code runs, and what it asks of the device is recorded instead of done.
//
// Device memory has addresses and no contents: its pages are inaccessible. What the host copies from the device was
// answered before, or the process ends there, and is started again with the answer (porter/simt/planned_run.py).
#pragma once

#include <cstddef>
#include <cstdint>

#include "porter/convert.h"
#include "porter/dim3.h"
#include "porter/fault.h"
#include "porter/launch.h"
#include "porter/plan_tensors.h"
#include "regions.h"

namespace porter::simt {

// Kinds of step, as porter/simt/plan_protocol.py has them.
enum class StepKind : std::uint8_t {
    INPUT, ALLOCATE, FREE, VARIABLE, CONSTANT, MOVE, FILL, READ, LAUNCH, CALL, RETURN, MOVE_ELEMENTS, FILL_ELEMENTS,
    ORDER, END,  // of the work before, and of the call
    COMPUTE, LIBRARY,
};

// The memory of an argument; null where there is none left.
void* plan_input(int argument, std::size_t bytes, const char* label);
void plan_allocation(const Region& region);
void plan_free(const Region& region);
void plan_reset();
// An argument of the entry is used as memory of the device, or of the host: it cannot be both.
void use_argument(Region& region, bool as_device);
void plan_copy(void* to, const void* from, std::size_t bytes);
void plan_fill(void* to, int byte, std::size_t bytes);
void plan_launch(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, Where where, Body body, const void* context);
void plan_call();
void plan_results(const std::vector<Result>& results);
void read_answers();

// True while an operator of a library works.
bool library_at_work();

// True where `address` lies in managed memory whose contents the host asks for: they are there when it returns.
bool plan_fetch(std::uintptr_t address);

}  // namespace porter::simt
