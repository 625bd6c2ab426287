"""Constants that the C library and CUDA's headers give names: one table for host and device code.

Those of `<math_constants.h>`, which CUDA's compiler includes ahead of every source, are read from the executor's copy.
"""

from __future__ import annotations

import math
import re
import struct
from functools import cache
from importlib.resources import files

_FLOAT_MAX = 3.4028234663852886e38
_CONSTANTS: dict[str, tuple[float, str]] = {
    "warpSize": (32, "int"), "C10_WARP_SIZE": (32, "int"), "NULL": (0, "long"), "INFINITY": (math.inf, "float"),
    "HUGE_VALF": (math.inf, "float"), "HUGE_VAL": (math.inf, "double"), "NAN": (math.nan, "float"),
    "FLT_MAX": (_FLOAT_MAX, "float"), "__FLT_MAX__": (_FLOAT_MAX, "float"), "FLT_MIN": (2.0**-126, "float"),
    "FLT_EPSILON": (2.0**-23, "float"), "DBL_MAX": (1.7976931348623157e308, "double"),
    "DBL_MIN": (2.0**-1022, "double"), "DBL_EPSILON": (2.0**-52, "double"), "INT_MAX": (2**31 - 1, "int"),
    "INT_MIN": (-(2**31), "int"), "INT32_MAX": (2**31 - 1, "int"), "INT32_MIN": (-(2**31), "int"),
    "UINT_MAX": (2**32 - 1, "unsigned int"), "UINT32_MAX": (2**32 - 1, "unsigned int"), "LONG_MAX": (2**63 - 1, "long"),
    "LONG_MIN": (-(2**63), "long"), "LLONG_MAX": (2**63 - 1, "long"), "LLONG_MIN": (-(2**63), "long"),
    "INT64_MAX": (2**63 - 1, "long"), "INT64_MIN": (-(2**63), "long"), "ULLONG_MAX": (2**64 - 1, "unsigned long"),
    "ULONG_MAX": (2**64 - 1, "unsigned long"), "UINT64_MAX": (2**64 - 1, "unsigned long"),
    "SIZE_MAX": (2**64 - 1, "unsigned long"), "CHAR_BIT": (8, "int"), "CHAR_MAX": (127, "int"),
    "CHAR_MIN": (-128, "int"), "SCHAR_MAX": (127, "int"), "SCHAR_MIN": (-128, "int"), "UCHAR_MAX": (255, "int"),
    "SHRT_MAX": (2**15 - 1, "int"), "SHRT_MIN": (-(2**15), "int"), "USHRT_MAX": (2**16 - 1, "int"),
    "INT8_MAX": (127, "int"), "INT8_MIN": (-128, "int"), "UINT8_MAX": (255, "int"), "INT16_MAX": (2**15 - 1, "int"),
    "INT16_MIN": (-(2**15), "int"), "UINT16_MAX": (2**16 - 1, "int"), "M_PI": (math.pi, "double"),
    "M_PI_2": (math.pi / 2, "double"), "M_PI_4": (math.pi / 4, "double"), "M_1_PI": (1 / math.pi, "double"),
    "M_2_PI": (2 / math.pi, "double"), "M_E": (math.e, "double"), "M_LN2": (math.log(2), "double"),
    "M_LN10": (math.log(10), "double"), "M_LOG2E": (math.log2(math.e), "double"),
    "M_LOG10E": (math.log10(math.e), "double"), "M_SQRT2": (math.sqrt(2), "double"),
    "M_SQRT1_2": (math.sqrt(0.5), "double"), "M_2_SQRTPI": (2 / math.sqrt(math.pi), "double"),
}  # fmt: skip
_DEFINED = re.compile(r"^#define (CUDART_\w+) (.+)$", re.MULTILINE)
_BITS = re.compile(r"__(?:int|longlong)_as_(float|double)\((0x[0-9a-f]+)[ul]*\)")


def named_constant(name: str) -> tuple[float, str] | None:
    """Returns the value and the C type of a constant that a header defines; None for any other name."""
    return _CONSTANTS.get(name) or _of_cuda().get(name)


@cache
def _of_cuda() -> dict[str, tuple[float, str]]:
    text = (files("porter.simt") / "include/porter/math_constants.h").read_text("utf-8")
    return {name: _value(told) for name, told in _DEFINED.findall(text)}


def _value(told: str) -> tuple[float, str]:
    """Returns what a literal, or the bits of a number, stand for."""
    if bits := _BITS.fullmatch(told):
        size, code = (4, "f") if bits[1] == "float" else (8, "d")
        return struct.unpack(code, int(bits[2], 16).to_bytes(size, "little"))[0], bits[1]
    if not told.endswith("f"):
        return float(told), "double"
    return struct.unpack("f", struct.pack("f", float(told[:-1])))[0], "float"
