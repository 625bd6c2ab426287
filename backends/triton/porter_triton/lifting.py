"""A launcher of a module as a tensor program: planned at a few sizes, executed there on symbols, fitted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from porter.contract.contract import Contract, TensorArg
from porter.contract.expressions import evaluate
from porter.ir.tensor.places import has_quotients
from porter.ir.tensor.program import TensorProgram
from porter.ir.tensor.verify import MalformedError, verify
from porter.launch_plan.steps import LaunchPlan
from porter.launch_plan.wire import WireError
from porter.lift.answer import read
from porter.lift.assemble import assembled
from porter.lift.nodes import NotLiftedError
from porter.lift.probes import PLAIN, Probe, Style, chosen, parameters
from porter.lift.views import views
from porter.oracle.jobs import job
from porter.simt.job import Limits, TensorValue
from porter_triton.calls import Calls
from porter_triton.planned_calls import Function
from porter_triton.processes import DeadError
from porter_triton.symbolic.process import SymbolicProcess
from porter_triton.symbolic.request import InputTensor, SymbolicRequest
from porter_triton.symbolic.request import Probe as SymbolicProbe

_LANES = 4  # elements of a vector, of most


class _EndlessError(NotLiftedError):
    """Executing on symbols takes too long, which it would in every attempt."""


def lifted(calls: Calls, function: Function, contract: Contract, folder: Path, limits: Limits) -> TensorProgram:
    """Returns what `function` computes under `contract`. `folder` is for the texts of kernels.

    Where no form is found while whole parameters vary, they keep the contract's values, which the program then says.
    Raises `NotLiftedError`; the program is a proposal until it has been compared with the original.
    """
    found: list[TensorProgram] = []
    refused: NotLiftedError | None = None
    with _symbolic_process(folder, limits) as process:
        for attempt in _attempts(contract):
            if found and attempt.is_again:
                break
            try:
                program = _lifted(_Planned(calls, function, contract, attempt), process)
            except _EndlessError as error:
                raise refused or error from None
            except NotLiftedError as error:
                refused = refused or error
            else:
                if not has_quotients(program):
                    return program
                found.append(program)
    if not found:
        assert refused is not None
        raise refused
    return found[-1]


@dataclass(frozen=True)
class _Attempt:
    """A view of the tensors, and how sizes are drawn. It `is_again` where the view was tried before."""

    view: Contract
    seed: int = 0
    style: Style = PLAIN
    is_again: bool = True


def _attempts(contract: Contract) -> Iterator[_Attempt]:
    """Yields attempts, in the order in which they are made.

    Other sizes are tried, for a window that lies badly at some is found at others: bounds beyond what tensors hold, and
    multiples of four, of which a vectorised kernel leaves no element undefined.
    """
    seen = views(contract)
    few = tuple({id(view): view for view in (seen[0], seen[-1])}.values())
    yield from (_Attempt(view, is_again=False) for view in seen)
    yield from (_Attempt(view, style=Style(covering=True)) for view in few)
    yield from (_Attempt(view, seed) for seed in (1, 2) for view in few)
    yield from (_Attempt(view, style=Style(multiple=_LANES)) for view in few)
    if whole := frozenset(a.name for a in parameters(contract)[0]):
        yield from (_Attempt(view, style=Style(fixed=whole)) for view in seen)


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
    """The plans of a function's calls at the sizes of an attempt; `refused` says why the last could not be made."""

    calls: Calls
    function: Function
    contract: Contract
    attempt: _Attempt
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
        sizes = {**probe.sizes, **probe.whole}
        tensors = tuple(
            InputTensor(argument.name, value.dtype, tuple(evaluate(extent, sizes) for extent in argument.shape))
            if isinstance(argument, TensorArg) and isinstance(value, TensorValue) and not value.null
            else None
            for argument, value in zip(self.attempt.view.arguments, given.arguments, strict=True)
        )
        self.probes[repr(probe)] = SymbolicProbe(plan, tensors)
        return True


def _lifted(planned: _Planned, process: SymbolicProcess) -> TensorProgram:
    attempt = planned.attempt
    try:
        probes = chosen(planned.contract, attempt.seed, planned.accepts, attempt.style)
    except NotLiftedError as error:
        raise NotLiftedError(
            f"{error}; of others it says: {planned.refused}" if planned.refused else str(error)
        ) from None
    request = SymbolicRequest(tuple(planned.probes[repr(probe)] for probe in probes), planned.calls.kernels)
    try:
        program = assembled(attempt.view, probes, read(process.ask(request)))
        verify(program)
    except DeadError as dead:
        raise _EndlessError(f"its execution on symbols came to no end: {dead.death.message}") from dead
    except (MalformedError, WireError) as error:
        raise NotLiftedError(f"what was fitted is no program: {error}") from error
    return program
