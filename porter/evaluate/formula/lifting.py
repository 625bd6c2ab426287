"""Lifts an entry to a tensor program: plans it at a few sizes, executes it there on symbols, and fits a program."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from porter.contract.model.contract import Contract, TensorArg
from porter.contract.model.expressions import evaluate
from porter.execution.job import TensorValue
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.ops import Function
from porter.ir.simt.replay.kernels import Kernels
from porter.ir.tensor.places import has_quotients
from porter.ir.tensor.program import TensorProgram
from porter.ir.tensor.verify import MalformedError, verify
from porter.launch_plan.steps import Launch
from porter.launch_plan.wire import WireError
from porter.lift.crossing import Geometry, crossing
from porter.lift.nodes import NoTensorProgramError, NotLiftedError
from porter.lift.probes import PLAIN, Probe, Style, chosen, parameters
from porter.lift.views import views
from porter.oracle.jobs import job
from porter.simt.plan_protocol import PlanError
from porter.simt.planned_run import PlannedExecutable
from porter.symbolic.process import EndlessError, SymbolicProcess, symbolic_process
from porter.symbolic.request import InputTensor, PlannedCall, SymbolicRequest

_LANES = 4  # elements of a vector, of most


@dataclass(frozen=True)
class Subject:
    """An entry of a source called `name`: its kernels, and what plans its calls."""

    planned: PlannedExecutable
    kernels: Kernels
    name: str

    def functions(self, calls: tuple[PlannedCall, ...]) -> Mapping[str, Function]:
        """Returns the kernels that calls launch, by symbol. Raises `NotLiftedError` where one is not built."""
        symbols = dict.fromkeys(launch.kernel for call in calls for launch in call.plan.launches)
        try:
            return {symbol: self.kernels.function(symbol) for symbol in symbols}
        except NotExpressibleError as error:
            place = f"{error.location.file or self.name}:{error.location.line}: " if error.location.line else ""
            raise NotLiftedError(f"{place}a kernel is not expressed: {error.construct}") from error


def lifted(subject: Subject, contract: Contract) -> TensorProgram:
    """Returns what `subject` computes under `contract`.

    Where no form is found while whole parameters vary, they keep the contract's values, which the program then says.
    Raises `NotLiftedError`; the program is a proposal until it has been compared with the original.
    """
    with (
        tempfile.TemporaryDirectory(prefix="porter-lift-") as work,
        symbolic_process(Path(work), subject.planned.limits) as process,
    ):
        return _first(subject, contract, process)


def _first(subject: Subject, contract: Contract, process: SymbolicProcess) -> TensorProgram:
    """Returns the program of the first attempt that divides no coordinate, else that of the last."""
    found: list[TensorProgram] = []
    refused: NotLiftedError | None = None
    for attempt in _attempts(contract):
        if found and attempt.is_again:
            break
        planned = _Planned(subject, contract, attempt)
        try:
            program = _beyond_a_block(planned, *_lifted(planned, process), process)
        except EndlessError as error:
            raise refused or error from None
        except NoTensorProgramError:
            raise
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
    """A view of the tensors, and a way to draw sizes. It `is_again` where the view was tried before."""

    view: Contract
    seed: int = 0
    style: Style = PLAIN
    is_again: bool = True


def _attempts(contract: Contract) -> Iterator[_Attempt]:
    """Yields attempts, in the order in which they are made.

    Other sizes are tried, because a window that is hidden at some shows at others: bounds beyond what tensors hold, and
    multiples of four, at which a vectorised kernel leaves no element undefined.
    """
    seen = views(contract)
    few = tuple({id(view): view for view in (seen[0], seen[-1])}.values())
    yield from (_Attempt(view, is_again=False) for view in seen)
    yield from (_Attempt(view, style=Style(covering=True)) for view in few)
    yield from (_Attempt(view, seed) for seed in (1, 2) for view in few)
    yield from (_Attempt(view, style=Style(multiple=_LANES)) for view in few)
    if whole := frozenset(a.name for a in parameters(contract)[0]):
        yield from (_Attempt(view, style=Style(fixed=whole)) for view in seen)


@dataclass
class _Planned:
    """The plans of an entry's calls at the sizes of an attempt; `refused` says why the last could not be made."""

    subject: Subject
    contract: Contract
    attempt: _Attempt
    refused: str = ""
    calls: dict[str, PlannedCall] = field(default_factory=dict)

    def accepts(self, probe: Probe) -> bool:
        """Returns whether host code takes the sizes of `probe`."""
        at = probe.applied(self.contract)
        given = job(at, at.workloads[0])
        try:
            plan = self.subject.planned.plan(given).calls[-1]
        except PlanError as error:
            self.refused = str(error)
            return False
        sizes = {**probe.sizes, **probe.whole}
        tensors = tuple(
            InputTensor(argument.name, value.dtype, tuple(evaluate(extent, sizes) for extent in argument.shape))
            if isinstance(argument, TensorArg) and isinstance(value, TensorValue) and not value.null
            else None
            for argument, value in zip(self.attempt.view.arguments, given.arguments, strict=True)
        )
        self.calls[repr(probe)] = PlannedCall(plan, tensors)
        return True

    def request(self, probes: tuple[Probe, ...]) -> SymbolicRequest:
        """Returns what is asked of the calls at some probes. Raises `NotLiftedError` for a kernel that is not built."""
        calls = tuple(self.calls[repr(probe)] for probe in probes)
        return SymbolicRequest(calls, self.subject.functions(calls))


def _crossed(planned: _Planned, probes: tuple[Probe, ...]) -> dict[str, Probe]:
    """Returns probes with a second block, or a second step of one, by the sizes that this takes."""

    def look(probe: Probe) -> Geometry | None:
        if repr(probe) not in planned.calls and not planned.accepts(probe):
            return None
        launches = planned.calls[repr(probe)].plan.launches
        return Geometry(tuple(prod(launch.grid) for launch in launches), max(map(_threads, launches), default=1))

    return crossing(planned.contract, probes, look)


def _threads(launch: Launch) -> int:
    """Returns the threads of a block."""
    extents = {name: scalar.value for name, scalar in launch.options}
    return prod(int(extents[name] or 1) for name in ("block_x", "block_y", "block_z"))


def _beyond_a_block(
    planned: _Planned, program: TensorProgram, probes: tuple[Probe, ...], process: SymbolicProcess
) -> TensorProgram:
    """Returns `program` if it holds where launches take more blocks than in its probes, or threads more steps.

    Else it describes a single block, and the search is repeated at sizes that take more. Anything that cannot be
    followed there is left to the comparison with the source. Raises `NotLiftedError` where one formula holds for a
    block and another one for more.
    """
    from porter.lift.agreement import holds  # noqa: PLC0415 - which takes PyTorch, as `assembled` does

    for name, probe in _crossed(planned, probes).items():
        try:
            seen = process.evaluated(planned.request((probe,)))
        except NotLiftedError:
            continue
        if holds(program, probe, seen):
            continue
        style = replace(planned.attempt.style, crossing=((name, probe.sizes[name]),))
        again = replace(planned, attempt=replace(planned.attempt, style=style), calls={})
        larger, _ = _lifted(again, process)
        if not holds(larger, probes[0], process.evaluated(planned.request(probes[:1]))):
            raise NotLiftedError(
                f"what is computed differs where '{name}' takes more than one block, or more than one step"
            )
        return larger
    return program


def _lifted(planned: _Planned, process: SymbolicProcess) -> tuple[TensorProgram, tuple[Probe, ...]]:
    attempt = planned.attempt
    try:
        probes = chosen(planned.contract, attempt.seed, planned.accepts, attempt.style)
    except NotLiftedError as error:
        raise NotLiftedError(
            f"{error}; the others were refused: {planned.refused}" if planned.refused else str(error)
        ) from None
    try:
        fitted = process.fitted(planned.request(probes))
        from porter.lift.assemble import assembled  # noqa: PLC0415 - PyTorch takes seconds: most sources end before it

        program = assembled(attempt.view, probes, fitted)
        verify(program)
    except (MalformedError, WireError) as error:
        raise NotLiftedError(f"the fitted formula is not a program: {error}") from error
    return program, probes
