// What a library of CUDA's computes: a kernel of its own, which one thread runs. Where host code has the data beside it, it is
// done at once; where host code only plans, it is a step of the plan by the name of the library's function.
#pragma once

#include <type_traits>

#include "porter/hand_over.h"
#include "porter/launch.h"
#include "porter/memory.h"
#include "porter/plan_tensors.h"
#include "porter/runtime_memory.h"
#include "porter/watch.h"

namespace porter::library {

template <class T>
const void* address_of(T iterator) {
    if constexpr (std::is_pointer_v<T>) return (const void*)iterator;
    return nullptr;
}

// Has the library's function `name` work, which begins to write at each of `written`.
template <class Work, class... Written>
void run(const char* name, const Work& work, Written... written) {
    if (!simt::planning()) return work();
    const void* const places[] = {address_of(written)..., nullptr};
    simt::plan_library_work(name, places, sizeof...(written), [](const void* context) { (*static_cast<const Work*>(context))(); }, &work);
}

// The same for a function that writes one number, to memory of the host or of the device.
template <class T, class Work>
void run_for(const char* name, T* result, const Work& work) {
    if (!simt::planning() || simt::device_extent(result).base != nullptr) return run(name, [&] { work(result); }, result);
    T* const there = static_cast<T*>(simt::device_allocate(sizeof(T), name));
    run(name, [&] { work(there); }, there);
    simt::device_copy(result, there, sizeof(T));
    simt::device_free(there);
}

}  // namespace porter::library

// Stands at the begin of a kernel of a library, with its parameters: where host code only plans, they are all there is of it.
#ifdef PORTER_PLANS
#define PORTER_LIBRARY(...) \
    PORTER_KERNEL_PLACE \
    return ::porter::simt::hand_over_all(__VA_ARGS__);
#else
#define PORTER_LIBRARY(...) const ::porter::simt::UnwatchedScope unwatched;
#endif
