// Launches: `kernel<<<grid, block, shared, stream>>>(args)` becomes
// `launcher("kernel", [&](auto&... a) { return kernel(a...); }).on(grid, block, shared, stream)(args)`.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "porter/block.h"
#include "porter/dim3.h"
#include "porter/fault.h"
#include "porter/streams.h"
#include "porter/watch.h"

namespace porter::simt {

// Error codes with CUDA's numbers; the runtime shim gives them their names.
inline constexpr int SUCCESS = 0;
inline constexpr int INVALID_VALUE = 1;
inline constexpr int INVALID_CONFIGURATION = 9;
inline constexpr int LAUNCH_OUT_OF_RESOURCES = 701;

using Body = void (*)(const void* context);

// Runs `body(context)` once a thread. A launch beyond the device's limits runs nothing, notes a LAUNCH fault, sets
// the last error and returns it.
int run_grid(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, Where where, Body body, const void* context);

template <class F>
int launch(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, Where where, F&& body) {
    using Function = std::remove_reference_t<F>;
    return run_grid(name, grid, block, shared_bytes, where,
                    [](const void* context) { (*static_cast<const Function*>(context))(); }, &body);
}

// The error of the last launch or runtime call; `take` also clears it.
int last_error();
int take_last_error();
void set_last_error(int error);

// Largest dynamic shared memory the device gives a block after the opt-in call, and the static limit.
std::size_t dynamic_shared_limit();
// A launch has no more dynamic shared memory than a block has of static, unless an attribute of its kernel says so.
void opt_in_dynamic_shared(std::size_t bytes);
std::size_t static_shared_limit();
int claimed_warp_size();
int thread_limit();

template <class T>
const void* pointed_to(const T& argument) {
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) return (const void*)argument;
    return nullptr;
}

// What a launch is given for a stream: a handle, something that has one, or nothing.
template <class T, class = void>
struct Handle {
    static const void* of(const T&) { return nullptr; }
};
template <class T>
struct Handle<T*, void> {
    static const void* of(const T* stream) { return stream; }
};
template <class T>
struct Handle<T, std::void_t<decltype(std::declval<const T&>().stream())>> {
    static const void* of(const T& stream) { return stream.stream(); }
};

template <class Call>
struct Configured {
    const char* name;
    Where where;
    Call call;
    dim3 grid, block;
    std::size_t shared_bytes;
    const void* stream;

    // Arguments are evaluated once, and copied for every thread by the kernel's own parameter passing.
    template <class... Args>
    void operator()(Args&&... args) const {
        run<std::decay_t<Args>...>(std::forward<Args>(args)...);
    }

private:
    template <class... Values>
    void run(const Values... values) const {
        const void* const pointers[] = {pointed_to<Values>(values)..., nullptr};
        watch_arguments(pointers, sizeof...(Values));
        const AtStream at(stream);
        launch(name, grid, block, shared_bytes, where, [&] { call(values...); });
    }
};

template <class Call>
struct Launcher {
    const char* name;
    Where where;
    Call call;

    template <class Stream = std::nullptr_t>
    Configured<Call> on(dim3 grid, dim3 block, std::size_t shared_bytes = 0, const Stream& stream = {}) const {
        return {name, where, call, grid, block, shared_bytes, Handle<Stream>::of(stream)};
    }
};

template <class Call>
Launcher<Call> launcher(const char* name, Call call, Where where = Where::here()) {
    return {name, where, call};
}

}  // namespace porter::simt
