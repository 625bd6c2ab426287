"""The child process that runs a generated module in Triton's interpreter, one task after the other.

It is born of a nursery (`porter.worker.nurse`) with TRITON_INTERPRET=1: tasks on standard input, answers on standard
output, sealed.
"""

from __future__ import annotations

import functools
import os
import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
import triton
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack
from triton.runtime.interpreter import GridExecutor, InterpretedFunction, InterpreterBuilder, InterpreterError

from porter.simt.job import Fault, FaultKind
from porter.worker.confine import confine
from porter.worker.frames import SEAL_BYTES, Task, read_frame, write_frame
from porter.worker.load import load
from porter.worker.models import Models
from porter.worker.records import encode_failure, encode_result
from porter_triton.device_answers import Compiled, NotInterpretedError, answer_for_the_device, look_compiled
from porter_triton.devices import TwoMemories
from porter_triton.integrity import Untouched
from porter_triton.interpreter import Interpreter
from porter_triton.judging.flow import Flow
from porter_triton.judging.guard import guarded
from porter_triton.judging.habits import rehearsed
from porter_triton.judging.memory import Arguments, Returned
from porter_triton.judging.results import items_in, unusual, values_of
from porter_triton.observation import Observation
from porter_triton.tensors import tensors_in
from porter_triton.watch import Watch

_JUDGING = (
    *(np, torch, torch.cuda, torch.Tensor, triton, triton.language, triton.language.core, triton.runtime.interpreter),
    *(InterpreterBuilder, InterpretedFunction, GridExecutor, Interpreter, Observation, Watch, TwoMemories, Flow),
    *(np.ndarray, torch.nn.functional, torch.overrides, Arguments, Returned, Untouched, pickle, Compiled),
)
_NOT_ITS_OWN = (FaultKind.LIBRARY, FaultKind.HOST_WORK)
_SETTINGS = {
    "torch.use_deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
    "torch.utils.deterministic": lambda: torch.utils.deterministic.fill_uninitialized_memory,  # type: ignore[attr-defined]
    "the dispatch mode": lambda: len(_get_current_dispatch_mode_stack()),
    "the function mode": lambda: len(_get_current_function_mode_stack()),  # type: ignore[no-untyped-call]
}


def prepare() -> None:
    """What every worker needs: torch and Triton as they are judged with."""
    torch.set_num_threads(1)
    np.seterr(all="ignore")  # a device does not warn either
    _fill_fresh_memory()
    answer_for_the_device()


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the module prints must not end up between frames
    server = _Server(Path(arguments[0]))
    confine(readable=_readable(Path(arguments[0]).parent))
    write_frame(replies, b"")
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        for part in server.answer(pickle.loads(frame[SEAL_BYTES:])):
            write_frame(replies, frame[:SEAL_BYTES] + part)


def _readable(folder: Path) -> tuple[Path, ...]:
    """What the module may read: itself, what Python imports, the system. No answers that lie about."""
    packages = (sys.prefix, sys.base_prefix, *sys.path)
    system = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev")
    return (folder, *(Path(place) for place in (*packages, *system) if place))


def _fill_fresh_memory() -> None:
    """What `torch.empty` gives is NaN or the largest integer, so that what stays unwritten shows."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]


def _tell_of_foreign_memory(flow: Flow) -> None:
    """Tensors made of memory that torch did not allocate pass by every mode."""

    def telling(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        @functools.wraps(make)
        def made(*given: object, **named: object) -> torch.Tensor:
            tensor = make(*given, **named)
            flow.made_by_host(tensor)
            return tensor

        return made

    for name in ("from_numpy", "from_dlpack", "frombuffer"):
        setattr(torch, name, telling(getattr(torch, name)))


class _Server:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._flow = Flow()
        _tell_of_foreign_memory(self._flow)
        self._interpreter = Interpreter(self._flow)
        look_compiled()
        self._untouched = Untouched(_JUDGING, _SETTINGS)
        self._module: ModuleType | None = None
        self._models = Models()
        self._arguments = Arguments()
        self._returned = Returned()

    def answer(self, task: Task) -> tuple[bytes, bytes]:
        """The run as records, and the signatures of its launches."""
        seen = Observation(str(self._path), task.job.schedule, task.job.seed)
        self._interpreter.observation = seen
        if task.rehearsal:
            return self._rehearse(task, seen), b""
        arguments = self._arguments.of(task.job)
        self._flow.begin(arguments, task.permitted, seen)
        try:
            with TwoMemories(self._flow), self._flow:
                returned = list(items_in(self._call(task, arguments)))
            self._examine([item for item in returned if isinstance(item, torch.Tensor)], task, seen)
            results = list(values_of(returned, task.returns))
        except Exception as error:  # noqa: BLE001 - whatever a module raises is its answer
            self._examine([], task, seen)
            faults = (*seen.faults(), _fault(error, seen))
            return encode_failure(seen.launches, faults), _lines(seen.signatures)
        faults = (*seen.faults(), *seen.failed)
        return encode_result(seen.launches, faults, self._arguments.left(), results), _lines(seen.signatures)

    def _rehearse(self, task: Task, seen: Observation) -> bytes:
        """What shows at these sizes, where nothing is launched, that the work is not the module's own."""
        arguments, self._interpreter.rehearses = rehearsed(task.job), True
        self._flow.begin(arguments, task.permitted, seen)
        try:
            with TwoMemories(self._flow), self._flow:
                returned = list(items_in(self._call(task, arguments)))
            for tensors, kinds in ((arguments, _NOT_ITS_OWN), (returned, (*_NOT_ITS_OWN, FaultKind.DECOY))):
                for tensor in filter(torch.Tensor.numel, tensors_in(tensors)):
                    trouble = self._flow.trouble(tensor.untyped_storage().data_ptr(), returned=tensors is returned)
                    if trouble and trouble.kind in kinds:
                        seen.note(trouble.kind, f"at sizes for a device a result {trouble.message}", trouble.line)
        except Exception as error:  # noqa: BLE001 - it may depend on results, which are not there
            return encode_failure([], (*seen.faults(), _fault(error, seen)))
        finally:
            self._interpreter.rehearses = False
        return encode_failure([], list(seen.faults()))

    def _examine(self, results: list[torch.Tensor], task: Task, seen: Observation) -> None:
        """Notes what shows that the work is not the module's own."""
        if name := self._untouched.replaced():
            seen.note(FaultKind.REPLACED, f"the module replaces {name}, with which it is judged")
        if (number := self._arguments.marked()) is not None:
            seen.note(FaultKind.KEPT, f"tensor {number} of the arguments was given attributes")
        if (number := self._arguments.overrun()) is not None:
            seen.note(FaultKind.OUT_OF_BOUNDS, f"somebody wrote outside of tensor {number}")
        if self._returned.changed():
            seen.note(FaultKind.KEPT, "an earlier result has other numbers now")
        if self._returned.overlaps(results):
            seen.note(FaultKind.KEPT, "the result lies in the memory of an earlier one")
        for kind, message in unusual(results, task.permitted):
            seen.note(kind, message)
        self._trace(results, seen)
        self._returned.keep(results, self._arguments.places())

    def _trace(self, results: list[torch.Tensor], seen: Observation) -> None:
        """Notes what of the results did not come from the launches."""
        for number, place in self._arguments.changed():
            if trouble := self._flow.trouble(place, returned=False):
                seen.note(trouble.kind, f"tensor {number} of the arguments {trouble.message}", trouble.line)
        for index, tensor in enumerate(tensor for tensor in results if tensor.numel()):
            if trouble := self._flow.trouble(tensor.untyped_storage().data_ptr(), returned=True):
                name = f"result {index}" if index else "the result"
                seen.note(trouble.kind, f"{name} {trouble.message}", trouble.line)

    def _call(self, task: Task, arguments: list[object]) -> object:
        if self._module is None:
            self._module = load(self._path, guarded(self._tried))
        function = getattr(self._module, task.function)
        if isinstance(function, type) and issubclass(function, torch.nn.Module):
            function = self._models.calling(function, task.job.construction)
        if not task.launch:
            return function(*arguments)
        job = task.job
        return function(*arguments, grid=job.grid, block=job.block, shared_bytes=job.shared_bytes)

    def _tried(self, code: str, what: str) -> None:
        """The module tried what it has no use for."""
        self._interpreter.observation.note(FaultKind.REACHED, f"{what} ({code})")


def _lines(signatures: Iterable[str]) -> bytes:
    return "\n".join(signatures).encode()


def _fault(error: Exception, seen: Observation) -> Fault:
    """How the call ended: in a kernel, at an assertion of it, or in the host code around."""
    cause = error.__cause__ if isinstance(error, InterpreterError) and error.__cause__ else error
    kind = FaultKind.HOST_CHECK
    if seen.kernel:
        kind = FaultKind.DEVICE_ASSERT if isinstance(cause, AssertionError) else FaultKind.CRASH
    message = f"{type(cause).__name__}: {cause}"
    if isinstance(cause, NotInterpretedError) or (seen.kernel and isinstance(cause, NotImplementedError)):
        kind, message = FaultKind.UNKNOWN, str(cause)
    return Fault(kind, seen.module, _line(cause, seen.module), seen.kernel, message, fatal=True)


def _line(error: BaseException, module: str) -> int:
    """The innermost line of `module` that `error` came through."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == module:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
