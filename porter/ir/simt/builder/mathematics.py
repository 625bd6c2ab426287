"""The table of CUDA's functions of numbers: what each is in the IR, and in which type it computes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from porter.ir.simt.operations import MATHEMATICS
from porter.ir.simt.types import Scalar

F16, BF16, F32, F64 = Scalar.F16, Scalar.BF16, Scalar.F32, Scalar.F64
I32, I64, U32, U64 = Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64


@dataclass(frozen=True, slots=True)
class Function:
    """An operation on numbers of `type`, None for that of the arguments; `result` is another type that it gives."""

    kind: str
    type: Scalar | None = None
    result: Scalar | None = None


_ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "fma": "fma", "rcp": "reciprocal",
               "sqrt": "sqrt", "rsqrt": "rsqrt"}  # fmt: skip
_HALVES = {
    "hadd": "add", "hsub": "sub", "hmul": "mul", "hdiv": "div", "hfma": "fma", "hmax": "max", "hmin": "min",
    "hneg": "neg", "habs": "abs", "hgt": "gt", "hge": "ge", "hlt": "lt", "hle": "le", "heq": "eq", "hne": "ne",
    "hisnan": "isnan", "hisinf": "isinf",
}  # fmt: skip
_TYPED = {"f": F32, "d": F64}


def _table() -> Mapping[str, Function]:
    found: dict[str, Function] = {}
    for kind in MATHEMATICS:
        found[kind] = Function(kind)
        found[f"{kind}f"] = Function(kind, F32)
        found[f"h{kind}"] = Function(kind)
    for kind in ("exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "pow"):
        found[f"__{kind}f"] = Function(kind, F32)
    for word, kind in _ARITHMETIC.items():
        for letter, type_ in _TYPED.items():
            for mode in ("_rn", "_rz", "_ru", "_rd"):
                if mode == "_rn" or kind in ("sqrt", "rsqrt", "reciprocal"):
                    found[f"__{letter}{word}{mode}"] = Function(kind, type_)
    found |= {f"__{word}": Function(kind) for word, kind in _HALVES.items()}
    found |= {f"__{word}_rn": Function(kind) for word, kind in _HALVES.items()}
    found |= {
        "fma": Function("fma"), "fmaf": Function("fma", F32), "__fmaf_rn": Function("fma", F32),
        "__fdividef": Function("div", F32), "fdividef": Function("div", F32), "abs": Function("abs"),
        "fabs": Function("abs"), "fabsf": Function("abs", F32), "labs": Function("abs", I64),
        "llabs": Function("abs", I64), "fmax": Function("max"), "fmin": Function("min"),
        "fmaxf": Function("max", F32), "fminf": Function("min", F32), "max": Function("max"), "min": Function("min"),
        "umax": Function("max", U32), "umin": Function("min", U32), "llmax": Function("max", I64),
        "llmin": Function("min", I64), "ullmax": Function("max", U64), "ullmin": Function("min", U64),
        **{f"{size}{kind}{letter}": Function(kind, F32 if letter else None, I64)
           for size in ("l", "ll") for kind in ("rint", "round") for letter in ("", "f")},
        "nearbyint": Function("rint"), "nearbyintf": Function("rint", F32), "exp10f": Function("exp10", F32),
        "isnan": Function("isnan"), "isinf": Function("isinf"), "__isnanf": Function("isnan", F32),
        "__mulhi": Function("mulhi", I32), "__umulhi": Function("mulhi", U32), "__mul64hi": Function("mulhi", I64),
        "__umul64hi": Function("mulhi", U64), "__mul24": Function("mul", I32), "__umul24": Function("mul", U32),
        "__popc": Function("popc", U32, I32), "__popcll": Function("popc", U64, I32),
        "__clz": Function("clz", I32, I32), "__clzll": Function("clz", I64, I32), "__brev": Function("brev", U32),
        "__brevll": Function("brev", U64),
        "__fma_rn": Function("fma", F64), "__fmaf_ieee_rn": Function("fma", F32),
        "__builtin_popcount": Function("popc", U32, I32), "__builtin_popcountll": Function("popc", U64, I32),
        "__builtin_clz": Function("clz", I32, I32), "__builtin_clzll": Function("clz", I64, I32),
        "hfloor": Function("floor"), "hceil": Function("ceil"),
        "hrint": Function("rint"), "hrcp": Function("reciprocal"), "__frcp_rn": Function("reciprocal", F32),
    }  # fmt: skip
    return found


FUNCTIONS: Mapping[str, Function] = _table()

# The same bits as another type.
BITS: Mapping[str, tuple[Scalar, Scalar]] = {
    "__float_as_int": (F32, I32), "__int_as_float": (I32, F32), "__float_as_uint": (F32, U32),
    "__uint_as_float": (U32, F32), "__double_as_longlong": (F64, I64), "__longlong_as_double": (I64, F64),
    "__half_as_short": (F16, Scalar.I16), "__half_as_ushort": (F16, Scalar.U16),
    "__short_as_half": (Scalar.I16, F16), "__ushort_as_half": (Scalar.U16, F16),
    "__bfloat16_as_short": (BF16, Scalar.I16), "__bfloat16_as_ushort": (BF16, Scalar.U16),
    "__short_as_bfloat16": (Scalar.I16, BF16), "__ushort_as_bfloat16": (Scalar.U16, BF16),
}  # fmt: skip
_NAMES = {
    "float": F32, "double": F64, "half": F16, "bfloat16": BF16, "int": I32, "uint": U32, "ll": I64, "ull": U64,
    "short": Scalar.I16, "ushort": Scalar.U16, "char": Scalar.I8, "uchar": Scalar.U8,
}  # fmt: skip
_CONVERSION = re.compile(r"__(\w+?)2(\w+?)(?:_(r[nzdu]|sat))?")
_ROUNDED = {"rn": "rint", "rd": "floor", "ru": "ceil", "rz": "trunc"}


def conversion(name: str) -> tuple[Scalar, Scalar, str] | None:
    """Returns what `__float2int_rn` converts from and to, and how it rounds before that; None for other names."""
    found = _CONVERSION.fullmatch(name)
    if found is None or found[1] not in _NAMES or found[2] not in _NAMES:
        return None
    source, target = _NAMES[found[1]], _NAMES[found[2]]
    is_whole = source.is_float and not target.is_float
    if not is_whole and found[3] not in (None, "rn"):
        return None
    return source, target, _ROUNDED.get(found[3] or "", "") if is_whole else ""
