"""Tries answers that nobody computed before anything runs: a contract that one of them fulfils shows nothing.

Zeros, ones and the input itself; the first answer given at each size, remembered; the right answer without what lies
behind its first tile, or a row too low. The last two equal the right answer where an output has one tile or row, and
the input is the right answer of a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from porter.contract.model.contract import Contract, EntryKind, Role, Values
from porter.contract.model.dtype import decode, encode
from porter.contract.workload.structs import all_parts
from porter.evaluate.judge.checking import compared
from porter.execution.job import TensorValue
from porter.oracle.jobs import job
from porter.oracle.outputs import Outputs
from porter.oracle.reference import Expected, Reference

TOLD_BY_NOTHING = "the workloads cannot tell right from wrong: {} would pass all of them"
_ECHO = "the input itself"
_TILE = 64  # elements: fewer than any kernel leaves to one block that does part of its work
_Tensors = Mapping[str, TensorValue]
_Null = Callable[[Expected], _Tensors | None]


def passing_null(reference: Reference) -> str:
    """Returns the first answer that passes every workload of `reference` though nobody computed it; empty for none."""
    contract = reference.contract
    expected = [e for e in reference.expected if e.decides]
    if contract.entry.kind is EntryKind.PROGRAM or not expected or not any(_inputs(contract, e) for e in expected):
        return ""
    remembered = _remembered(contract, expected)
    constants: dict[str, _Null] = {
        "zeros": lambda e: _map(_written(contract, e), lambda t: _full(t, 0.0)),
        "ones": lambda e: _map(_written(contract, e), lambda t: _full(t, 1.0)),
        _ECHO: lambda e: _echo(contract, e),
        "the first answer at the same sizes": remembered,
    }
    parts: dict[str, _Null] = {
        "the first tile alone": lambda e: _map(_written(contract, e), _first_tile),
        "rows shifted by one": lambda e: _map(_written(contract, e), _shifted),
    }
    for name, null in (constants | parts).items():
        answers = [null(e) for e in expected]
        may_be_right = name in parts or (name == _ECHO and all(t.values is Values.NORMAL for t in contract.parts))
        whole = may_be_right and all(_same(a, _written(contract, e)) for a, e in zip(answers, expected, strict=True))
        if not whole and all(_passes(contract, e, a) for a, e in zip(answers, expected, strict=True)):
            return name
    return ""


def _passes(contract: Contract, expected: Expected, answer: _Tensors | None) -> bool:
    """Returns whether `answer` is right; None means that there is no such answer."""
    if answer is None:
        return False
    tensors = tuple((name, answer.get(name, value)) for name, value in expected.outputs.tensors)
    return all(c.passed for _, c in compared(contract, expected, Outputs(tensors)))


def _inputs(contract: Contract, expected: Expected) -> list[TensorValue]:
    """Returns the tensors that are read, in order: an answer can only depend on these."""
    arguments = job(contract, expected.workload, given=expected.arguments).arguments
    tensors = [value for value in arguments if isinstance(value, TensorValue)]
    parts = zip(contract.parts, all_parts(contract, tensors), strict=True)
    return [value for part, value in parts if part.role is not Role.OUT]


def _written(contract: Contract, expected: Expected) -> _Tensors:
    """Returns what an answer consists of: outputs and results."""
    read = {tensor.name for tensor in contract.parts if tensor.role is Role.IN}
    return {name: value for name, value in expected.outputs.tensors if name not in read}


def _map(tensors: _Tensors, change: Callable[[TensorValue], TensorValue]) -> _Tensors:
    return {name: change(value) for name, value in tensors.items()}


def _full(tensor: TensorValue, number: float) -> TensorValue:
    return replace(tensor, storage=encode(np.full(tensor.shape, number), tensor.dtype))


def _echo(contract: Contract, expected: Expected) -> _Tensors | None:
    """Returns each output as an input of its type and size; one that is changed in place as it was."""
    inputs = _inputs(contract, expected)
    echoed: dict[str, TensorValue] = {}
    for name, value in _written(contract, expected).items():
        alike = (i for i in inputs if (i.dtype, i.storage.size) == (value.dtype, value.storage.size))
        found = next(alike, None)
        if found is None:
            return None
        echoed[name] = replace(value, storage=found.storage.reshape(value.shape))
    return echoed


def _remembered(contract: Contract, expected: list[Expected]) -> _Null:
    """Returns the answer to the first workload with the same shapes."""
    first: dict[tuple[tuple[int, ...], ...], _Tensors] = {}

    def shapes(e: Expected) -> tuple[tuple[int, ...], ...]:
        return tuple(value.shape for _, value in e.outputs.tensors)

    for e in expected:
        first.setdefault(shapes(e), _written(contract, e))
    return lambda e: first[shapes(e)]


def _first_tile(tensor: TensorValue) -> TensorValue:
    kept = tensor.storage.reshape(-1).copy()
    kept[_TILE:] = 0
    return replace(tensor, storage=kept.reshape(tensor.shape))


def _shifted(tensor: TensorValue) -> TensorValue:
    return replace(tensor, storage=np.roll(tensor.storage, 1, axis=0) if tensor.shape else tensor.storage)


def _same(answer: _Tensors | None, written: _Tensors) -> bool:
    """Returns whether all numbers are the same; a copy to which 0 is added has other signs of zeros."""
    if answer is None:
        return False
    pairs = ((decode(v.storage, v.dtype), decode(written[n].storage, v.dtype)) for n, v in answer.items())
    return all(np.array_equal(own, other, equal_nan=True) for own, other in pairs)
