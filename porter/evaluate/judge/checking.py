"""Compares one run with what the reference expects of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from porter.comparison.compare import DEFAULT_TOLERANCE, Comparison, compare
from porter.comparison.rounding import rounded_otherwise
from porter.contract.model.contract import Contract, Distribution, EntryKind, Role, Tolerance
from porter.contract.model.dtype import DType, decode
from porter.contract.workload.materialise import retyped
from porter.evaluate.model.outcome import Checked
from porter.execution.job import Run, TensorValue
from porter.oracle.lost import without_lost_elements
from porter.oracle.outputs import Outputs, largest, outputs
from porter.oracle.reference import Expected
from porter.oracle.text_output import compare_text
from porter.oracle.yardstick import narrow_type

_TYPICAL = frozenset((Distribution.DECLARED, Distribution.UNIFORM, Distribution.ENDS))
_PARTLY_FINITE = frozenset(
    (Distribution.INFINITE, Distribution.WIDE, Distribution.LOWEST, Distribution.NEGATIVE_ZEROS, Distribution.SURE)
)


def check(contract: Contract, expected: Expected, run: Run, warp_size: int | None) -> Checked:
    """Checks all outputs of one run: errors are the largest over them, the place is the first that is wrong."""
    got = outputs(contract, run)
    comparisons = compared(contract, expected, got, rounding=True)
    failed = [(name, c) for name, c in comparisons if not c.passed]
    wrong = next((f"{name} {c.worst}" for name, c in failed), "") or _text(expected.outputs, got)
    return Checked(
        name=expected.workload.name,
        warp_size=warp_size,
        max_abs_error=max((c.max_abs_error for _, c in comparisons), default=0.0),
        max_rel_error=max((c.max_rel_error for _, c in comparisons), default=0.0),
        passed=not wrong,
        worst=wrong,
        is_extreme=bool(failed) and all(c.is_extreme for _, c in failed),
    )


def compared(
    contract: Contract, expected: Expected, got: Outputs, *, rounding: bool = False
) -> list[tuple[str, Comparison]]:
    """Compares each output, by its name; with `rounding` most elements also have to be rounded as the original's."""
    want = expected.outputs
    got = _without_echoes(contract, got, len(want.tensors))
    yardsticks = expected.yardstick.tensors if expected.yardstick is not None else ()
    if len(got.tensors) != len(want.tensors):
        text = f"{len(got.tensors)} outputs, not {len(want.tensors)}"
        return [("the port gives", Comparison(float("inf"), float("inf"), False, text))]
    comparisons = []
    for index, ((name, value), (_, wanted)) in enumerate(zip(got.tensors, want.tensors, strict=True)):
        yardstick = yardsticks[index][1] if len(yardsticks) == len(want.tensors) else None
        tolerance = contract.tolerance.get(wanted.dtype)
        coarse, term = (DType.FLOAT32 if name in expected.single else None), expected.largest_term
        if name in expected.by_chance:
            coarse, term = narrow_type(retyped(contract, expected.workload)), largest(want)
        told = _told(value, wanted) if expected.workload.distribution in _PARTLY_FINITE else value
        told = without_lost_elements(told, wanted, expected.wider.tensors[index][1]) if expected.wider else told
        comparison = compare(told, wanted, tolerance, yardstick, computed_in=coarse, largest_term=term)
        if rounding and comparison.passed and _tells_of_rounding(expected, tolerance, wanted):
            otherwise = rounded_otherwise(told, wanted, yardstick)
            comparison = replace(comparison, passed=not otherwise, worst=otherwise)
        comparisons.append((name, comparison))
    return comparisons


def _tells_of_rounding(expected: Expected, tolerance: Tolerance | None, wanted: TensorValue) -> bool:
    """Returns whether elements differ by nothing but rounding, and a contract allows no more than is usual."""
    usual = DEFAULT_TOLERANCE.get(wanted.dtype)
    is_looser = tolerance is not None and usual is not None and tolerance.rtol > usual.rtol
    return expected.rounds_otherwise and expected.workload.distribution in _TYPICAL and not is_looser


def _without_echoes(contract: Contract, got: Outputs, wanted: int) -> Outputs:
    """Returns `got` without results, beyond those `wanted`, that equal a changed argument bit for bit: `return x`."""
    arguments = len(contract.parts)
    if len(got.tensors) <= wanted or contract.entry.kind is EntryKind.PROGRAM:
        return got
    changed = [got.tensors[i][1] for i, tensor in enumerate(contract.parts) if tensor.role is not Role.IN]
    left = {(value.dtype, value.shape, value.storage.tobytes()) for value in changed}
    own = [(n, v) for n, v in got.tensors[arguments:] if (v.dtype, v.shape, v.storage.tobytes()) not in left]
    return replace(got, tensors=(*got.tensors[:arguments], *own))


def _text(want: Outputs, got: Outputs) -> str:
    if got.exit_code != want.exit_code:
        return f"exits with {got.exit_code}, not {want.exit_code}"
    return compare_text(got.text, want.text)


def _told(value: TensorValue, wanted: TensorValue) -> TensorValue:
    """Returns `value` where `wanted` is finite. No standard says what infinities make of each other, or of zero.

    So do numbers that overflow on the way, which they do in one order of operations and not in another.
    """
    if not wanted.dtype.is_float or (value.dtype, value.shape) != (wanted.dtype, wanted.shape):
        return value
    finite = np.isfinite(decode(wanted.storage, wanted.dtype))
    return replace(value, storage=np.where(finite, value.storage, wanted.storage))
