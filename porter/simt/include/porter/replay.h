// The kernels of a source for a process that carries out a plan: how each is launched with the bytes of its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "porter/launch.h"

namespace porter::simt {

// A launch of a plan. `arguments` are the bytes of each, where nothing is aligned.
struct PlannedLaunch {
    const char* name;
    Where where;
    dim3 grid, block;
    std::size_t shared_bytes;
    const unsigned char* const* arguments;
};

struct ReplayedKernel {
    void (*launch)(const PlannedLaunch& launch);
    const std::size_t* sizes;  // of its parameters, in bytes
    std::size_t count;
};

namespace detail {

template <class T>
struct Storage {
    alignas(T) unsigned char bytes[sizeof(T)];

    explicit Storage(const unsigned char* from) { __builtin_memcpy(bytes, from, sizeof bytes); }
    T& value() { return *reinterpret_cast<T*>(bytes); }
};

template <class... P>
struct KernelOf {
    static constexpr std::size_t sizes[] = {sizeof(P)..., 0};

    template <void (*kernel)(P...)>
    static void launch(const PlannedLaunch& planned) { launch<kernel>(planned, std::index_sequence_for<P...>()); }

    template <void (*kernel)(P...), std::size_t... I>
    static void launch(const PlannedLaunch& planned, std::index_sequence<I...>) {
        run<kernel>(planned, Storage<P>(planned.arguments[I])...);
    }

private:
    template <void (*kernel)(P...)>
    static void run(const PlannedLaunch& planned, Storage<P>... values) {
        const void* const pointers[] = {pointed_to<P>(values.value())..., nullptr};
        watch_arguments(pointers, sizeof...(P));
        porter::simt::launch(planned.name, planned.grid, planned.block, planned.shared_bytes, planned.where,
                             [&] { kernel(P(values.value())...); });
    }
};

template <class... P>
KernelOf<P...> kernel_of(void (*)(P...));

}  // namespace detail

template <auto kernel>
constexpr ReplayedKernel replayed() {
    using Kernel = decltype(detail::kernel_of(kernel));
    return {&Kernel::template launch<kernel>, Kernel::sizes, sizeof Kernel::sizes / sizeof Kernel::sizes[0] - 1};
}

// Carries out the plan of the job; does not come back.
[[noreturn]] void replay(const ReplayedKernel* kernels, std::size_t count);

}  // namespace porter::simt
