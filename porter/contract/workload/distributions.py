"""Changes a tensor's numbers as a distribution asks; rows are those of the tensor's last axis.

An operator may rely on signs, and on probabilities: only NORMAL values, which may be anything, are replaced; all others
are only rearranged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Distribution, TensorArg, Values
from porter.contract.model.dtype import DType

_TIED = 3
_OUTLIER = 1e3
# Over a spread of one. In single precision E[x^2] - E[x]^2 loses a thousandth and more of its value; what subtracts the
# mean first loses what moving the inputs by four ulps does, which is the yardstick.
_MEAN = 100.0
# exp overflows from 88 on in single precision, so that exp(x - m) tells whichever of the largest of a row `m` is.
_APART, _FAR_APART = 100.0, 8
_AT_ENDS = 8.0
_NEAR_ONE = (
    1 / 32
)  # a factor that is left out, or one beside it taken, shows in 16 bits, and the drift of thousands is none
_SMALLEST_NORMAL = {
    DType.FLOAT64: 2.0**-1022, DType.FLOAT32: 2.0**-126, DType.BFLOAT16: 2.0**-126, DType.FLOAT16: 2.0**-14,
}  # fmt: skip
# About the largest number of each, which single precision has, too.
_LARGEST = {DType.FLOAT64: 3e38, DType.FLOAT32: 3e38, DType.BFLOAT16: 3e38, DType.FLOAT16: 6e4}
# Numbers that sources compare with, which every float of 16 bits has as they are, and whose exponentials are finite.
_ROUND = np.array([0, 0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 16, 20])
_OF_SPECIALS = np.array([np.nan, np.nan, np.inf, -np.inf, 0, 0, 0, 0])  # half of the numbers stay
# Beyond what a contract allows: only where the original is seen to ask about such indices, or numbers.
OF_INDICES = frozenset((Distribution.AT_BOUND, Distribution.BELOW_ZERO))
ASKED_FOR = OF_INDICES | {Distribution.SPECIALS, Distribution.REPEATED}
_FACTORS = frozenset((Values.NORMAL, Values.POSITIVE))
_REARRANGED = frozenset((Values.NORMAL, Values.POSITIVE, Values.WHOLE, Values.PROBABILITY))

Floats = NDArray[np.float64]


def distributed(values: Floats, words: NDArray[np.uint64], tensor: TensorArg, row: int, kind: Distribution) -> Floats:
    """Returns `values` of `tensor`, in rows of `row`, distributed as `kind`; `words` are as many random numbers."""
    if not values.size or kind is Distribution.DECLARED:
        return values
    rows, chance = values.reshape(-1, row), words.reshape(-1, row)
    if tensor.values in _REARRANGED and kind in _REARRANGE:
        return _REARRANGE[kind](rows, chance).reshape(-1)
    if kind is Distribution.SURE and tensor.values is Values.PROBABILITY:
        return _sure(rows, chance).reshape(-1)
    if kind is Distribution.NEAR_ONE and tensor.values in _FACTORS and tensor.dtype.is_float:
        return _factors(rows, chance).reshape(-1)
    if tensor.values is not Values.NORMAL:
        return values
    if kind is Distribution.ZEROS:
        return np.zeros(values.size)
    if not tensor.dtype.is_float:
        return values
    return _replaced(rows, chance, tensor.dtype, kind).reshape(-1)


def _replaced(rows: Floats, chance: NDArray[np.uint64], dtype: DType, kind: Distribution) -> Floats:
    """Returns floats that may be anything."""
    match kind:
        case Distribution.UNIFORM:
            return np.asarray((chance >> np.uint64(40)) / float(1 << 24))
        case Distribution.ROUND:
            chosen = _ROUND[(chance >> np.uint64(11)) % np.uint64(_ROUND.size)]
            return np.where(rows < 0, -chosen, chosen)
        case Distribution.OUTLIER:
            return np.where(_one(chance), rows * _OUTLIER, rows)
        case Distribution.LARGE_MEAN if dtype in _SMALLEST_NORMAL:  # of 8-bit floats nothing would be left but the mean
            return rows + _MEAN
        case Distribution.WIDE if dtype in _SMALLEST_NORMAL:
            return rows + _APART * np.maximum(0, _FAR_APART - _places_from_top(rows))
        case Distribution.NEGATIVE_ZEROS:
            return np.full(rows.shape, -0.0)
        case Distribution.DENORMAL:
            return rows * _SMALLEST_NORMAL.get(dtype, 4.0) / 4
        case Distribution.INFINITE if dtype in _SMALLEST_NORMAL:  # 8-bit floats end at their largest number
            return _in_some(rows, chance, (-np.inf, np.inf))
        case Distribution.LOWEST if dtype in _SMALLEST_NORMAL:
            return np.asarray(-_LARGEST[dtype] * (0.5 + 0.25 * ((chance >> np.uint64(40)) / float(1 << 24))))
        case Distribution.MASKED if dtype in _SMALLEST_NORMAL:
            return np.where(np.arange(len(rows))[:, None] % 2 == 0, -np.inf, rows)
        case Distribution.NAN:
            return _in_some(rows, chance, (np.nan,))
        case Distribution.SPECIALS if dtype in _SMALLEST_NORMAL:
            chosen = (chance >> np.uint64(11)) % np.uint64(_OF_SPECIALS.size)
            return np.where(np.isfinite(_OF_SPECIALS[chosen]), rows, _OF_SPECIALS[chosen])
    return rows


def with_large_ends(values: Floats, shape: tuple[int, ...]) -> Floats:
    """Returns `values` with the last of each axis eight times as large; an axis of one element has no end."""
    ends = np.zeros(shape, np.bool_)
    for axis, extent in enumerate(shape):
        if extent > 1:
            np.moveaxis(ends, axis, 0)[-1] = True
    return np.where(ends.reshape(-1), values * _AT_ENDS, values)


def _places_from_top(rows: Floats) -> NDArray[np.int64]:
    """Returns for each number how many of its row are larger."""
    return np.asarray(rows.shape[1] - 1 - np.argsort(np.argsort(rows, axis=1, kind="stable"), axis=1))


def _factors(rows: Floats, chance: NDArray[np.uint64]) -> Floats:
    """Returns numbers around a half, one and two with the signs of `rows`: neighbours multiply to almost one."""
    exponents = np.array([-1.0, 0.0, 0.0, 1.0])[(chance >> np.uint64(11)) % np.uint64(4)]
    exponents[:, 1::2] = -exponents[:, : 2 * (rows.shape[1] // 2) : 2]
    fractions = (chance >> np.uint64(40)) / float(1 << 24) - 0.5
    return np.asarray(np.copysign(np.exp2(exponents) * (1.0 + 2.0 * _NEAR_ONE * fractions), rows))


def _sure(rows: Floats, chance: NDArray[np.uint64]) -> Floats:
    """Returns probabilities, a sixth of which are 0 and a sixth 1."""
    drawn = (chance >> np.uint64(11)) % np.uint64(6)
    return np.where(drawn == 0, 0.0, np.where(drawn == 1, 1.0, rows))


def beyond(
    values: Floats | NDArray[np.int64], chance: NDArray[np.uint64], tensor: TensorArg, index: int
) -> Floats | NDArray[np.int64]:
    """Returns `values` of `tensor`; half of its indices, the first and last too, are `index`, if their type has it.

    A careless read at such an index lies beyond an end of the indexed tensor.
    """
    if tensor.values is not Values.INDEX or tensor.dtype.is_float:
        return values
    limits = np.iinfo(tensor.dtype.value)
    chosen = (chance >> np.uint64(11)) % np.uint64(2) == 0
    chosen[0], chosen[-1] = True, True
    return np.where(chosen, index, values).astype(np.int64) if limits.min <= index <= limits.max else values


def _in_some(rows: Floats, chance: NDArray[np.uint64], specials: tuple[float, ...]) -> Floats:
    """Puts one special value into one row after the other; leaves rows in between without any."""
    given = rows.copy()
    for turn, special in enumerate(specials):
        chosen = np.arange(len(rows)) % (len(specials) + 1) == turn
        given[_one(chance) & chosen[:, None]] = special
    return given


def _one(chance: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Returns one place in each row."""
    return np.asarray(np.arange(chance.shape[1]) == chance.argmax(axis=1)[:, None])


def _constant(rows: Floats, _chance: NDArray[np.uint64]) -> Floats:
    return np.repeat(rows[:, :1], rows.shape[1], axis=1)


def _tied(rows: Floats, chance: NDArray[np.uint64]) -> Floats:
    few = rows.reshape(-1)[:_TIED]
    return np.asarray(few[(chance >> np.uint64(11)) % np.uint64(few.size)])


def _sorted(rows: Floats, _chance: NDArray[np.uint64]) -> Floats:
    return np.sort(rows, axis=1)


_REARRANGE: Mapping[Distribution, Callable[[Floats, NDArray[np.uint64]], Floats]] = {
    Distribution.CONSTANT_ROWS: _constant,
    Distribution.TIES: _tied,
    Distribution.SORTED: _sorted,
}
