"""Tells whether an operator's CUDA, executed at 32 lanes, gives what its reference does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from porter.contract.model.contract import Contract
from porter.evaluate.judge.checking import compared
from porter.evaluate.problem.bench import CUDA_WARP_SIZE
from porter.execution.job import BuildFailure, Executable, Limits, Run
from porter.oracle.jobs import job
from porter.oracle.outputs import outputs
from porter.oracle.python_reference import python_standard
from porter.oracle.reference import Expected
from porter.oracle.standard import Standard
from porter.simt.build import build
from porter.simt.run import run
from porter.source.headers import DiskHeaders
from porter.source.load import load
from porter.source.parse import parse
from porter.suite.operators import Operator
from porter.translation_unit import original_unit


@dataclass(frozen=True, slots=True)
class Seen:
    """One workload of one contract, in `seconds` of processor time.

    `trouble` is empty where the CUDA is right and nothing it does is a fault.
    """

    contract: str
    workload: str
    trouble: str
    seconds: float = 0.0


def seen(operator: Operator, cache: Path) -> tuple[Seen, ...]:
    """Returns how the operator's CUDA compares with its reference on each workload for a CPU, built once for all."""
    contracts = tuple(map(_on_a_cpu, operator.contracts()))
    (source,) = load(operator.kernel).sources
    side = original_unit(parse(source, headers=DiskHeaders(())), (), ())
    built = build(side.request(contracts, CUDA_WARP_SIZE), cache)
    with python_standard(operator.reference, contracts, Limits()) as standard:
        pairs = zip(contracts, built, strict=True)
        return tuple(s for contract, executable in pairs for s in _seen(contract, executable, standard))


def _on_a_cpu(contract: Contract) -> Contract:
    return replace(contract, workloads=tuple(w for w in contract.workloads if not w.device_only))


def _seen(contract: Contract, built: Executable | BuildFailure, standard: Standard) -> Iterator[Seen]:
    if isinstance(built, BuildFailure):
        yield from (Seen(contract.name, workload.name, built.message) for workload in contract.workloads)
        return
    reference = standard.reference(contract)
    expected = {e.workload.name: e for e in reference.expected}
    for workload in contract.workloads:
        ended = run(built, job(contract, workload))
        trouble = _trouble(contract, expected.get(workload.name, reference.because), ended)
        yield Seen(contract.name, workload.name, trouble, ended.seconds)


def _trouble(contract: Contract, expected: Expected | str, ended: Run) -> str:
    faults = "; ".join(fault.message for fault in ended.faults)
    if faults or not ended.finished:
        return faults or ended.stderr or f"ended with exit code {ended.exit_code}"
    if isinstance(expected, str):
        return f"its reference has no answer: {expected}"
    comparisons = compared(contract, expected, outputs(contract, ended))
    return next((f"{name}: {c.worst}" for name, c in comparisons if not c.passed), "")
