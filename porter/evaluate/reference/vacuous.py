"""Finds workloads that prove nothing: whatever the inputs hold, the original leaves the same, or changes nothing."""

from __future__ import annotations

from dataclasses import replace

from porter.contract.model.contract import Contract, EntryKind, Role, TensorArg, Values, Workload
from porter.contract.workload.structs import all_parts
from porter.execution.job import Execute, Job, TensorValue
from porter.oracle.jobs import job
from porter.oracle.outputs import outputs
from porter.oracle.reference import Expected, Reference

_SAME_WHATEVER = (
    "no output depends on the inputs in any workload, so that equal results prove nothing "
    "(other sizes: --size, or --contract)"
)
_NOTHING_CHANGED = "the original changes nothing in any workload, so that equal results prove nothing"
_DRAWN = frozenset((Values.NORMAL, Values.POSITIVE, Values.WHOLE, Values.PROBABILITY))
_ANOTHER_SEED = 104_729


def vacuous(reference: Reference, execute: Execute) -> str:
    """Returns why the answers of `reference` prove nothing; empty where one depends on the contents of an input tensor.

    Every workload is run with other numbers in these tensors until one run leaves something else. Where there is no
    such tensor nothing is asked: a kernel that fills memory has none.
    """
    contract = reference.contract
    asked = [e for e in reference.expected if e.arguments is None and not e.workload.device_only]
    if contract.entry.kind is EntryKind.PROGRAM or not asked:
        return ""
    if not any(_changes(contract, expected) for expected in asked):
        return _NOTHING_CHANGED
    if not any(map(_is_input, contract.tensors)) or any(_depends(contract, expected, execute) for expected in asked):
        return ""
    return _SAME_WHATEVER


def _changes(contract: Contract, expected: Expected) -> bool:
    """Returns whether the original returns something, or leaves a tensor other than it was given."""
    tensors = [value for value in job(contract, expected.workload).arguments if isinstance(value, TensorValue)]
    given = all_parts(contract, tensors)
    left = [value for _, value in expected.outputs.tensors]
    same = (a.storage.tobytes() == b.storage.tobytes() for a, b in zip(given, left, strict=False))
    return len(left) > len(given) or not all(same)


def _is_input(tensor: TensorArg) -> bool:
    is_drawn = any(part.values in _DRAWN for part in tensor.parts)
    return tensor.role is Role.IN and is_drawn and not tensor.elements


def _depends(contract: Contract, expected: Expected, execute: Execute) -> bool:
    run = execute(_with_other_inputs(contract, expected.workload))
    if not run.finished:
        return True
    read = {tensor.name for tensor in contract.parts if tensor.role is Role.IN}
    pairs = zip(outputs(contract, run).tensors, expected.outputs.tensors, strict=False)
    return any(name not in read and a.storage.tobytes() != b.storage.tobytes() for (name, a), (_, b) in pairs)


def _with_other_inputs(contract: Contract, workload: Workload) -> Job:
    """Returns the run of `workload` with other numbers in tensors that are only read, and nothing else changed."""
    given = job(contract, workload)
    others = job(contract, replace(workload, seed=workload.seed + _ANOTHER_SEED)).arguments
    changed = {a.name for a in contract.tensors if _is_input(a)}
    triples = zip(contract.arguments, given.arguments, others, strict=True)
    return replace(given, arguments=tuple(other if a.name in changed else own for a, own, other in triples))
