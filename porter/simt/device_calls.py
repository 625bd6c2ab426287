"""Lists what the kernels of a source may call: the functions of a device, and the executor's own that stand for them.

A C++ compiler for the CPU lets a kernel call anything. What a kernel refers to and its own object does not define is
checked against a positive list: mathematics, memory, `printf`, assertions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MATHS = """
    abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor
    fma fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llabs llrint llround log log10 log1p log2 logb lrint
    lround labs modf nan nearbyint nextafter pow remainder remquo rint round roundeven scalbln scalbn sin sincos sinh
    sqrt tan tanh tgamma trunc y0 y1 yn
"""
_OTHERS = """
    memcpy memmove memset memcmp bcmp strlen strcmp strncmp strcpy malloc free printf puts putchar vprintf abort
    __assert_fail __stack_chk_fail __gxx_personality_v0 _Unwind_Resume __cxa_call_terminate __cxa_begin_catch
    __cxa_end_catch __cxa_pure_virtual __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort _ZSt9terminatev
    _GLOBAL_OFFSET_TABLE_ __dso_handle
"""
MATHS = frozenset(name + kind for name in _MATHS.split() for kind in ("", "f", "l"))
_EXACT = MATHS.union(_OTHERS.split())
_ALIKE = re.compile(
    r"__(?:tsan|ubsan)_\w+"  # hooks
    r"|porter_\w+|_ZNK?6porter\w+|__start_porter_\w+"  # the executor
    r"|_Z(?:n[wa]|d[la])\w*|_ZSt7nothrow"  # new and delete
    r"|_ZNK?St7__cxx1112basic_string\w+"  # messages of the executor's faults
    r"|_ZSt\d+__(?:throw|glibcxx_assert_fail)\w+|_ZTV\w*__cxxabiv1\w*"  # checks of containers, virtual functions
    r"|__(?:mul|div|udiv|mod|umod|powi|extend|trunc|float|floatun|fix|fixuns|popcount|clz|ctz|ffs|bswap|parity)\w*\d"
    r"|_ZN3c106detail14torchCheckFail\w+|_ZN3c105ErrorC\w+"  # checks in headers of PyTorch
)


def foreign(undefined: Iterable[str]) -> list[str]:
    """Returns those of the symbols that nothing on a device has, in their order."""
    return [name for name in undefined if name not in _EXACT and not _ALIKE.fullmatch(name)]
