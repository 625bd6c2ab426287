"""Constants that CUDA's headers and the C library give names."""

from __future__ import annotations

import math

from porter_triton.host.c_types import DOUBLE, FLOAT, INT, LONG, UINT, ULONG, Arithmetic

_FLOAT_MAX = 3.4028234663852886e38
_CONSTANTS: dict[str, tuple[float, Arithmetic]] = {
    "warpSize": (32, INT),
    "C10_WARP_SIZE": (32, INT),
    "true": (1, INT),
    "false": (0, INT),
    "NULL": (0, LONG),
    "INFINITY": (math.inf, FLOAT),
    "HUGE_VALF": (math.inf, FLOAT),
    "HUGE_VAL": (math.inf, DOUBLE),
    "CUDART_INF_F": (math.inf, FLOAT),
    "CUDART_INF": (math.inf, DOUBLE),
    "NAN": (math.nan, FLOAT),
    "CUDART_NAN_F": (math.nan, FLOAT),
    "CUDART_NAN": (math.nan, DOUBLE),
    "FLT_MAX": (_FLOAT_MAX, FLOAT),
    "__FLT_MAX__": (_FLOAT_MAX, FLOAT),
    "FLT_MIN": (1.1754943508222875e-38, FLOAT),
    "FLT_EPSILON": (2.0**-23, FLOAT),
    "CUDART_MAX_NORMAL_F": (_FLOAT_MAX, FLOAT),
    "DBL_MAX": (1.7976931348623157e308, DOUBLE),
    "DBL_MIN": (2.2250738585072014e-308, DOUBLE),
    "DBL_EPSILON": (2.0**-52, DOUBLE),
    "CHAR_BIT": (8, INT),
    "INT_MAX": (INT.high, INT),
    "INT_MIN": (INT.low, INT),
    "INT32_MAX": (INT.high, INT),
    "INT32_MIN": (INT.low, INT),
    "UINT_MAX": (UINT.high, UINT),
    "UINT32_MAX": (UINT.high, UINT),
    "LONG_MAX": (LONG.high, LONG),
    "LLONG_MAX": (LONG.high, LONG),
    "LLONG_MIN": (LONG.low, LONG),
    "INT64_MAX": (LONG.high, LONG),
    "ULLONG_MAX": (ULONG.high, ULONG),
    "SIZE_MAX": (ULONG.high, ULONG),
    "M_PI": (math.pi, DOUBLE),
    "M_PI_2": (math.pi / 2, DOUBLE),
    "M_PI_4": (math.pi / 4, DOUBLE),
    "M_1_PI": (1 / math.pi, DOUBLE),
    "M_2_PI": (2 / math.pi, DOUBLE),
    "M_E": (math.e, DOUBLE),
    "M_LN2": (math.log(2), DOUBLE),
    "M_LN10": (math.log(10), DOUBLE),
    "M_LOG2E": (math.log2(math.e), DOUBLE),
    "M_LOG10E": (math.log10(math.e), DOUBLE),
    "M_SQRT2": (math.sqrt(2), DOUBLE),
    "M_SQRT1_2": (math.sqrt(0.5), DOUBLE),
    "M_2_SQRTPI": (2 / math.sqrt(math.pi), DOUBLE),
    "CUDART_PI_F": (math.pi, FLOAT),
    "CUDART_PI": (math.pi, DOUBLE),
}


def constant(name: str) -> tuple[float, Arithmetic] | None:
    """Returns the value and the type of a constant that CUDA's headers or the C library define; None for any other."""
    return _CONSTANTS.get(name)
