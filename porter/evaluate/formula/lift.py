"""Lifts a source's operators to tensor programs, and judges each against the source as a port is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from porter.backend import Port
from porter.contract.model.contract import Argument, Contract, Entry
from porter.contract.model.dtype import DType
from porter.contract.model.selections import choices_of, chosen
from porter.contract.workload.materialise import retyped
from porter.errors import PorterError
from porter.evaluate.formula.following import NOT_LIFTED
from porter.evaluate.formula.lifting import Subject, lifted
from porter.evaluate.judge.entries import Entries
from porter.evaluate.judge.fallback import PARTS_STAND
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.ported import Candidates, SourcePort
from porter.evaluate.model.migration import EntryOutcome, MigrateOptions, Progress
from porter.evaluate.model.outcome import Fidelity, NotBuilt, NotVerified, Outcome
from porter.evaluate.problem.bench import CUDA_WARP_SIZE, Bench, bench
from porter.evaluate.problem.original import read_original
from porter.execution.job import BuildFailure, Built, Part
from porter.ir.simt.replay.kernels import Kernels
from porter.ir.tensor.program import TensorProgram
from porter.lift.enumerations import with_choices
from porter.lift.nodes import NotLiftedError
from porter.measure.deadline import OutOfTime
from porter.measure.stages import Stage, Stages
from porter.simt.planned_run import PlannedExecutable
from porter.source_text import Source
from porter.syntax.read import read_unit
from porter.warp.explicit import with_warp_barriers

if TYPE_CHECKING:
    from porter.evaluate.formula.tensor_run import Case


@dataclass(frozen=True, slots=True)
class Lifted:
    """The tensor programs of an entry, and the outcome of comparing them with the source.

    There is one for each choice of its arguments and of its precision, and none where it could not be lifted.
    `left_out` says why launchers of a kernel by itself are not here.
    """

    entry: EntryOutcome
    programs: tuple[TensorProgram, ...]
    left_out: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Returns what the comparison came to."""
        return self.entry.outcome


_Call = tuple[str, Entry, tuple[Argument, ...]]


def _call(contract: Contract) -> _Call:
    return contract.name, contract.entry, contract.arguments


@dataclass(frozen=True)
class _Planning(Candidate):
    """The original where it only plans its launches."""

    planned: PlannedExecutable | None = None


@dataclass(frozen=True)
class Lifts(SourcePort):
    """Offers tensor programs as a port: their entries are those of the source, which is planned.

    `programs` has those of each way to call an entry: instances of one template may share the name of a contract.
    """

    bench: Bench
    kernels: Kernels
    stages: Stages
    programs: dict[_Call, tuple[TensorProgram, ...]] = field(default_factory=dict)
    warp_sizes: tuple[int, ...] = ()
    runs_programs = False
    fidelity = Fidelity.EMULATED

    def candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        """Returns what plans each entry, or why nothing does."""
        request = replace(self.side.request(contracts, CUDA_WARP_SIZE), part=Part.HOST)
        return tuple(map(self._planning, self.bench.begin(request).result()))

    def _planning(self, built: Built) -> Candidates:
        if isinstance(built, BuildFailure) or built.device is None:
            failed = built.placed if isinstance(built, BuildFailure) else "it launches nothing"
            return NotVerified(f"{NOT_LIFTED}its launches cannot be planned: {failed}")
        failure = NotBuilt(built.failure.placed, built.failure.log) if built.failure else None
        planned = PlannedExecutable(built, built.device, self.bench.limits)
        return (_Planning(None, planned.execute, failure=failure, planned=planned),)

    def answering(self, contract: Contract, port: Candidates) -> Candidates:
        """Returns the programs of an entry as what answers for it, for all choices of its workloads."""
        if not isinstance(port, tuple):
            return port
        (planning,) = port
        assert isinstance(planning, _Planning)
        assert planning.planned is not None
        subject = Subject(planning.planned, self.kernels, self.side.source.path.name)
        cases: list[Case] = []
        enumerated = with_choices(contract)
        for choices in choices_of(enumerated):
            at = chosen(enumerated, choices)
            try:
                with self.stages.of(Stage.LIFT):
                    cases += self._cases(subject, at)
            except NotLiftedError as error:
                where = "".join(f"at {name} = {value}: " for name, value in choices.items())
                return NotVerified(f"{NOT_LIFTED}{where}{error}")
        from porter.evaluate.formula.tensor_run import TensorRun  # noqa: PLC0415 - which takes PyTorch

        self.programs[_call(contract)] = tuple(case.program for case in cases)
        return (Candidate(None, TensorRun(tuple(cases))),)

    def _cases(self, subject: Subject, contract: Contract) -> Iterator[Case]:
        """Yields what is lifted at the types of `contract`, and where it can be at those of another precision."""
        program = lifted(subject, contract)
        from porter.evaluate.formula.tensor_run import Case  # noqa: PLC0415 - which takes PyTorch

        yield Case(program, contract)
        for typed in of_other_precision(contract):
            with suppress(NotLiftedError):
                yield Case(lifted(subject, typed), typed)


def of_other_precision(contract: Contract) -> Iterator[Contract]:
    """Yields `contract` for workloads with and without 64-bit floats: constants have as many digits as their type."""
    for types in {tuple(sorted(workload.dtypes.items())): workload.dtypes for workload in contract.workloads}.values():
        alike = tuple(workload for workload in contract.workloads if workload.dtypes == types)
        typed = retyped(contract, alike[0])
        if _has_double(typed) != _has_double(contract):
            yield replace(typed, workloads=tuple(replace(workload, dtypes={}) for workload in alike))


def _has_double(contract: Contract) -> bool:
    return any(tensor.dtype is DType.FLOAT64 for tensor in contract.tensors)


def lift(
    source: Source, options: MigrateOptions, progress: Progress, *, all_or_none: bool = False
) -> tuple[Lifted, ...]:
    """Returns the entries of a source as tensor programs, each compared with the source on its contract's workloads.

    With `all_or_none` the first that is not found equal ends it, and no kernel is lifted in its launcher's place. The
    verdicts name what was not executed, as those of `migrate` do. Raises `PorterError`s as `migrate` does.
    """
    try:
        with options.deadline.running():
            return _lifted(source, options, progress, all_or_none=all_or_none)
    except OutOfTime:
        message = f"{source.path}: the limit of {options.deadline.limit_s:g} s was over before there was a program"
        raise PorterError(message, "allow more with --limit S") from None


def _lifted(source: Source, options: MigrateOptions, progress: Progress, *, all_or_none: bool) -> tuple[Lifted, ...]:
    original = read_original(source, options)
    headers = tuple(header for _, header in original.headers)
    explicit = original.replaced(with_warp_barriers(original.program, headers))
    program = replace(explicit.program, source=explicit.source)
    kernels = Kernels(read_unit(program, tuple(header for _, header in explicit.headers), options.defines))
    with bench(options.cache, options.time_limit_s, known=options.known) as place:
        lifts = Lifts(explicit, place, kernels, options.stages)
        entries = Entries(
            original, Port((), ()), lifts, place, options, answering=lifts.answering, all_or_none=all_or_none
        )
        proofs = entries.proofs(progress)
    return tuple(
        Lifted(
            proof.entry,
            lifts.programs.get(_call(proof.entry.contract), ()),
            tuple(f.message for f in proof.findings if f.code == PARTS_STAND),
        )
        for proof in proofs
    )
