// CUDA's integer intrinsics, and its min and max for every pair of arithmetic types.
#pragma once

#include "porter/math.h"
#include "porter/vector_types.h"

// CUDA has these as plain functions, not templates: they win over std::min in a file with `using namespace std`, and
// mixed signedness compares as unsigned.
#define PORTER_ORDER(R, A, B) \
    inline constexpr R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; } \
    inline constexpr R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
PORTER_ORDER(int, int, int)
PORTER_ORDER(unsigned int, unsigned int, unsigned int)
PORTER_ORDER(unsigned int, int, unsigned int)
PORTER_ORDER(unsigned int, unsigned int, int)
PORTER_ORDER(long, long, long)
PORTER_ORDER(unsigned long, unsigned long, unsigned long)
PORTER_ORDER(unsigned long, long, unsigned long)
PORTER_ORDER(unsigned long, unsigned long, long)
PORTER_ORDER(long long, long long, long long)
PORTER_ORDER(unsigned long long, unsigned long long, unsigned long long)
PORTER_ORDER(unsigned long long, long long, unsigned long long)
PORTER_ORDER(unsigned long long, unsigned long long, long long)
#undef PORTER_ORDER
// On floats they are fmin and fmax: a NaN loses against a number.
#define PORTER_ORDER(R, A, B) \
    inline R min(A a, B b) { return std::fmin(R(a), R(b)); } \
    inline R max(A a, B b) { return std::fmax(R(a), R(b)); }
PORTER_ORDER(float, float, float)
PORTER_ORDER(double, double, double)
PORTER_ORDER(double, float, double)
PORTER_ORDER(double, double, float)
#undef PORTER_ORDER

inline constexpr unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
inline constexpr unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
inline constexpr long long llmin(long long a, long long b) { return min(a, b); }
inline constexpr long long llmax(long long a, long long b) { return max(a, b); }
inline constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// Counting and moving bits. __clz(0) is 32 and __ffs(0) is 0, unlike the builtins they resemble.
inline constexpr int __popc(unsigned int x) { return __builtin_popcount(x); }
inline constexpr int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline constexpr int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline constexpr int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline constexpr int __ffs(int x) { return __builtin_ffs(x); }
inline constexpr int __ffsll(long long x) { return __builtin_ffsll(x); }
inline constexpr unsigned int __brev(unsigned int x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
inline constexpr unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
// Each selector nibble names one of the eight bytes of y:x; its top bit asks for that byte's sign instead.
inline constexpr unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned int nibble = selector >> (4 * i) & 0xf, byte = unsigned(bytes >> (8 * (nibble & 7))) & 0xff;
        result |= (nibble & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
    }
    return result;
}
inline constexpr unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    return unsigned((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
inline constexpr unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return unsigned(((unsigned long long)high << 32 | low) >> (shift & 31));
}
inline constexpr unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline constexpr unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline constexpr unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    const int step = offset < 0 ? -1 : 1;
    int left = offset < 0 ? -offset : offset;
    for (int bit = int(base); bit >= 0 && bit < 32; bit += step)
        if (mask >> bit & 1u && (left <= 1 ? true : (--left, false))) return unsigned(bit);
    return 0xffffffffu;
}

// Products, sums and differences.
inline constexpr int __mulhi(int x, int y) { return int((long long)x * y >> 32); }
inline constexpr unsigned int __umulhi(unsigned int x, unsigned int y) { return unsigned((unsigned long long)x * y >> 32); }
inline constexpr long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline constexpr unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
inline constexpr int mulhi(int x, int y) { return __mulhi(x, y); }
inline constexpr unsigned int mulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
inline constexpr long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
inline constexpr int __mul24(int x, int y) { return int(unsigned(x << 8 >> 8) * unsigned(y << 8 >> 8)); }
inline constexpr unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline constexpr unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return (x > y ? x - y : y - x) + z; }
inline constexpr unsigned int __sad(int x, int y, unsigned int z) {
    return (x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x)) + z;
}
inline constexpr int __hadd(int x, int y) { return int(((long long)x + y) >> 1); }
inline constexpr int __rhadd(int x, int y) { return int(((long long)x + y + 1) >> 1); }
inline constexpr unsigned int __uhadd(unsigned int x, unsigned int y) { return unsigned(((unsigned long long)x + y) >> 1); }
inline constexpr unsigned int __urhadd(unsigned int x, unsigned int y) { return unsigned(((unsigned long long)x + y + 1) >> 1); }

// Dot products of four bytes. The signed and the unsigned form differ in how a byte widens.
inline constexpr int __dp4a(int a, int b, int c) {
    unsigned int sum = unsigned(c);
    for (int i = 0; i < 32; i += 8) sum += unsigned(int((signed char)(a >> i)) * int((signed char)(b >> i)));
    return int(sum);
}
inline constexpr unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}
inline int __dp4a(char4 a, char4 b, int c) { return __dp4a(porter::bit_cast<int>(a), porter::bit_cast<int>(b), c); }
inline unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return __dp4a(porter::bit_cast<unsigned int>(a), porter::bit_cast<unsigned int>(b), c);
}
inline constexpr int __dp2a_lo(int a, int b, int c) {
    return c + int(short(a)) * int((signed char)(b)) + int(short(a >> 16)) * int((signed char)(b >> 8));
}
inline constexpr int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
