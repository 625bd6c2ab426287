"""The port on a real device: its calls are planned here, and a process on the device carries the plans out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from porter.backend import Port, Target
from porter.contract.model.contract import Contract
from porter.contract.model.dtype import DType, decode
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.model.outcome import Fidelity
from porter.execution.job import Job, Run
from porter.launch_plan.steps import Number, Read, Return, Step
from porter.native.original import host_positions
from porter.native.place import Place
from porter.native.requests import PlanEntry
from porter.native.session import CandidateError, Session
from porter.native.timed import Timed
from porter.translation_unit import TranslationUnit
from porter_triton.calls import Calls
from porter_triton.planned_calls import Function
from porter_triton.proof import InterpretedPort, Module, devices_of
from porter_triton.records import DeviceFacts

_CARRIER = "porter_triton.carrier"


@contextmanager
def on_device(ported: Port, original: TranslationUnit, target: Target, place: Place) -> Iterator[NativePort]:
    """Makes `ported` ready to run on the device of `place`."""
    with (
        tempfile.TemporaryDirectory(prefix="porter-triton-", ignore_cleanup_errors=True) as name,
        ExitStack() as workers,
        place.session("".join(file.text for file in ported.files)) as session,
    ):
        session.start()
        folder, cache = Path(name), place.cache / "triton"
        yield NativePort(ported.files, original, devices_of(target), folder, cache, place.limits, workers, session)


@dataclass(frozen=True)
class NativePort(InterpretedPort):
    """A module that the device runs, in `session`."""

    session: Session

    @property
    def fidelity(self) -> Fidelity:
        """Returns what it is for executes it."""
        return Fidelity.NATIVE

    @property
    def warp_sizes(self) -> tuple[int, ...]:
        """The warp size of the device."""
        return (32,)

    def candidate(self, contract: Contract, function: str, module: Module) -> Candidate:
        """Returns the `function` of `module` on the device, for which its launches were compiled."""
        called = self.called(contract, function)
        timed = Timed(
            self.session, lambda job: entry_of(module.calls, called, job, self.session), host_positions(contract)
        )
        return Candidate(self.warp_sizes[0], timed.run, lambda: (self.session.facts.arch,), timed=timed)


def entry_of(calls: Calls, function: Function, job: Job, session: Session) -> PlanEntry:
    """Returns the plan of a call with `job` for the device of `session`, which supplies numbers that the call reads.

    Raises `CandidateError` where it has no plan.
    """
    facts = session.facts
    device = DeviceFacts(facts.name, facts.capability, facts.multiprocessors, facts.memory_bytes, facts.l2_bytes)

    def of(prepared: Sequence[Step], steps: Sequence[Step], returns: DType | None = None) -> PlanEntry:
        return PlanEntry(_CARRIER, tuple(prepared), tuple(steps), calls.kernels, returns)

    def read(steps: Sequence[Step], prepared: Sequence[Step]) -> tuple[Number, ...]:
        last = steps[-1]
        assert isinstance(last, Read)
        run = session.run(of(prepared, (*steps[:-1], Return((last.source,)))), job)
        if not run.finished or not run.results:
            raise CandidateError(run)
        return tuple(decode(run.results[0].storage, run.results[0].dtype).reshape(-1).tolist())

    planned = calls.native_plan(function, job, device, read)
    if isinstance(planned, Run):
        raise CandidateError(planned)
    return of(planned.prepared, planned.steps, function.returns)
