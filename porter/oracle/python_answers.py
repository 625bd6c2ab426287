"""One workload put to a Python reference: its answer in double precision, and what shows how much it rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from porter.contract.contract import Contract, Role, Workload
from porter.contract.dtype import DType, decode, encode
from porter.contract.materialise import materialise
from porter.oracle.outputs import Outputs, largest, widest
from porter.oracle.python_question import Ask, Described, Question
from porter.oracle.reference import Expected
from porter.oracle.yardstick import LAST_BITS
from porter.simt.job import Job, Run, ScalarValue, TensorValue, Value
from porter.worker.frames import Task
from porter.worker.run import Worker

_COMPUTED_IN = {DType.FLOAT64: DType.FLOAT64}  # all other floats in single precision
_Results = tuple[TensorValue, ...]


class NoAnswerError(Exception):
    """Why a reference gives nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Where arguments come from that the reference draws itself: sizes for those written, and what it takes besides."""

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
        own = self.answer(Ask.ANSWER, arguments)
        again = self.answer(Ask.ANSWER, arguments, chance=1)
        if [r.storage.tobytes() for r in own] != [r.storage.tobytes() for r in again]:
            raise NoAnswerError("it answers the same question in different ways: is something in it random?")
        right = self._right(arguments, own)
        near = self._results(Ask.EXACT, _shaken(arguments, self._workload.seed))
        want = self._outputs(arguments, right)
        others = [self._outputs(arguments, results) for results in (own, near) if isinstance(results, tuple)]
        kept = None if self._drawn is None else arguments
        return Expected(self._workload, want, widest(want, others), arguments=kept, largest_term=largest(want))

    def arguments(self) -> tuple[Value, ...]:
        """What a candidate is given. Raises `NoAnswerError` where `get_inputs` fails."""
        if self._drawn is None:
            return materialise(self._contract, self._workload)
        run = self._ask(Ask.INPUTS, ())
        if not run.finished:
            raise NoAnswerError(said(run))
        made = iter(run.results)
        given = [next(made, None) if a.dtype else ScalarValue(a.value) for a in self._drawn.arguments]
        if any(value is None for value in given) or next(made, None) is not None:
            raise NoAnswerError("get_inputs gives other inputs than before")
        return tuple(value for value in given if value is not None)

    def answer(self, ask: Ask, arguments: tuple[Value, ...], chance: int = 0) -> _Results:
        """What it returns. Raises `NoAnswerError` where it raises."""
        found = self._results(ask, arguments, chance)
        if isinstance(found, str):
            raise NoAnswerError(found)
        return found

    def _right(self, arguments: tuple[Value, ...], own: _Results) -> _Results:
        """The answer in double precision in the types of `own`, which it is where there is no such answer."""
        exact = self._results(Ask.EXACT, arguments)
        if isinstance(exact, str) or [e.shape for e in exact] != [o.shape for o in own]:
            return own
        right = tuple(_rounded(e, o.dtype) for e, o in zip(exact, own, strict=True))
        for r, o in zip(right, own, strict=True):
            if not np.array_equal(np.isfinite(_numbers(r)), np.isfinite(_numbers(o))):
                raise NoAnswerError("its own two precisions disagree about what is finite")
        return right

    def _results(self, ask: Ask, arguments: tuple[Value, ...], chance: int = 0) -> _Results | str:
        run = self._ask(ask, arguments, chance)
        return run.results if run.finished else said(run)

    def _ask(self, ask: Ask, arguments: tuple[Value, ...], chance: int = 0) -> Run:
        workload, drawn = self._workload, self._drawn
        question = Question(
            ask,
            drawn.extents if drawn else {},
            workload.seed + chance,
            workload.distribution,
            workload.scale,
            drawn.signed if drawn else True,
        )
        run, _ = self._worker.run(Task(question.encoded(), Job(arguments)))
        self.seconds += run.seconds
        return run

    def _outputs(self, arguments: tuple[Value, ...], results: _Results) -> Outputs:
        """All tensor arguments, then results; a result stands where the contract has it written."""
        tensors = [v for v in arguments if isinstance(v, TensorValue)]
        written = [t.name for t in self._contract.tensors if t.role is not Role.IN]
        if written and len(results) != len(written):
            raise NoAnswerError(f"it has to return {', '.join(written)}, and returns {len(results)} tensors")
        placed = dict(zip(written, results, strict=False))
        named = [(t.name, placed.get(t.name, v)) for t, v in zip(self._contract.tensors, tensors, strict=True)]
        rest = [] if written else [(f"result {i}" if i else "result", value) for i, value in enumerate(results)]
        return Outputs((*named, *rest))


def said(run: Run) -> str:
    """How a run of the reference ended."""
    fault = next(iter(run.faults), None)
    if fault is None:
        return f"it ended with exit code {run.exit_code}"
    return f"line {fault.line}: {fault.message}" if fault.line else fault.message


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
        shaken.append(TensorValue(DType.FLOAT64, value.shape, _numbers(value) * (1.0 + last * signs)))
    return tuple(shaken)


def _rounded(value: TensorValue, dtype: DType) -> TensorValue:
    if value.dtype is dtype or not value.dtype.is_float:
        return value
    with np.errstate(over="ignore"):
        return replace(value, dtype=dtype, storage=encode(_numbers(value), dtype))


def _numbers(value: TensorValue) -> NDArray[np.float64]:
    return decode(value.storage, value.dtype).astype(np.float64)
