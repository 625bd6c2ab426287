"""The arithmetic types of C++, CUDA and PyTorch, by every name that a header gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kinds of values that arithmetic types have."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


@dataclass(frozen=True, slots=True)
class ArithmeticType:
    """A type of numbers: the name that stands for all of its names, and the size in bytes on a 64-bit Linux."""

    name: str
    kind: Kind
    bytes: int

    @property
    def is_integer(self) -> bool:
        """Returns whether values can be sizes and indices."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_float(self) -> bool:
        """Returns whether values round."""
        return self.kind is Kind.FLOAT


_ROWS: tuple[tuple[ArithmeticType, str], ...] = (
    (ArithmeticType("bool", Kind.BOOL, 1), ""),
    (ArithmeticType("char", Kind.SIGNED, 1), ""),
    (ArithmeticType("signed char", Kind.SIGNED, 1), "int8_t int_least8_t int_fast8_t __int8_t __int8"),
    (
        ArithmeticType("unsigned char", Kind.UNSIGNED, 1),
        "uint8_t uint_least8_t uint_fast8_t __uint8_t u_int8_t uchar u_char byte __nv_fp8_storage_t char8_t",
    ),
    (ArithmeticType("short", Kind.SIGNED, 2), "int16_t int_least16_t __int16_t __int16"),
    (
        ArithmeticType("unsigned short", Kind.UNSIGNED, 2),
        "uint16_t uint_least16_t __uint16_t u_int16_t ushort u_short char16_t",
    ),
    (ArithmeticType("int", Kind.SIGNED, 4), "int32_t int_least32_t __int32_t __int32 wchar_t"),
    (
        ArithmeticType("unsigned int", Kind.UNSIGNED, 4),
        "uint32_t uint_least32_t __uint32_t u_int32_t uint u_int char32_t",
    ),
    (
        ArithmeticType("long", Kind.SIGNED, 8),
        "int64_t int_least64_t int_fast16_t int_fast32_t int_fast64_t __int64_t ptrdiff_t ssize_t intptr_t intmax_t "
        "off_t",
    ),
    (
        ArithmeticType("unsigned long", Kind.UNSIGNED, 8),
        "uint64_t uint_least64_t uint_fast16_t uint_fast32_t uint_fast64_t __uint64_t u_int64_t ulong u_long size_t "
        "uintptr_t uintmax_t",
    ),
    (ArithmeticType("long long", Kind.SIGNED, 8), "__int64 longlong"),
    (ArithmeticType("unsigned long long", Kind.UNSIGNED, 8), "ulonglong"),
    (ArithmeticType("__int128", Kind.SIGNED, 16), "__int128_t"),
    (ArithmeticType("unsigned __int128", Kind.UNSIGNED, 16), "__uint128_t"),
    (ArithmeticType("__half", Kind.FLOAT, 2), "half Half"),
    (ArithmeticType("__nv_bfloat16", Kind.FLOAT, 2), "nv_bfloat16 hip_bfloat16 bfloat16 BFloat16"),
    (ArithmeticType("__nv_fp8_e4m3", Kind.FLOAT, 1), "Float8_e4m3fn"),
    (ArithmeticType("__nv_fp8_e5m2", Kind.FLOAT, 1), "Float8_e5m2"),
    (ArithmeticType("float", Kind.FLOAT, 4), "float32_t"),
    (ArithmeticType("double", Kind.FLOAT, 8), "float64_t"),
    (ArithmeticType("long double", Kind.FLOAT, 16), ""),
)
SPELLINGS: Mapping[str, ArithmeticType] = {
    spelling: type_ for type_, names in _ROWS for spelling in (type_.name, *names.split())
}
# The namespaces that the names above may be qualified with.
_LIBRARIES = ("std", "cuda::std", "at", "c10", "torch")
_INTEGER_WORDS = frozenset(("unsigned", "signed", "long", "short", "int", "char", "double", "__int64", "__int128"))
_QUALIFIERS = frozenset(("const", "volatile", "typename"))


def arithmetic(spelling: str) -> ArithmeticType | None:
    """The arithmetic type that `spelling` means by itself: `long unsigned`, `std::uint32_t`; None for other names."""
    words = [word for word in spelling.split() if word not in _QUALIFIERS]
    if words and all(word in _INTEGER_WORDS for word in words):
        return SPELLINGS.get(canonical(words))
    name = words[0].removeprefix("::") if len(words) == 1 else ""
    owner, _, plain = name.rpartition("::")
    return SPELLINGS.get(plain) if not owner or owner in _LIBRARIES else None


_OF_TORCH = frozenset(("Half", "BFloat16"))


def told_apart(spelling: str) -> str:
    """Returns a name of the type `spelling` that says whether it is PyTorch's or CUDA's of two that compute alike.

    The canonical names `__half` and `__nv_bfloat16` are of either; the name of any other type is the canonical one.
    """
    type_ = arithmetic(spelling)
    if type_ is None or type_.name not in ("__half", "__nv_bfloat16"):
        return spelling if type_ is None else type_.name
    plain = spelling.rpartition("::")[2]
    return f"c10::{plain}" if plain in _OF_TORCH else type_.name.removeprefix("__")


def one_word(type_: ArithmeticType) -> str:
    """A name of `type_` that is one word: `uint32_t` for `unsigned int`."""
    names = (name for name, meant in SPELLINGS.items() if meant == type_ and " " not in name)
    return next(names, type_.name)


def canonical(words: list[str]) -> str:
    """`long unsigned` is `unsigned long`, `short int` is `short`."""
    if "double" in words:
        return "double" if "long" not in words else "long double"
    if "char" in words:
        return next((f"{sign} char" for sign in ("unsigned", "signed") if sign in words), "char")
    size = "short" if "short" in words else " ".join(["long"] * words.count("long")) or "int"
    if "__int128" in words:
        size = "__int128"
    if "__int64" in words:
        size = "long long"
    return f"unsigned {size}" if "unsigned" in words else size
