"""Whether an operator's CUDA, executed at 32 lanes, gives what its reference does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.contract.compare import compare
from porter.contract.contract import Contract, Workload
from porter.evaluate.bench import CUDA_WARP_SIZE
from porter.evaluate.side import original_side
from porter.oracle.jobs import job
from porter.oracle.outputs import Outputs, outputs
from porter.simt.build import build
from porter.simt.job import BuildFailure, Executable, Run
from porter.simt.run import run
from porter.source.headers import DiskHeaders
from porter.source.load import load
from porter.source.parse import parse
from porter.suite.answers import Reference, answers, load_reference, rounded
from porter.suite.operators import Operator


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
    """The operator's CUDA held to its reference on every workload that a CPU can take, one build for all contracts."""
    contracts = operator.contracts()
    (source,) = load(operator.kernel).sources
    side = original_side(parse(source, headers=DiskHeaders(())), (), ())
    built = build(side.request(contracts, CUDA_WARP_SIZE), cache)
    reference = load_reference(operator.reference)
    pairs = zip(contracts, built, strict=True)
    return tuple(s for contract, executable in pairs for s in _seen(contract, executable, reference))


def _seen(contract: Contract, built: Executable | BuildFailure, reference: Reference) -> Iterator[Seen]:
    for workload in contract.workloads:
        if workload.device_only:
            continue
        if isinstance(built, BuildFailure):
            yield Seen(contract.name, workload.name, built.message)
            continue
        ended = run(built, job(contract, workload))
        yield Seen(contract.name, workload.name, _trouble(contract, workload, ended, reference), ended.seconds)


def _trouble(contract: Contract, workload: Workload, ended: Run, reference: Reference) -> str:
    faults = "; ".join(fault.message for fault in ended.faults)
    if faults or not ended.finished:
        return faults or ended.stderr or f"ended with exit code {ended.exit_code}"
    return difference(contract, workload, outputs(contract, ended), reference)


def difference(contract: Contract, workload: Workload, got: Outputs, reference: Reference) -> str:
    """The first output of `got` that the contract does not take for the reference's; empty where there is none."""
    want = rounded(answers(reference, contract, workload), got)
    if [name for name, _ in want.tensors] != [name for name, _ in got.tensors]:
        return f"results are {[n for n, _ in got.tensors]}, those of the reference {[n for n, _ in want.tensors]}"
    for (name, a), (_, b) in zip(got.tensors, want.tensors, strict=True):
        comparison = compare(a, b, contract.tolerance.get(b.dtype))
        if not comparison.passed:
            return f"{name}: {comparison.worst}"
    return ""
