"""A launcher of a module as a tensor program: planned at a few sizes, executed there on symbols, fitted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from porter.contract.contract import Contract, TensorArg
from porter.ir.tensor.program import TensorProgram
from porter.ir.tensor.verify import MalformedError, verify
from porter.launch_plan.steps import LaunchPlan
from porter.launch_plan.wire import WireError
from porter.lift.answer import read
from porter.lift.assemble import assembled
from porter.lift.nodes import NotLiftedError
from porter.lift.probes import Probe, chosen, parameters
from porter.oracle.jobs import job
from porter.simt.job import Limits, TensorValue
from porter_triton.calls import Calls
from porter_triton.planned_calls import Function
from porter_triton.processes import DeadError
from porter_triton.symbolic.process import SymbolicProcess
from porter_triton.symbolic.request import InputTensor, SymbolicRequest
from porter_triton.symbolic.request import Probe as SymbolicProbe

_ATTEMPTS = 3  # at other sizes: a window that lies badly at some is found at others


def lifted(calls: Calls, function: Function, contract: Contract, folder: Path, limits: Limits) -> TensorProgram:
    """Returns what `function` computes under `contract`. `folder` is for the texts of kernels.

    Where no form is found while whole parameters vary, they keep the contract's values, which the program then says.
    Raises `NotLiftedError`; the program is a proposal until it has been compared with the original.
    """
    whole = frozenset(a.name for a in parameters(contract)[0])
    attempts = [(seed, frozenset[str]()) for seed in range(_ATTEMPTS)] + ([(0, whole)] if whole else [])
    planned = _Planned(calls, function, contract)
    with _symbolic_process(folder, limits) as process:
        refused = None
        for seed, fixed in attempts:
            try:
                return _lifted(planned, process, seed, fixed)
            except NotLiftedError as error:
                refused = refused or error
    assert refused is not None
    raise refused


@contextmanager
def _symbolic_process(folder: Path, limits: Limits) -> Iterator[SymbolicProcess]:
    texts, work = (Path(tempfile.mkdtemp(dir=folder)) for _ in range(2))
    process = SymbolicProcess(texts, work, limits)
    try:
        yield process
    finally:
        process.close()


@dataclass
class _Planned:
    """The plans of a function's calls; `refused` says why the last one could not be made."""

    calls: Calls
    function: Function
    contract: Contract
    refused: str = ""
    probes: dict[str, SymbolicProbe] = field(default_factory=dict)

    def accepts(self, probe: Probe) -> bool:
        """Returns whether the launcher takes the sizes of `probe`."""
        at = probe.applied(self.contract)
        given = job(at, at.workloads[0])
        plan = self.calls.plan(self.function, given)
        if not isinstance(plan, LaunchPlan):
            self.refused = plan
            return False
        tensors = tuple(
            InputTensor(argument.name, value.dtype, value.shape)
            if isinstance(argument, TensorArg) and isinstance(value, TensorValue) and not value.null
            else None
            for argument, value in zip(at.arguments, given.arguments, strict=True)
        )
        self.probes[repr(probe)] = SymbolicProbe(plan, tensors)
        return True


def _lifted(planned: _Planned, process: SymbolicProcess, seed: int, fixed: frozenset[str]) -> TensorProgram:
    contract = planned.contract
    try:
        probes = chosen(contract, seed, planned.accepts, fixed=fixed)
    except NotLiftedError as error:
        raise NotLiftedError(
            f"{error}; of others it says: {planned.refused}" if planned.refused else str(error)
        ) from None
    request = SymbolicRequest(tuple(planned.probes[repr(probe)] for probe in probes), planned.calls.kernels)
    try:
        program = assembled(contract, probes, read(process.ask(request)))
        verify(program)
    except DeadError as dead:
        raise NotLiftedError(f"its execution on symbols came to no end: {dead.death.message}") from dead
    except (MalformedError, WireError) as error:
        raise NotLiftedError(f"what was fitted is no program: {error}") from error
    return program
