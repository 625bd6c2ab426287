"""Collects what a run leaves that has to be right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Contract, EntryKind
from porter.contract.model.dtype import DType, decode
from porter.contract.model.questions import unknown_elements
from porter.contract.workload.structs import all_parts
from porter.execution.job import Run, TensorValue

# Zero, infinities, the NaN that arithmetic makes, and memory never written. The largest and the smallest integer, NaN
# and -0 as floats, are none of them: they would equal -1 and 0.
_SPECIAL_WORDS = np.array([0, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0xFFFFFFFF], np.uint32)


@dataclass(frozen=True, slots=True)
class Outputs:
    """Named tensors: all arguments, structs in arrays by their fields, then results that are defined, and for a
    program its buffers; and what it prints.

    Tensors that are only read count, too: a port must leave them alone as its original does, and whatever is written
    against expectation is compared.
    """

    tensors: tuple[tuple[str, TensorValue], ...]
    text: str = ""
    exit_code: int = 0


def outputs(contract: Contract, run: Run) -> Outputs:
    """The outputs of a finished run."""
    if contract.entry.kind is EntryKind.PROGRAM:
        buffers = tuple(
            (f"buffer {i} after launch {launch}", TensorValue(DType.UINT8, buffer.shape, buffer))
            for launch, snapshot in enumerate(run.snapshots)
            for i, buffer in enumerate(snapshot)
        )
        return Outputs(tuple((name, _as_floats(value)) for name, value in buffers), run.stdout, run.exit_code)
    guessed = unknown_elements(contract)
    arguments = tuple(
        (part.name, _as_floats(value) if part.name in guessed else value)
        for part, value in zip(contract.parts, all_parts(contract, run.outputs), strict=True)
    )
    defined = (value for value in run.results if not value.null)
    results = tuple((f"result {i}" if i else "result", value) for i, value in enumerate(defined))
    return Outputs((*arguments, *results))


def _as_floats(buffer: TensorValue) -> TensorValue:
    """A buffer of no known type: where every word reads as an ordinary float it is one, else bytes count exactly.

    Small integers read as denormals and negative ones as odd NaNs, both of which tolerance would wave through.
    """
    raw = np.ascontiguousarray(buffer.storage.reshape(-1)).view(np.uint8)
    exact = TensorValue(DType.UINT8, (raw.size,), raw)
    if raw.size == 0 or raw.size % 4:
        return exact
    words = raw.view(np.uint32)
    exponents = (words >> 23) & 0xFF
    ordinary = (exponents > 64) & (exponents < 192)
    is_float = ordinary.any() and (ordinary | np.isin(words, _SPECIAL_WORDS)).all()
    return TensorValue(DType.FLOAT32, (words.size,), raw.view(np.float32)) if is_float else exact


_ATOMIC_ULPS = 64


def is_rounding(got: Outputs, want: Outputs, name: str, terms: int = 1) -> bool:
    """Returns whether output `name` differs by no more ulps of its largest element than a sum of `terms` loses by its
    order.

    That grows with the root of their number, as the length of a random walk does; it is never below `_ATOMIC_ULPS`.
    """
    a, b = dict(got.tensors).get(name), dict(want.tensors).get(name)
    if a is None or b is None or not b.dtype.is_float:
        return False
    left, right = decode(a.storage, a.dtype), decode(b.storage, b.dtype)
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return False
    limit = max(_ATOMIC_ULPS, math.sqrt(terms)) * b.dtype.epsilon * float(np.abs(right).max(initial=0.0))
    return float(np.abs(left - right).max(initial=0.0)) <= limit


def largest(of: Outputs) -> float:
    """The largest finite magnitude among all floats, what was only read included."""
    floats = (np.abs(numbers_in(tensor)) for _, tensor in of.tensors if tensor.dtype.is_float)
    return max((float(f.max(initial=0.0, where=np.isfinite(f))) for f in floats), default=0.0)


def widest(want: Outputs, candidates: Sequence[Outputs | None]) -> Outputs | None:
    """For each element, what the candidate furthest from `want` has: the most that the original is seen to lose there.

    Floats become float64.
    """
    present = [dict(c.tensors) for c in candidates if c is not None]
    if not present:
        return None
    chosen = tuple(
        (name, _furthest(value, [p[name] for p in present if name in p]) if value.dtype.is_float else value)
        for name, value in want.tensors
    )
    return Outputs(chosen, want.text, want.exit_code)


def _furthest(want: TensorValue, candidates: Sequence[TensorValue]) -> TensorValue:
    wanted = numbers_in(want)
    chosen, most = wanted.copy(), np.zeros(wanted.shape)
    for candidate in candidates:
        if candidate.dtype.is_float and candidate.shape == want.shape:
            numbers = numbers_in(candidate)
            with np.errstate(invalid="ignore"):
                error = np.abs(numbers - wanted)
            further = np.isfinite(error) & (error > most)
            chosen[further], most[further] = numbers[further], error[further]
    return TensorValue(DType.FLOAT64, want.shape, chosen)


def numbers_in(tensor: TensorValue) -> NDArray[np.float64]:
    """Its elements in double precision, of its shape."""
    return decode(tensor.storage, tensor.dtype).astype(np.float64)
