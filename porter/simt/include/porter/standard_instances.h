// What the standard library's own inline functions instantiate: the executor holds it, and no source does so again.
//
// <cmath> and <string> define functions that are no templates, such as `betaf` and `stoi`, by templates; g++ keeps no
// instance in a precompiled header, and so made these anew at the end of each source: 30 of the 197 ms that an empty one
// takes. Instances for double are left to the sources: device code may call them by a name of CUDA's.
#pragma once

#include <cmath>
#include <string>

#define PORTER_SPECIAL_FUNCTIONS(KEPT, T)                                             \
    KEPT template T std::__detail::__assoc_laguerre(unsigned int, unsigned int, T);   \
    KEPT template T std::__detail::__assoc_legendre_p(unsigned int, unsigned int, T, T);\
    KEPT template T std::__detail::__beta(T, T);                                      \
    KEPT template T std::__detail::__comp_ellint_1(T);                                \
    KEPT template T std::__detail::__comp_ellint_2(T);                                \
    KEPT template T std::__detail::__comp_ellint_3(T, T);                             \
    KEPT template T std::__detail::__cyl_bessel_i(T, T);                              \
    KEPT template T std::__detail::__cyl_bessel_j(T, T);                              \
    KEPT template T std::__detail::__cyl_bessel_k(T, T);                              \
    KEPT template T std::__detail::__cyl_neumann_n(T, T);                             \
    KEPT template T std::__detail::__ellint_1(T, T);                                  \
    KEPT template T std::__detail::__ellint_2(T, T);                                  \
    KEPT template T std::__detail::__ellint_3(T, T, T);                               \
    KEPT template T std::__detail::__expint(T);                                       \
    KEPT template T std::__detail::__laguerre(unsigned int, T);                       \
    KEPT template T std::__detail::__poly_hermite(unsigned int, T);                   \
    KEPT template T std::__detail::__poly_legendre_p(unsigned int, T);                \
    KEPT template T std::__detail::__riemann_zeta(T);                                 \
    KEPT template T std::__detail::__sph_bessel(unsigned int, T);                     \
    KEPT template T std::__detail::__sph_legendre(unsigned int, unsigned int, T);     \
    KEPT template T std::__detail::__sph_neumann(unsigned int, T);

#define PORTER_TO_INTEGER(KEPT, MADE, READ, CHAR) \
    KEPT template MADE __gnu_cxx::__stoa<READ, MADE>( \
        READ (*)(const CHAR*, CHAR**, int), const char*, const CHAR*, std::size_t*, int);
#define PORTER_TO_FLOAT(KEPT, MADE, CHAR) \
    KEPT template MADE __gnu_cxx::__stoa<MADE, MADE>(MADE (*)(const CHAR*, CHAR**), const char*, const CHAR*, std::size_t*);
#define PORTER_TO_NUMBERS(KEPT, CHAR)                                        \
    PORTER_TO_INTEGER(KEPT, int, long, CHAR)                                 \
    PORTER_TO_INTEGER(KEPT, long, long, CHAR)                                \
    PORTER_TO_INTEGER(KEPT, unsigned long, unsigned long, CHAR)              \
    PORTER_TO_INTEGER(KEPT, long long, long long, CHAR)                      \
    PORTER_TO_INTEGER(KEPT, unsigned long long, unsigned long long, CHAR)    \
    PORTER_TO_FLOAT(KEPT, float, CHAR)                                       \
    PORTER_TO_FLOAT(KEPT, double, CHAR)                                      \
    PORTER_TO_FLOAT(KEPT, long double, CHAR)

#if defined(__GLIBCXX__) && defined(__STDCPP_MATH_SPEC_FUNCS__) && __STDCPP_MATH_SPEC_FUNCS__ == 201003L
#define PORTER_STANDARD_INSTANCES(KEPT)         \
    PORTER_SPECIAL_FUNCTIONS(KEPT, float)       \
    PORTER_SPECIAL_FUNCTIONS(KEPT, long double) \
    PORTER_TO_NUMBERS(KEPT, char)               \
    PORTER_TO_NUMBERS(KEPT, wchar_t)
#else
#define PORTER_STANDARD_INSTANCES(KEPT)
#endif

PORTER_STANDARD_INSTANCES(extern)
