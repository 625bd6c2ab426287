"""Lists what host code of a candidate may call: what it takes to ask a device for work, and to work out what to ask.

It runs where nothing of a device has contents, and is delivered to where everything has. So it must not find out where
it is: files, the environment, limits, processes, threads and the system are not on the list, by whatever name a source
has them. What its original calls is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.simt.device_calls import MATHS
from porter.simt.elf import demangled

_OTHERS = """
    memchr memrchr memccpy strcat strchr strcmp strcoll strcpy strcspn strdup strerror strlen strncat strncmp strncpy
    strndup strnlen strpbrk strrchr strspn strstr strtok strtok_r strcasecmp strncasecmp wcslen wmemcpy wmemset
    atoi atol atoll atof strtol strtoll strtoul strtoull strtof strtod strtold qsort bsearch abs labs llabs div ldiv
    isalnum isalpha isdigit isspace isupper islower isxdigit ispunct isprint tolower toupper
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location rand srand random srandom drand48 srand48
    printf fprintf vprintf vfprintf sprintf vsprintf snprintf vsnprintf puts putchar putc fputs fputc fwrite fflush
    perror stdout stderr setbuf setvbuf
    memcpy memmove memset memcmp bcmp malloc free calloc realloc aligned_alloc posix_memalign
    exit abort __assert_fail __stack_chk_fail time clock clock_gettime gettimeofday difftime nanosleep usleep sleep
    pthread_mutex_lock pthread_mutex_unlock pthread_mutex_trylock pthread_mutex_init pthread_mutex_destroy pthread_once
    __pthread_key_create pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock
    __libc_single_threaded __cxa_atexit __dso_handle __data_start _end _GLOBAL_OFFSET_TABLE_
    __dynamic_cast __tls_get_addr getrandom arc4random
    setjmp longjmp _setjmp __sigsetjmp __longjmp_chk feclearexcept fetestexcept fesetround fegetround
"""
_EXACT = MATHS.union(_OTHERS.split())
_ALIKE = re.compile(
    r"porter_\w+|__start_porter_\w+|__(?:tsan|ubsan)_\w+|_ZT?\w*6porter\w*"
    r"|_ZT?\w*(?:2at|3c10|5torch|8pybind11|6caffe2)\w*|Py_?\w+|_Py\w+"  # the tensor library's stand-in
    r"|_Z(?:n[wa]|d[la])\w*|_ZT?[VISTC]?N?[VK]*S[tasbiod]\w*|_ZTIN10__cxxabiv1\w*|_ZTVN10__cxxabiv1\w*|_ZT[IS]\w*"
    r"|_ZZ?N?K?St\w*|_ZGVZ?N?K?St\w*|_ZN9__gnu_cxx\w*|_ZNK9__gnu_cxx\w*|_ZN10__cxxabiv1\w*"
    r"|__cxa_\w+|__gxx_personality_v0|_Unwind_\w+|__\w+_chk"
    r"|__(?:mul|div|udiv|mod|umod|powi|extend|trunc|float|floatun|fix|fixuns|popcount|clz|ctz|ffs|bswap|parity)\w*\d"
)
# What of the standard library reaches the system.
_OF_THE_SYSTEM = re.compile(
    r"fstream|filebuf|filesystem|stdio_sync_filebuf|stdio_filebuf|6thread|7jthread|__future_base|condition_variable"
    r"|hardware_concurrency|__open_chk|__read_chk|__readlink|__fgets_chk|__fread_chk|__getcwd_chk|__realpath_chk"
    r"|__gethostname|__confstr|__pread|__poll|__recv|__fdelt|__ttyname|__getlogin|__getdomain|__getgroups|__cxa_thread"
)
# All that decides, as text: a build that lists what is not free depends on it.
LISTED = "\n".join((*sorted(_EXACT), _ALIKE.pattern, _OF_THE_SYSTEM.pattern))
_STREAMS = re.compile(r"\bbasic_(\w+)")


def outside(undefined: Iterable[str]) -> list[str]:
    """Returns those of the symbols, as C++ spells them, that no launch needs."""
    return demangled([n for n in undefined if _OF_THE_SYSTEM.search(n) or not (n in _EXACT or _ALIKE.fullmatch(n))])


def not_free(called: Iterable[str], words: frozenset[str]) -> list[str]:
    """Returns those of what is `called` that an original of these `words` does not name."""
    return [text for text in called if not words.intersection(re.findall(r"\w+", _STREAMS.sub(r"\1", text)))]
