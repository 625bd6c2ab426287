"""Ports that are written anew: from what a source computes, with a schedule of their own, not from its kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from porter.backend import Backend, Port, Target
from porter.contract.contract import Contract, EntryKind, ScalarArg
from porter.contract.expressions import evaluate, number
from porter.contract.syntax import ExpressionError
from porter.evaluate.lift import Lifted, lift
from porter.evaluate.migration import MigrateOptions, Progress
from porter.evaluate.outcome import Equal
from porter.findings import Finding, Severity
from porter.ir.tensor.program import TensorProgram
from porter.ir.tile.program import Operator
from porter.schedule.nests import Nest
from porter.schedule.operator import operator
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.schedule import Schedule
from porter.schedule.space import schedules
from porter.source.text import Source

_ASSUMES = "PORT5003"
BENCH = "bench"  # the workload at whose sizes an operator is timed


@dataclass(frozen=True, slots=True)
class Scheduled:
    """An operator of a source with the schedules of its nests, and the contract under which it was lifted.

    `assumptions` are what its formula rests on (see `TensorProgram`).
    """

    contract: Contract
    operator: Operator
    assumptions: tuple[str, ...] = ()


def scheduled(source: Source, target: Target, options: MigrateOptions, progress: Progress) -> tuple[Scheduled, ...]:
    """Returns every operator of `source` with the schedule that suits `target` at the largest sizes of its contract.

    Raises `NotSchedulableError`, which says what could not be lifted or scheduled.
    """
    progress(f"lifting {source.path.name}")
    found = lift(source, replace(options, target=""), progress)
    if not found:
        raise NotSchedulableError("it has no entry")
    return tuple(_scheduled(one, target) for one in found)


def port_of(found: tuple[Scheduled, ...], backend: Backend, source: Source) -> Port:
    """Returns the operators in the language of `backend`. Raises `NotSchedulableError` where it cannot write one."""
    file = backend.written(tuple((one.operator, one.contract) for one in found), source)
    if file is None:
        raise NotSchedulableError(f"{backend.name} writes no operator from its formula yet")
    return Port((file,), tuple(_rests_on(one) for one in found if one.assumptions))


def _rests_on(found: Scheduled) -> Finding:
    """Returns what an operator's formula assumes, which the port does, too."""
    message = f"the formula of `{found.contract.entry.name}` assumes: {'; '.join(found.assumptions)}"
    return Finding(_ASSUMES, Severity.NOTE, message, None)


def _scheduled(lifted: Lifted, target: Target) -> Scheduled:
    contract, name = lifted.entry.contract, lifted.entry.name
    if contract.entry.kind is EntryKind.KERNEL:
        raise NotSchedulableError(f"{name} is a kernel by itself, whose caller chooses the grid")
    if not isinstance(lifted.outcome, Equal):
        raise NotSchedulableError(f"{name} was not lifted: {getattr(lifted.outcome, 'because', lifted.outcome.label)}")
    if len(lifted.programs) != 1:
        raise NotSchedulableError(f"{name} computes something else for each choice of its arguments")
    (program,) = lifted.programs
    sizes = Sizes.of(program, contract)

    def choose(nest: Nest) -> Schedule:
        return schedules(nest, sizes, programs_wait=target.programs_wait)[0]

    names = tuple(argument.name for argument in contract.arguments)
    return Scheduled(contract, operator(program, names, choose), program.assumptions)


class Sizes(dict[str, Fraction]):
    """The sizes of a workload, and the values of expressions over them."""

    @classmethod
    def of(cls, program: TensorProgram, contract: Contract) -> Sizes:
        """Returns the sizes at which an operator is timed; where nothing says those, the largest of a workload."""
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
