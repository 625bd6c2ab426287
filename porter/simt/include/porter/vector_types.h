// CUDA's vector types: plain aggregates with CUDA's sizes and alignments, and their make_ functions.
//
// CUDA defines no operators on them, so neither does this file: programs bring their own.
#pragma once

#include "porter/dim3.h"
#include "porter/precision.h"

#define PORTER_VECTOR1(name, T) \
    struct name##1 { T x; }; \
    inline constexpr name##1 make_##name##1(T x) { return {x}; }
#define PORTER_VECTOR2(name, T, alignment) \
    struct alignas(alignment) name##2 { T x, y; }; \
    inline constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }
#define PORTER_VECTOR3(name, T) \
    struct name##3 { T x, y, z; }; \
    PORTER_MAKE3(name, T)
#define PORTER_MAKE3(name, T) \
    inline constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
#define PORTER_VECTOR4(name, T, alignment) \
    struct alignas(alignment) name##4 { T x, y, z, w; }; \
    inline constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
// Two components align as a whole; four do so up to 16 bytes, the widest access there is.
#define PORTER_EVEN_VECTORS(name, T) \
    PORTER_VECTOR1(name, T) \
    PORTER_VECTOR2(name, T, 2 * sizeof(T)) \
    PORTER_VECTOR4(name, T, (4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16))
#define PORTER_VECTORS(name, T) \
    PORTER_EVEN_VECTORS(name, T) \
    PORTER_VECTOR3(name, T)

PORTER_VECTORS(char, signed char)
PORTER_VECTORS(uchar, unsigned char)
PORTER_VECTORS(short, short)
PORTER_VECTORS(ushort, unsigned short)
PORTER_VECTORS(int, int)
PORTER_EVEN_VECTORS(uint, unsigned int)
PORTER_MAKE3(uint, unsigned int)  // uint3 itself is the type of threadIdx
PORTER_VECTORS(long, long)
PORTER_VECTORS(ulong, unsigned long)
PORTER_VECTORS(longlong, long long)
PORTER_VECTORS(ulonglong, unsigned long long)
PORTER_VECTORS(float, porter::Float)
PORTER_VECTORS(double, double)

#undef PORTER_VECTORS
#undef PORTER_EVEN_VECTORS
#undef PORTER_VECTOR4
#undef PORTER_MAKE3
#undef PORTER_VECTOR3
#undef PORTER_VECTOR2
#undef PORTER_VECTOR1
