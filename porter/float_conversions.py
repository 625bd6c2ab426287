"""Floats that become whole numbers of a type, as NVIDIA's devices convert them, also where C and Triton leave it open.

The rule is that of PTX's `cvt`: towards zero, and to the nearest number that there is. NaN becomes zero, but where the
float is a double, or the number has 64 bits, the highest bit alone. nvcc converts to 32 bits at least and Triton to 16,
and either drops those that a narrower type does not have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TRITON_BITS = 16  # the fewest that its compiler converts to


def converted(value: NDArray[Any], type_: np.dtype[Any], *, is_double: bool, least_bits: int = 32) -> NDArray[Any]:
    """Returns the floats `value` as numbers of an integer `type_`, by way of `least_bits` at least.

    They are `is_double` where a device holds them in 64 bits.
    """
    bits = max(8 * type_.itemsize, least_bits)
    limits = np.iinfo(f"{type_.kind}{bits // 8}")
    with np.errstate(invalid="ignore"):
        whole = np.trunc(value)
        above = whole >= float(limits.max)
        inside = ~above & (whole > float(limits.min))
        made = np.where(inside, whole, 0.0).astype(limits.dtype)
    of_nan = 1 << (bits - 1) if is_double or bits == 64 else 0
    made[above], made[whole <= float(limits.min)] = limits.max, limits.min
    made[np.isnan(whole)] = of_nan if type_.kind == "u" else -of_nan
    return made.astype(type_)
