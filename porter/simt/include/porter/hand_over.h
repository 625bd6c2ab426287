// What stands in the place of a kernel's body while host code is planned: it hands its arguments to the recorder.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace porter::simt {

struct HandedOver {
    const void* data;
    std::size_t bytes;
    bool is_pointer;
};

template <class T>
HandedOver handed_over(const T& argument) {
    return {std::addressof(argument), sizeof argument, std::is_pointer_v<T>};
}

// Called by a kernel, which is known by the place that this returns to.
void hand_over(const HandedOver* values, std::size_t count);
template <class... T>
__attribute__((always_inline)) inline void hand_over_all(const T&... arguments) {
    const HandedOver values[] = {handed_over(arguments)..., {nullptr, 0, false}};
    hand_over(values, sizeof...(T));
}

}  // namespace porter::simt

// The address of a kernel goes to a list, by which the instances are known that host code can launch.
#define PORTER_KERNEL_PLACE __asm__ volatile("0:\n\t.pushsection porter_kernels,\"a\"\n\t.quad 0b\n\t.popsection");

// In a function of the host, where kernels stand alone: while any of them calls it, their object refers to a symbol that
// nobody has (porter/simt/host_functions.py).
#define PORTER_HOST_ONLY(name) __asm__ volatile(".reloc ., BFD_RELOC_NONE, host_function_" #name);

// The body of a kernel: each of what it hands over is followed by a comma.
#define PORTER_HAND_OVER(...) \
    PORTER_KERNEL_PLACE \
    const ::porter::simt::HandedOver porter_values[] = {__VA_ARGS__{nullptr, 0, false}}; \
    ::porter::simt::hand_over(porter_values, sizeof porter_values / sizeof porter_values[0] - 1);
