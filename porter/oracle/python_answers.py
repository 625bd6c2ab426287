"""One workload put to a Python reference: its answer in double precision, and what shows how much it rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from porter.contract.model.contract import Contract, Distribution, Role, Workload
from porter.contract.model.dtype import DType, encode
from porter.contract.workload.materialise import materialise
from porter.execution.job import Job, Run, ScalarValue, TensorValue, Value
from porter.oracle.lost import is_lost
from porter.oracle.outputs import Outputs, largest, numbers_in, outputs, widest
from porter.oracle.python_calling import NoAnswerError, placed, positions
from porter.oracle.python_question import CHANGED, Ask, Described, Question
from porter.oracle.reference import Expected
from porter.oracle.yardstick import LAST_BITS
from porter.worker.frames import Task
from porter.worker.run import Worker

_COMPUTED_IN = {DType.FLOAT64: DType.FLOAT64}  # all other floats in single precision


@dataclass(frozen=True, slots=True)
class Drawn:
    """The arguments that a reference draws itself: sizes for those written, and what it takes besides."""

    extents: Mapping[int, int]
    signed: bool
    arguments: tuple[Described, ...]


class Asking:
    """One workload of `contract`; `seconds` of processor time were used."""

    def __init__(self, worker: Worker, contract: Contract, workload: Workload, drawn: Drawn | None) -> None:
        self._worker = worker
        self._contract = contract
        self._workload = workload
        self._drawn = drawn
        self.seconds = 0.0

    def expected(self) -> Expected:
        """The right answer and the yardstick. Raises `NoAnswerError`."""
        arguments = self.arguments()
        own = self._answer(arguments)
        again = self._answer(arguments, chance=1)
        if [v.storage.tobytes() for _, v in own.tensors] != [v.storage.tobytes() for _, v in again.tensors]:
            raise NoAnswerError("it answers the same question in different ways: is something in it random?")
        want = self._right(arguments, own)
        if self._workload.distribution is Distribution.LOWEST and is_lost(own, want):
            raise NoAnswerError("its results overflow in their own type")
        near = self._outputs(Ask.EXACT, _shaken(arguments, self._workload.seed))
        others = [own, *([_unread(self._contract, near, own)] if isinstance(near, Outputs) else [])]
        kept = None if self._drawn is None else arguments
        return Expected(self._workload, want, widest(want, others), arguments=kept, largest_term=largest(want))

    def arguments(self) -> tuple[Value, ...]:
        """Returns what a candidate is given. Raises `NoAnswerError` where `get_inputs` fails."""
        if self._drawn is None:
            return materialise(self._contract, self._workload)
        run, _ = self._ask(Ask.INPUTS, ())
        if not run.finished:
            raise NoAnswerError(said(run))
        made = iter(run.results)
        given = [next(made, None) if a.dtype else ScalarValue(a.value) for a in self._drawn.arguments]
        if any(value is None for value in given) or next(made, None) is not None:
            raise NoAnswerError("get_inputs gives other inputs than before")
        return tuple(value for value in given if value is not None)

    def results(self, arguments: tuple[Value, ...]) -> tuple[TensorValue, ...]:
        """Returns what it returns, whatever the contract has. Raises `NoAnswerError` where it raises."""
        run, _ = self._ask(Ask.ANSWER, arguments)
        if not run.finished:
            raise NoAnswerError(said(run))
        return run.results

    def _answer(self, arguments: tuple[Value, ...], chance: int = 0) -> Outputs:
        found = self._outputs(Ask.ANSWER, arguments, chance)
        if isinstance(found, str):
            raise NoAnswerError(found)
        return found

    def _right(self, arguments: tuple[Value, ...], own: Outputs) -> Outputs:
        """The answer in double precision in the types of `own`, which it is where there is no such answer."""
        exact = self._outputs(Ask.EXACT, tuple(map(_widened, arguments)))
        if isinstance(exact, str) or [e.shape for _, e in exact.tensors] != [o.shape for _, o in own.tensors]:
            return own
        pairs = zip(exact.tensors, own.tensors, strict=True)
        right = _unread(
            self._contract, Outputs(tuple((name, _rounded(e, o.dtype)) for (name, e), (_, o) in pairs)), own
        )
        for (_, r), (_, o) in zip(right.tensors, own.tensors, strict=True):
            if not np.array_equal(np.isfinite(numbers_in(r)), np.isfinite(numbers_in(o))):
                raise NoAnswerError("its own two precisions disagree about what is finite")
        return right

    def _outputs(self, ask: Ask, arguments: tuple[Value, ...], chance: int = 0) -> Outputs | str:
        run, told = self._ask(ask, arguments, chance)
        if not run.finished:
            return said(run)
        given = [value for value in arguments if isinstance(value, TensorValue)]
        triples = tuple(zip(self._contract.tensors, given, run.outputs, strict=True))
        # Not all that writes to a tensor tells torch; what is only read stays as it was, whatever became of it.
        changed = CHANGED in told or any(t.role is not Role.IN and not _same(g, left) for t, g, left in triples)
        run = replace(run, outputs=tuple(g if t.role is Role.IN else left for t, g, left in triples))
        return outputs(self._contract, placed(self._contract, run, changed=changed))

    def _ask(self, ask: Ask, arguments: tuple[Value, ...], chance: int = 0) -> tuple[Run, tuple[str, ...]]:
        workload, drawn = self._workload, self._drawn
        question = Question(
            ask,
            drawn.extents if drawn else {},
            workload.seed + chance,
            workload.distribution,
            workload.scale,
            drawn.signed if drawn else True,
            positions(self._contract, Role.OUT, Role.INOUT),
            positions(self._contract, Role.OUT),
            workload.axes,
        )
        run, told = self._worker.run(Task(question.encoded(), Job(arguments)))
        self.seconds += run.seconds
        return run, told


def said(run: Run) -> str:
    """Returns how a run of the reference ended."""
    fault = next(iter(run.faults), None)
    if fault is None:
        return f"it ended with exit code {run.exit_code}"
    return f"line {fault.line}: {fault.message}" if fault.line else fault.message


def _unread(contract: Contract, answer: Outputs, given: Outputs) -> Outputs:
    """`answer` with what is only read as it was `given`."""
    read = {tensor.name for tensor in contract.tensors if tensor.role is Role.IN}
    as_given = dict(given.tensors)
    return Outputs(tuple((name, as_given[name] if name in read else value) for name, value in answer.tensors))


def _same(one: TensorValue, other: TensorValue) -> bool:
    return one.storage.tobytes() == other.storage.tobytes()


def _widened(value: Value) -> Value:
    """In double precision, in which a reference is asked for what is right."""
    if not isinstance(value, TensorValue) or not value.dtype.is_float:
        return value
    return TensorValue(DType.FLOAT64, value.shape, numbers_in(value))


def _shaken(arguments: Sequence[Value], seed: int) -> tuple[Value, ...]:
    """The arguments, floats among them moved by a few of their last bits; in double precision, which holds those."""
    shaken: list[Value] = []
    for position, value in enumerate(arguments):
        if not isinstance(value, TensorValue) or not value.dtype.is_float:
            shaken.append(value)
            continue
        words = np.random.Philox(key=np.array([seed, position], dtype=np.uint64))
        signs = np.where(words.random_raw(value.storage.size).reshape(value.shape) >> np.uint64(63), 1.0, -1.0)
        last = LAST_BITS * _COMPUTED_IN.get(value.dtype, DType.FLOAT32).epsilon
        shaken.append(TensorValue(DType.FLOAT64, value.shape, numbers_in(value) * (1.0 + last * signs)))
    return tuple(shaken)


def _rounded(value: TensorValue, dtype: DType) -> TensorValue:
    if value.dtype is dtype or not value.dtype.is_float:
        return value
    with np.errstate(over="ignore"):
        return replace(value, dtype=dtype, storage=encode(numbers_in(value), dtype))
