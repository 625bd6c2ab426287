// The driver of an executable: a generated `main` hands it the entries, it reads the job and writes what came of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
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

// Calls one function of the source.
using Entry = void (*)(Arguments&, Results&);

// Runs the entry that the job picks on the job's arguments; does not come back.
[[noreturn]] void serve(const Entry* entries);
// The entry of a program: its main, whose exit code is the result.
[[noreturn]] void run_program(int (*program)(int, char**));

dim3 job_grid();
dim3 job_block();
std::size_t job_shared_bytes();
void expect_arguments(const Arguments& arguments, std::size_t count, const char* entry);

namespace detail {

template <class P>
using Value = std::remove_cv_t<std::remove_reference_t<P>>;

// What `Convert` made for a parameter: the value itself, or the owner of what the value looks at.
template <class P>
using Held = decltype(Convert<Value<P>>::from(std::declval<Argument&>()));

template <class P>
decltype(auto) pass(Held<P>& held) {
    if constexpr (!std::is_same_v<Held<P>, Value<P>>) return Value<P>(held);
    else if constexpr (std::is_lvalue_reference_v<P>) return static_cast<P>(held);
    else return static_cast<Value<P>&&>(held);
}

template <std::size_t I, class Function>
struct Parameter;

template <std::size_t I, class R, class... P>
struct Parameter<I, R (*)(P...)> { using Type = Value<std::tuple_element_t<I, std::tuple<P...>>>; };

// Whether a function may set what it is handed: a number by reference.
template <class P>
constexpr bool may_be_set =
    std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>> && std::is_arithmetic_v<Value<P>>;

// Calls a function with what was made for its parameters. They are handed on one by one, here and in launches: in tuples of
// the standard library they took a sixth of the 196 ms that a kernel of one line compiles for.
struct Calling {
    template <class R, class... P>
    Calling(R (*function)(P...), Arguments& arguments, Results& results, Held<P>... held) {
        if constexpr (std::is_void_v<R>) function(pass<P>(held)...);
        else Collect<Value<R>>::into(results, function(pass<P>(held)...));
        std::size_t place = 0;
        if ((is_changed<P>(held, arguments[place++]) || ... || false)) (collect<P>(results, held), ...);
    }

private:
    // If one of the numbers is another one now, all of them are results: so each keeps its place.
    template <class P>
    static void collect(Results& results, const Held<P>& held) {
        if constexpr (may_be_set<P>) Collect<Value<P>>::into(results, held);
    }

    template <class P>
    static bool is_changed(const Held<P>& held, Argument& given) {
        if constexpr (may_be_set<P>) return !(held == Convert<Value<P>>::from(given));
        else return false;
    }
};

// Launches a kernel with copies of its arguments for each thread.
struct Launching {
    template <class... P>
    Launching(const char* name, void (*kernel)(P...), const Value<P>... values) {
        opt_in_dynamic_shared(job_shared_bytes());
        launch(name, job_grid(), job_block(), job_shared_bytes(), Where{}, [&] { kernel(P(values)...); });
    }
};

// In braces, which convert the arguments in their order.
template <class R, class... P, std::size_t... I>
void call(R (*function)(P...), Arguments& arguments, Results& results, std::index_sequence<I...>) {
    Calling{function, arguments, results, Convert<Value<P>>::from(arguments[I])...};
}

template <class... P, std::size_t... I>
void launch_entry(const char* name, void (*kernel)(P...), Arguments& arguments, std::index_sequence<I...>) {
    Launching{name, kernel, Value<P>(Convert<Value<P>>::from(arguments[I]))...};
}

}  // namespace detail

// A struct that a function takes, or the address of one, whose fields the driver gives one by one.
template <std::size_t I, class Function>
using Record = std::remove_cv_t<std::remove_pointer_t<typename detail::Parameter<I, Function>::Type>>;

// A list of numbers that a function takes, whose elements the driver gives one by one. It lives as long as the call.
template <class List>
class ListOf {
public:
    using Element = std::remove_const_t<typename List::value_type>;

    explicit ListOf(std::size_t count) : elements_(count) {}
    Element& operator[](std::size_t place) { return elements_[place]; }

    const List* whole() {
        if constexpr (std::is_constructible_v<List, const Element*, std::size_t>) list_.emplace(elements_.data(), elements_.size());
        else if constexpr (std::is_constructible_v<List, const Element*, const Element*>) list_.emplace(elements_.data(), elements_.data() + elements_.size());
        else {
            List& list = list_.emplace();
            std::copy_n(elements_.begin(), std::min(elements_.size(), list.size()), list.begin());
        }
        return &*list_;
    }

private:
    std::vector<Element> elements_;
    std::optional<List> list_;
};

// `__restrict__` is no part of what a pointer is converted to.
template <class T>
struct Unrestricted { using Type = T; };
template <class T>
struct Unrestricted<T* __restrict__> { using Type = T*; };

template <class Field>
void give(Field& field, Argument& argument) {
    field = Convert<typename Unrestricted<std::remove_cv_t<Field>>::Type>::from(argument);
}

inline Argument record(const void* made) {
    Argument argument;
    argument.record = made;
    return argument;
}

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
