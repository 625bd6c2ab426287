"""A source's operators as tensor programs, each judged against the source as a port is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from porter.contract.contract import Argument, Contract, Entry
from porter.contract.selections import choices_of, chosen
from porter.errors import PorterError
from porter.evaluate.bench import bench
from porter.evaluate.entries import Entries
from porter.evaluate.judge import Candidate
from porter.evaluate.migrate import executed, read_and_ported
from porter.evaluate.migration import EntryOutcome, MigrateOptions, Progress
from porter.evaluate.outcome import NotVerified, Outcome
from porter.evaluate.ported import Candidates, Ported
from porter.evaluate.tensor_run import Case, TensorRun
from porter.ir.tensor.program import TensorProgram
from porter.lift.enumerations import with_choices
from porter.lift.nodes import NotLiftedError
from porter.measure.deadline import OutOfTime
from porter.registry import find_backend, find_target
from porter.source.text import Source


@dataclass(frozen=True, slots=True)
class Lifted:
    """An entry: its tensor programs, one for each choice of its arguments, and the outcome of comparing them with the
    source. There is no program where it could not be lifted.
    """

    entry: EntryOutcome
    programs: tuple[TensorProgram, ...]

    @property
    def outcome(self) -> Outcome:
        """Returns what the comparison came to."""
        return self.entry.outcome


@runtime_checkable
class Lifting(Protocol):
    """A port whose launchers can be executed on symbols."""

    def lifted(self, contract: Contract) -> TensorProgram:
        """Returns the entry of `contract` as a tensor program. Raises `NotLiftedError`."""
        ...


_Call = tuple[str, Entry, tuple[Argument, ...]]


def _call(contract: Contract) -> _Call:
    return contract.name, contract.entry, contract.arguments


@dataclass
class Lifts:
    """Puts tensor programs in the place of a port's entries.

    `programs` are those of each way to call an entry: instances of one template may share the name of a contract.
    """

    port: Ported
    programs: dict[_Call, tuple[TensorProgram, ...]] = field(default_factory=dict)

    def answering(self, contract: Contract, port: Candidates) -> Candidates:
        """Returns the programs of an entry as what answers for it, for all choices of its workloads."""
        if not isinstance(port, tuple):
            return port
        if not isinstance(self.port, Lifting):
            return NotVerified("it was not lifted: ports for this target are not executed on symbols")
        cases: list[Case] = []
        enumerated = with_choices(contract)
        for choices in choices_of(enumerated):
            at = chosen(enumerated, choices)
            try:
                cases.append(Case(self.port.lifted(at), at))
            except NotLiftedError as error:
                where = "".join(f"at {name} = {value}: " for name, value in choices.items())
                return NotVerified(f"it was not lifted: {where}{error}")
        self.programs[_call(contract)] = tuple(case.program for case in cases)
        return (Candidate(None, TensorRun(tuple(cases))),)


def lift(source: Source, options: MigrateOptions, progress: Progress) -> tuple[Lifted, ...]:
    """Returns the entries of a source as tensor programs, each compared with the source on its contract's workloads.

    The verdicts say what those of `migrate` say of what was not executed. Raises `PorterError`s as `migrate` does.
    """
    try:
        with options.deadline.running():
            return _lifted(source, options, progress)
    except OutOfTime:
        message = f"{source.path}: the limit of {options.deadline.limit_s:g} s was over before there was a port"
        raise PorterError(message, "allow more with --limit S") from None


def _lifted(source: Source, options: MigrateOptions, progress: Progress) -> tuple[Lifted, ...]:
    target = find_target(find_backend(options.target), options.arch)
    original, port = read_and_ported(source, target, options, progress)
    with (
        bench(options.cache, options.time_limit_s) as place,
        executed(original, port, target, options, place, is_trusted=True) as ready,
    ):
        lifts = Lifts(ready)
        proofs = Entries(original, port, ready, place, options, answering=lifts.answering).proofs(progress)
    return tuple(Lifted(proof.entry, lifts.programs.get(_call(proof.entry.contract), ())) for proof in proofs)
