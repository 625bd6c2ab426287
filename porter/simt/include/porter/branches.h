// What tells which sides of the branches of the user's code run (porter/simt/branch_edits.py). Each mark that the compiler
// keeps is listed in a section of its own: what it finds unreachable is no side at all.
#pragma once

#include <type_traits>

extern "C" unsigned char porter_taken[];  // by the number of a side; the driver behind the source knows how many

// Not a store of the language's where it can be helped: the hooks on memory would be told of it.
#if defined(__x86_64__)
#define PORTER_TAKE(place) "movb $1, " place "\n\t"
#define PORTER_TAKE_PLAINLY(byte)
#else
#define PORTER_TAKE(place) ""
#define PORTER_TAKE_PLAINLY(byte) byte = 1
#endif

namespace porter::simt {

template <class T>
constexpr bool is_number = std::is_arithmetic<T>::value;

template <unsigned number>
inline __attribute__((always_inline)) void take() {
    __asm__ volatile inline(PORTER_TAKE("porter_taken+%c0(%%rip)")
                            ".pushsection porter_marks,\"a\"\n\t.long %c0\n\t.popsection" : : "i"(number));
    PORTER_TAKE_PLAINLY(porter_taken[number]);
}

template <unsigned number>
constexpr inline __attribute__((always_inline)) void came() {
    if (!__builtin_is_constant_evaluated()) take<number>();
}

// The true side has that number, the false one the next.
template <unsigned number>
constexpr inline __attribute__((always_inline)) bool went(bool condition) {
    if (!__builtin_is_constant_evaluated()) {
        if (condition)
            take<number>();
        else
            take<number + 1>();
    }
    return condition;
}

// A condition of a loop, which keeps in `turn` what is known of this execution of it: behind the two sides of the condition
// come that it was true at all, and that it was true again.
template <unsigned number>
constexpr inline __attribute__((always_inline)) bool turned(unsigned char& turn, bool condition) {
    if (!__builtin_is_constant_evaluated() && condition) {
        if (turn)
            take<number + 3>();
        else
            take<number + 2>();
        turn = 1;
    }
    return went<number>(condition);
}

// What a `min` or `max` came to: its operand `one`, or else the other one, which has the next number.
template <unsigned number, class Result, class One>
constexpr inline __attribute__((always_inline)) Result picked(Result result, const One& one) {
    if constexpr (is_number<Result> && is_number<One>)
        if (!__builtin_is_constant_evaluated()) {
            if (result == static_cast<Result>(one))
                take<number>();
            else
                take<number + 1>();
        }
    return result;
}

// An axis of the block's index, which is 0 in the first block or has the next number behind it.
template <unsigned number>
constexpr inline __attribute__((always_inline)) unsigned int placed(unsigned int index) {
    if (!__builtin_is_constant_evaluated()) {
        if (index)
            take<number + 1>();
        else
            take<number>();
    }
    return index;
}

// The linker drops lists that nothing it keeps mentions.
extern "C" const char __start_porter_marks[] __attribute__((weak));
extern "C" const char __start_porter_instances[] __attribute__((weak));
inline void mention_marks() { __asm__ volatile("" : : "r"(__start_porter_marks), "r"(__start_porter_instances)); }

// An instance of a kernel as the section lists it.
struct Instance {
    unsigned long long number;
    const unsigned char* taken;
    const char* name;
};

}  // namespace porter::simt

#define PORTER_INSTANCE(number)                                                                                 \
    {                                                                                                           \
        static unsigned char porter_taken_here;                                                                        \
        __asm__ volatile inline(PORTER_TAKE("%0")                                                              \
                                ".pushsection porter_instances,\"a\"\n\t.quad %c1, %c2, %c3\n\t.popsection"     \
                                : "=m"(porter_taken_here) : "i"(number), "i"(&porter_taken_here), "i"(__PRETTY_FUNCTION__));  \
        PORTER_TAKE_PLAINLY(porter_taken_here);                                                                       \
    }

// A loop behind it is one statement with it still, also between an `if` and its `else`.
#define PORTER_LOOP(number)                          \
    if (unsigned char porter_turn_##number = 0; false) { \
    } else
