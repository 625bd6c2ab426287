"""The child process that runs a generated module in Triton's interpreter, one task after the other.

`python -m porter_triton.worker MODULE`, with TRITON_INTERPRET=1: tasks on standard input, answers on standard output.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
import triton
from triton.runtime.interpreter import InterpretedFunction, InterpreterBuilder, InterpreterError

from porter.contract.dtype import DType, encode
from porter.simt.job import Fault, FaultKind, TensorValue, Value
from porter.worker.confine import confine
from porter.worker.frames import Task, read_frame, write_frame
from porter.worker.load import load
from porter.worker.records import encode_failure, encode_result
from porter_triton.devices import TwoMemories, answer_for_the_device, put_on_device
from porter_triton.integrity import Untouched
from porter_triton.interpreter import Interpreter
from porter_triton.observation import Observation
from porter_triton.watch import Watch

_GUARD_BYTES = 4096  # what runs over the end of one tensor must not land in the next
_ALIGNMENT = 256  # of device allocations
_DTYPES = {dtype: getattr(torch, dtype.value) for dtype in DType}
_NAMES = {torch_dtype: dtype for dtype, torch_dtype in _DTYPES.items()}
_JUDGING = (
    *(np, torch, torch.cuda, torch.Tensor, triton, triton.language, triton.language.core, triton.runtime.interpreter),
    *(InterpreterBuilder, InterpretedFunction, Interpreter, Observation, Watch, TwoMemories),
)


def main() -> None:
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the module prints must not end up between frames
    torch.set_num_threads(1)
    np.seterr(all="ignore")  # a device does not warn either
    _fill_fresh_memory()
    answer_for_the_device()
    server = _Server(Path(sys.argv[1]))
    confine(Path.cwd())
    write_frame(replies, b"")
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        for part in server.answer(pickle.loads(frame)):
            write_frame(replies, part)


def _fill_fresh_memory() -> None:
    """What `torch.empty` gives is NaN or the largest integer, so that what stays unwritten shows."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]


class _Server:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._interpreter = Interpreter()
        self._untouched = Untouched(_JUDGING)
        self._module: ModuleType | None = None
        self._last: list[torch.Tensor] = []  # alive, so that nobody else is given their memory

    def answer(self, task: Task) -> tuple[bytes, bytes]:
        """The run as records, and the signatures of its launches."""
        seen = Observation(str(self._path), task.job.schedule, task.job.seed)
        self._interpreter.observation = seen
        arguments = [_argument(value) for value in task.job.arguments]
        try:
            with TwoMemories():
                returned = self._call(task, arguments)
            if name := self._untouched.replaced():
                raise RuntimeError(f"the module replaces {name}, with which it is judged")
            self._check_fresh(list(_tensors(returned)))
            results = list(_results(returned, task.returns))
        except Exception as error:  # noqa: BLE001 - whatever a module raises is its answer
            faults = (*seen.faults(), _fault(error, seen))
            return encode_failure(seen.launches, faults), _lines(seen.signatures)
        outputs = [_value(a) for a in arguments if isinstance(a, torch.Tensor)]
        faults = (*seen.faults(), *seen.failed)
        return encode_result(seen.launches, faults, outputs, results), _lines(seen.signatures)

    def _check_fresh(self, results: list[torch.Tensor]) -> None:
        """Raises where a result lies in the memory of the one before, which its caller may still hold."""
        taken = {tensor.untyped_storage().data_ptr() for tensor in self._last if tensor.numel()}
        if any(tensor.untyped_storage().data_ptr() in taken for tensor in results):
            raise RuntimeError("the result lies in the memory of an earlier one")
        self._last = results

    def _call(self, task: Task, arguments: list[object]) -> object:
        if self._module is None:
            self._module = load(self._path)
        function = getattr(self._module, task.function)
        if not task.launch:
            return function(*arguments)
        job = task.job
        return function(*arguments, grid=job.grid, block=job.block, shared_bytes=job.shared_bytes)


def _lines(signatures: Iterable[str]) -> bytes:
    return "\n".join(signatures).encode()


def _argument(value: Value) -> object:
    """A tensor in memory of its own, with room around it; a number as it is."""
    if not isinstance(value, TensorValue):
        return value.value
    raw = np.ascontiguousarray(value.storage).reshape(-1).view(np.uint8)
    room = np.zeros(raw.size + 2 * _GUARD_BYTES + _ALIGNMENT, np.uint8)
    start = _GUARD_BYTES + -(room.ctypes.data + _GUARD_BYTES) % _ALIGNMENT
    room[start : start + raw.size] = raw
    # A storage of exactly these bytes: its extent is what the kernel may touch.
    storage = torch.from_numpy(room[start : start + raw.size])
    return put_on_device(storage.view(_DTYPES[value.dtype]).reshape(value.shape))


def _tensors(returned: object) -> Iterable[torch.Tensor]:
    if isinstance(returned, torch.Tensor):
        yield returned
    elif isinstance(returned, (tuple, list)):
        for item in returned:
            yield from _tensors(item)


def _results(returned: object, number: DType | None) -> Iterable[TensorValue]:
    if isinstance(returned, torch.Tensor):
        yield _value(returned)
    elif isinstance(returned, (bool, int, float)) and number is not None:
        yield TensorValue(number, (), encode(np.array(returned), number))
    elif isinstance(returned, (tuple, list)):
        for item in returned:
            yield from _results(item, number)


def _value(tensor: torch.Tensor) -> TensorValue:
    dense = tensor.detach().contiguous()
    dtype = _NAMES[dense.dtype]
    raw = dense.reshape(-1).view(torch.uint8).numpy() if dense.numel() else np.zeros(0, np.uint8)
    return TensorValue(dtype, tuple(dense.shape), raw.view(dtype.storage).reshape(tuple(dense.shape)))


def _fault(error: Exception, seen: Observation) -> Fault:
    """How the call ended: in a kernel, at an assertion of it, or in the host code around."""
    cause = error.__cause__ if isinstance(error, InterpreterError) and error.__cause__ else error
    kind = FaultKind.HOST_CHECK
    if seen.kernel:
        kind = FaultKind.DEVICE_ASSERT if isinstance(cause, AssertionError) else FaultKind.CRASH
    message = f"{type(cause).__name__}: {cause}"
    return Fault(kind, seen.module, _line(cause, seen.module), seen.kernel, message, fatal=True)


def _line(error: BaseException, module: str) -> int:
    """The innermost line of `module` that `error` came through."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == module:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


if __name__ == "__main__":
    main()
