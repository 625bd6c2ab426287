// `Float` is what the language's single precision is in this build.
//
// A double-precision build is the yardstick for rounding: the user's `float` is compiled as `double`, so every function
// and struct of the language that says `float` must follow. Headers write `porter::Float` where CUDA documents `float`
// as part of a type's layout or as a result that user code stores.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace porter {

#if PORTER_DOUBLE_PRECISION
using Float = double;
#else
using Float = float;
#endif

// Reinterprets the bytes of `from`; std::bit_cast is C++20.
template <class To, class From>
inline To bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}

}  // namespace porter
