"""The C library's functions, which the executor computes with: an interpreter on these has its bits."""

import ctypes
import ctypes.util
from collections.abc import Callable

import numpy as np

from porter.ir.simt.operations import MATHEMATICS
from porter.ir.simt.types import Scalar

_PAIRS = ("pow", "atan2", "fmod", "copysign", "hypot")
_ABSENT = ("rsqrt", "exp10")  # which the executor has of its own


def _function(name: str, of: type, result: type) -> Callable[..., np.ndarray]:
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    count = 2 if name.removesuffix("f") in _PAIRS or name in _PAIRS else 1
    function.restype, function.argtypes = of, [of] * count
    each = np.frompyfunc(lambda *given: function(*map(float, given)), count, 1)
    return lambda *operands: np.asarray(each(*operands)).astype(result)


_NAMES = [name for name in MATHEMATICS if name not in _ABSENT]
LIBM = {
    Scalar.F32: {name: _function(f"{name}f", ctypes.c_float, np.float32) for name in _NAMES},
    Scalar.F64: {name: _function(name, ctypes.c_double, np.float64) for name in _NAMES},
}
