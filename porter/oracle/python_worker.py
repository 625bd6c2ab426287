"""The child process that runs a Python reference, one question after the other.

The reference is as little trusted as a candidate: it writes nowhere but in its own folder, and reaches nobody.
On a server it reads nothing of others, either.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from porter.execution.job import Fault, FaultKind, ScalarValue, TensorValue, Value
from porter.launch_plan.wire import encode
from porter.oracle.python_module import Changes, Reference, Resized, moved, parameters_of, with_axes
from porter.oracle.python_question import CHANGED, Ask, Described, Description, Question, decoded
from porter.sandbox.confine import confine, python_and_system
from porter.worker.environment import AMONG_OTHERS
from porter.worker.frames import SEAL_BYTES, Task, read_frame, write_frame
from porter.worker.load import load
from porter.worker.records import encode_failure, encode_result
from porter.worker.torch_types import DTYPES, TORCH_TYPES


def prepare() -> None:
    """The settings that every worker needs."""
    torch.set_num_threads(1)
    with FakeTensorMode():
        torch.rand(2).softmax(0)  # imports what following shapes takes


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the reference prints must not end up between frames
    path = Path(arguments[0])
    server = _Server(path)
    confine(Path.cwd(), readable=(path.parent, *python_and_system()) if AMONG_OTHERS in os.environ else ())
    write_frame(replies, b"")
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        for part in server.answer(pickle.loads(frame[SEAL_BYTES:])):
            write_frame(replies, frame[:SEAL_BYTES] + part)


class _Server:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._reference: Reference | None = None

    def answer(self, task: Task) -> tuple[bytes, bytes]:
        """Results as records; as text a description, or whether arguments were changed."""
        try:
            if self._reference is None:
                self._reference = Reference(load(self._path))
            question = decoded(task.function)
            if question.ask is Ask.DESCRIBE:
                return encode_result((), (), (), ()), self._describe(self._reference, question).encode()
            if question.ask is Ask.EXPORT:
                return encode_result((), (), (), ()), self._export(self._reference, question).encode()
            with torch.no_grad():
                if question.ask is Ask.INPUTS:
                    return encode_result((), (), (), self._inputs(self._reference, question)), b""
                return self._answer(self._reference, question, task.job.arguments)
        except Exception as error:  # noqa: BLE001 - whatever a reference raises is its answer
            return encode_failure((), [self._fault(error)]), b""

    def _describe(self, reference: Reference, question: Question) -> str:
        with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
            with Resized(question, drawing=False):
                inputs = with_axes(reference.inputs(), question.axes) if reference.has_inputs else []
            model = reference.model(question.extents)
            names = _numbered(reference.parameter_names(model), len(inputs))
            described = tuple(_described(name, value) for name, value in zip(names, inputs, strict=True))
            results = _flat(reference.call(model, inputs)) if reference.has_inputs else []
        return Description(
            described,
            tuple(_described(name.replace(".", "_"), tensor) for name, tensor in parameters_of(model)),
            tuple(_described("", value) for value in results),
            tuple(_sizes(reference.initial())),
            "" if model is None else _as_text(reference.built_with(question.extents)),
            tuple(name for name, _ in parameters_of(model)),
        ).encoded()

    def _export(self, reference: Reference, question: Question) -> str:
        from porter.lift.exported.capture import captured  # noqa: PLC0415 - it takes seconds to import

        with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
            with Resized(question, drawing=False):
                inputs = with_axes(reference.inputs(), question.axes)
            model = reference.model(question.extents)
            state = [name for name, _ in parameters_of(model)]
            called = model if model is not None else partial(reference.call, None)
            return encode(captured(called, inputs, state, self._path))

    def _inputs(self, reference: Reference, question: Question) -> list[TensorValue]:
        torch.manual_seed(question.seed)
        with Resized(question, drawing=True):
            inputs = with_axes(reference.inputs(), question.axes)
        parameters = enumerate(parameters_of(reference.model(question.extents)))
        state = [moved(tensor, question.seed, place) for place, (_, tensor) in parameters]
        return [_value(v) for v in (*inputs, *state) if isinstance(v, torch.Tensor)]

    def _answer(self, reference: Reference, question: Question, given: Sequence[Value]) -> tuple[bytes, bytes]:
        torch.manual_seed(question.seed)
        arguments = [_argument(value) for value in given]
        changes = Changes([arguments[place] for place in question.written])
        answer = _called(reference, question, arguments)
        returned = list(_tensors(answer)) if question.written else _flat(answer)
        left = [_value(argument) for argument in arguments if isinstance(argument, torch.Tensor)]
        results = [_value(tensor) for tensor in changes.results(returned)]
        return encode_result((), (), left, results), CHANGED.encode() if changes.any() else b""

    def _fault(self, error: Exception) -> Fault:
        line, trace = 0, error.__traceback__
        while trace is not None:
            line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == str(self._path) else line
            trace = trace.tb_next
        first = str(error).strip().splitlines()
        return Fault(
            FaultKind.HOST_CHECK,
            str(self._path),
            line,
            "",
            f"{type(error).__name__}: {first[0] if first else ''}",
            fatal=True,
        )


def _called(reference: Reference, question: Question, arguments: list[object]) -> object:
    """The answer to `arguments`, inputs and then parameters; in double precision where these are."""
    default, exact = torch.get_default_dtype(), question.ask is Ask.EXACT
    try:
        torch.set_default_dtype(torch.float64 if exact else default)
        model = reference.model(question.extents)
        if model is None:
            return reference.call(None, arguments, question.blank)
        model = model.double() if exact else model
        state = [tensor for _, tensor in parameters_of(model)]
        inputs, parameters = arguments[: len(arguments) - len(state)], arguments[len(arguments) - len(state) :]
        for tensor, value in zip(state, parameters, strict=True):
            tensor.copy_(value)  # type: ignore[arg-type]
        return reference.call(model, inputs)
    finally:
        torch.set_default_dtype(default)


def _argument(value: Value) -> object:
    if isinstance(value, ScalarValue):
        return value.value
    tensor = torch.empty(value.shape, dtype=TORCH_TYPES[value.dtype])
    if tensor.numel():
        raw = np.ascontiguousarray(value.storage).reshape(-1).view(np.uint8)
        tensor.reshape(-1).view(torch.uint8).copy_(torch.from_numpy(raw.copy()))
    return tensor


def _flat(answer: object) -> list[torch.Tensor]:
    """The tensors of an answer; raises `TypeError` where it has none."""
    found = list(_tensors(answer))
    if not found:
        raise TypeError(f"it returns no tensor but {type(answer).__name__}")
    return found


def _tensors(answer: object) -> Iterator[torch.Tensor]:
    if isinstance(answer, torch.Tensor):
        yield answer
    elif isinstance(answer, (tuple, list)):
        for item in answer:
            yield from _tensors(item)


def _value(tensor: torch.Tensor) -> TensorValue:
    dense = tensor.detach().contiguous()
    dtype, shape = DTYPES[dense.dtype], tuple(dense.shape)
    raw = dense.reshape(-1).view(torch.uint8).numpy() if dense.numel() else np.zeros(0, np.uint8)
    return TensorValue(dtype, shape, raw.view(dtype.storage).reshape(shape))


def _described(name: str, value: object) -> Described:
    """Raises `TypeError` for what is neither a tensor nor a number."""
    if isinstance(value, torch.Tensor) and value.dtype in DTYPES:
        return Described(name, DTYPES[value.dtype].value, tuple(int(extent) for extent in value.shape))
    if isinstance(value, (bool, int, float)):
        return Described(name, "", value=float(value))
    raise TypeError(f"input '{name}' is neither a tensor nor a number but {type(value).__name__}")


def _as_text(values: list[object]) -> str:
    """The values as JSON; empty for what has no such text."""
    try:
        return json.dumps(values)
    except (TypeError, ValueError):
        return ""


def _numbered(names: Sequence[str], count: int) -> list[str]:
    return [*names[:count], *(f"input{i}" for i in range(len(names), count))]


def _sizes(value: object) -> Iterator[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _sizes(item)
