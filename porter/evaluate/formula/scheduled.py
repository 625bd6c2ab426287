"""Writes ports anew: from what a source computes, with a schedule of their own, not from its kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from porter.backend import Port, Target
from porter.contract.infer.scalars import is_number
from porter.contract.model.contract import Contract, EntryKind, ScalarArg
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import evaluate, number
from porter.contract.model.syntax import ExpressionError
from porter.contract.workload.materialise import retyped
from porter.diagnostics.findings import Finding, Severity
from porter.evaluate.formula.following import NOT_LIFTED, Compared, compared
from porter.evaluate.formula.lift import Lifted, lift
from porter.evaluate.model.migration import MigrateOptions, Progress
from porter.evaluate.model.outcome import Equal
from porter.ir.tensor.program import TensorProgram
from porter.ir.tensor.retyped import retyped as program_of_types
from porter.ir.tile.program import Operator
from porter.registry import find_backend
from porter.schedule.nests import Nest, nests
from porter.schedule.operator import operator
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.schedule import Algorithm, Schedule
from porter.schedule.space import all_schedules, extent, schedules
from porter.source_text import Source

_ASSUMES = "PORT5003"
# Several programs a row pay where rows are long and few; where no size is known any may come.
_OF_FEW_ROWS = frozenset((Algorithm.SPLIT, Algorithm.APART, Algorithm.SHARED))
BENCH = "bench"  # the workload at whose sizes an operator is timed


@dataclass(frozen=True)
class Entry:
    """An entry of a source: what it computes, and the contract under which that was lifted.

    `others` are the programs that were lifted at other element types.
    """

    contract: Contract
    program: TensorProgram
    others: tuple[TensorProgram, ...] = ()

    @cached_property
    def nests(self) -> tuple[Nest, ...]:
        """Returns its nests, in the order in which they are computed."""
        return nests(self.program)

    @property
    def has_bench(self) -> bool:
        """Returns whether the contract says at which sizes the entry has to be fast."""
        return any(workload.name == BENCH for workload in self.contract.workloads)

    @cached_property
    def sizes(self) -> Sizes:
        """Returns the sizes for which it is scheduled."""
        return Sizes.of(self.program, self.contract)

    @property
    def largest(self) -> Nest:
        """Returns the nest with most points, whose schedule decides how long the entry takes."""
        return max(self.nests, key=lambda nest: extent((*nest.rows, *nest.columns), self.sizes))


@dataclass(frozen=True)
class Formula:
    """The formula of a source: what each of its entries computes; it was found equal at the workloads `compared`.

    Its ports differ in one schedule: that of the nest with the most points.
    """

    source: Source
    target: Target
    entries: tuple[Entry, ...]
    compared: Compared = frozenset()

    @property
    def dtypes(self) -> frozenset[DType]:
        """Returns the element types that its ports take and return."""
        return frozenset(tensor.dtype for entry in self.entries for tensor in entry.contract.tensors)

    @cached_property
    def schedules(self) -> tuple[Schedule, ...]:
        """Returns the schedules that are worth a try, the most promising first."""
        return self._schedules(self._main.largest, self._main)

    @cached_property
    def all_schedules(self) -> tuple[Schedule, ...]:
        """Returns all that are legal, those of `schedules` first."""
        found = all_schedules(self._main.largest, self._main.sizes)
        return tuple(one for one in found if one.algorithm not in self._left_out)

    def port(self, schedule: Schedule | None = None) -> Port:
        """Returns the source in the language of the target; without a `schedule` with the most promising one.

        Raises `NotSchedulableError` where the schedule does not suit the source, or the language lacks a word.
        """
        backend = find_backend(self.target.backend)
        written = backend.written([(self._operator(one, schedule), one.contract) for one in self.entries], self.source)
        if written is None:
            raise NotSchedulableError(f"{backend.name} writes no operator from its formula yet")
        return Port((written,), tuple(_rests_on(one) for one in self.entries if one.program.assumptions))

    @cached_property
    def _main(self) -> Entry:
        return max(self.entries, key=lambda one: extent((*one.largest.rows, *one.largest.columns), one.sizes))

    def _operator(self, entry: Entry, schedule: Schedule | None) -> Operator:
        varied = entry.largest if schedule is not None and entry is self._main else None

        def choose(nest: Nest) -> Schedule:
            return schedule if schedule is not None and nest == varied else self._schedules(nest, entry)[0]

        names = tuple(argument.name for argument in entry.contract.arguments)
        return operator(entry.program, names, choose, is_fitted=self.target.compiles_on_call)

    def _schedules(self, nest: Nest, entry: Entry) -> tuple[Schedule, ...]:
        target = self.target
        found = schedules(
            nest,
            entry.sizes,
            programs_wait=target.programs_wait,
            shared_bytes=target.shared_bytes,
            is_fitted=target.compiles_on_call,
        )
        legal = tuple(one for one in found if one.algorithm not in self._left_out) or found
        return legal if entry.has_bench else tuple(sorted(legal, key=lambda one: one.algorithm in _OF_FEW_ROWS))

    @property
    def _left_out(self) -> frozenset[Algorithm]:
        """Returns the algorithms that are not for the target."""
        waiting = frozenset[Algorithm]() if self.target.programs_wait else frozenset({Algorithm.SHARED})
        return waiting if self.target.compiles_on_call else waiting | {Algorithm.HELD}


def formula_of(source: Source, target: Target, options: MigrateOptions, progress: Progress) -> Formula:
    """Returns what `source` computes. Raises `NotSchedulableError`, which says what could not be lifted."""
    progress(f"lifting {source.path.name}")
    found = lift(source, replace(options, target=""), progress, all_or_none=True)
    if not found:
        raise NotSchedulableError("it has no entry")
    entries = tuple(map(_entry, found))
    at = compared(one.entry for one in found)
    formula = Formula(source, target, (*entries, *of_types_that_none_has(entries)), at)
    try:
        formula.port()
    except NotSchedulableError:  # a printer may not tell some types apart
        return Formula(source, target, entries, at)
    return formula


def _rests_on(entry: Entry) -> Finding:
    """Returns what an entry's formula assumes, which the port does, too."""
    message = f"the formula of `{entry.contract.entry.name}` assumes: {'; '.join(entry.program.assumptions)}"
    return Finding(_ASSUMES, Severity.NOTE, message, None)


def _entry(lifted: Lifted) -> Entry:
    contract, name = lifted.entry.contract, lifted.entry.name
    if contract.entry.kind is EntryKind.KERNEL:
        raise NotSchedulableError(f"{name} is a kernel by itself, whose caller chooses the grid")
    if not all(argument.name.isidentifier() for argument in contract.arguments):
        raise NotSchedulableError(f"{name} takes a struct, and a port from a formula cannot take one")
    if not isinstance(lifted.outcome, Equal):
        because = getattr(lifted.outcome, "because", lifted.outcome.label).removeprefix(NOT_LIFTED)
        raise NotSchedulableError(f"{name} was not lifted: {because}")
    own = [program for program in lifted.programs if is_of(program, contract)]
    if len(own) != 1:
        raise NotSchedulableError(f"{name} computes something else for each choice of its arguments")
    if fixed := _fixed(own[0], contract):
        raise NotSchedulableError(f"what {name} computes was found for one value of '{fixed}' alone")
    return Entry(contract, own[0], tuple(program for program in lifted.programs if program not in own))


def _fixed(program: TensorProgram, contract: Contract) -> str:
    """Returns a number that a program is fixed to, though callers may pass another one; empty for none.

    A port of it would give the answer for that value whatever it is called with. Streams and objects are not numbers;
    for a number that only selects, the original handles the choices that are left.
    """
    scalars = (a for a in contract.arguments if isinstance(a, ScalarArg) and a.name in program.fixed)
    return next((a.name for a in scalars if is_number(a.type) and len(a.choices) != 1), "")


def is_of(program: TensorProgram, contract: Contract) -> bool:
    """Returns whether a program takes the element types of `contract`."""
    types = {tensor.name: tensor.dtype for tensor in contract.tensors}
    return all(one.dtype is types[one.name] for one in program.inputs)


def of_other_types(entry: Entry) -> Iterator[Entry]:
    """Yields the entry for each choice of other floats that a workload of its contract has.

    Where none was lifted at these types it is the entry's own program: judging the port shows whether that is the
    source's there, too.
    """
    seen = [tuple(tensor.dtype for tensor in entry.contract.tensors)]
    for workload in entry.contract.workloads:
        contract = retyped(entry.contract, workload)
        types = tuple(tensor.dtype for tensor in contract.tensors)
        changes = [pair for pair in zip(types, seen[0], strict=True) if pair[0] is not pair[1]]
        if types not in seen and all(now.is_float and before.is_float for now, before in changes):
            seen.append(types)
            lifted = (program for program in entry.others if is_of(program, contract))
            yield Entry(contract, next(lifted, None) or program_of_types(entry.program, workload.dtypes))


def of_types_that_none_has(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yields the entries for all other floats, each once: several contracts may be about one function."""
    seen = set(map(_instance, entries))
    for entry in entries:
        for typed in of_other_types(entry):
            if _instance(typed) not in seen:
                seen.add(_instance(typed))
                yield typed


def _instance(entry: Entry) -> tuple[str, tuple[DType, ...]]:
    return entry.contract.entry.name, tuple(tensor.dtype for tensor in entry.contract.tensors)


class Sizes(dict[str, Fraction]):
    """The sizes of a workload, and the values of expressions over them."""

    @classmethod
    def of(cls, program: TensorProgram, contract: Contract) -> Sizes:
        """Returns the sizes at which an operator is timed; where nothing states them, those of the largest workload."""
        workloads = sorted(contract.workloads, key=lambda one: (one.name == BENCH, _product(one.sizes)))
        sizes = workloads[-1].sizes
        scalars = (one for one in contract.arguments if isinstance(one, ScalarArg))
        known = {name: Fraction(value) for name, value in sizes.items()}
        return cls(known | dict(_values(scalars, sizes, program)))

    def __missing__(self, text: str) -> Fraction:
        """Returns the value of an expression."""
        whole = {name: int(value) for name, value in self.items() if value.denominator == 1}
        return Fraction(evaluate(text, whole))


def _values(
    scalars: Iterator[ScalarArg], sizes: Mapping[str, int], program: TensorProgram
) -> Iterator[tuple[str, Fraction]]:
    for scalar in scalars:
        if scalar.name in (*program.symbols, *program.parameters):
            try:
                yield scalar.name, Fraction(number(scalar.value, sizes))
            except (ExpressionError, ValueError, OverflowError):
                continue


def _product(sizes: Mapping[str, int]) -> int:
    total = 1
    for size in sizes.values():
        total *= size
    return total
