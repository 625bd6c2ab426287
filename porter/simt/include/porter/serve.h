// The driver of an executable: a generated `main` hands it the entry, it reads the job and writes what came of it.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "porter/convert.h"
#include "porter/launch.h"
#include "porter/warp.h"

// Read by the executor before any user code runs.
extern "C" {
extern const int porter_warp_size;
extern const bool porter_watched;
}

namespace porter::simt {

using Arguments = std::vector<Argument>;
using Results = std::vector<Result>;

// Runs `entry` on the job's arguments; does not come back.
[[noreturn]] void serve(void (*entry)(Arguments&, Results&));
// Runs a program's main, whose exit code is the result.
[[noreturn]] void serve_program(int (*entry)(int, char**));

dim3 job_grid();
dim3 job_block();
std::size_t job_shared_bytes();
void expect_arguments(const Arguments& arguments, std::size_t count, const char* entry);

// Picks the overload with exactly these parameters.
template <class... P>
struct Overload {
    template <class R>
    static constexpr auto pick(R (*function)(P...)) { return function; }
};

namespace detail {

template <class P>
using Value = std::remove_cv_t<std::remove_reference_t<P>>;

template <class R, class... P, std::size_t... I>
void call(R (*function)(P...), Arguments& arguments, Results& results, std::index_sequence<I...>) {
    std::tuple<Value<P>...> values{Convert<Value<P>>::from(arguments[I])...};
    if constexpr (std::is_void_v<R>) {
        function(static_cast<P>(static_cast<std::conditional_t<std::is_reference_v<P>, P, Value<P>&&>>(std::get<I>(values)))...);
    } else {
        auto&& result = function(static_cast<P>(static_cast<std::conditional_t<std::is_reference_v<P>, P, Value<P>&&>>(std::get<I>(values)))...);
        Collect<Value<R>>::into(results, result);
    }
}

template <class... P, std::size_t... I>
void launch_entry(const char* name, void (*kernel)(P...), Arguments& arguments, std::index_sequence<I...>) {
    const std::tuple<Value<P>...> values{Convert<Value<P>>::from(arguments[I])...};
    launch(name, job_grid(), job_block(), job_shared_bytes(), Where{}, [&] { kernel(P(std::get<I>(values))...); });
}

}  // namespace detail

template <class R, class... P>
void call_entry(const char* name, R (*function)(P...), Arguments& arguments, Results& results) {
    expect_arguments(arguments, sizeof...(P), name);
    detail::call(function, arguments, results, std::index_sequence_for<P...>());
}

template <class... P>
void launch_entry(const char* name, void (*kernel)(P...), Arguments& arguments) {
    expect_arguments(arguments, sizeof...(P), name);
    detail::launch_entry(name, kernel, arguments, std::index_sequence_for<P...>());
}

// The forms of main.
inline int run_main(int (*entry)(), int, char**) { return entry(); }
inline int run_main(int (*entry)(int, char**), int count, char** words) { return entry(count, words); }
inline int run_main(int (*entry)(int, const char**), int count, char** words) { return entry(count, const_cast<const char**>(words)); }
inline int run_main(int (*entry)(int, char**, char**), int count, char** words) { return entry(count, words, words + count); }
inline int run_main(void (*entry)(), int, char**) { return entry(), 0; }
inline int run_main(void (*entry)(int, char**), int count, char** words) { return entry(count, words), 0; }

}  // namespace porter::simt
