"""The child process that runs a candidate's host code: requests on standard input, `Recorded` on standard output.

It is forked from a fork server (`porter.worker.fork_server`), confined, and holds no contents of any tensor.
"""

from __future__ import annotations

import ast
import io
import os
import pickle
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import torch

from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind
from porter.launch_plan.steps import Input, Number, Return, Scalar, TensorView
from porter.launch_plan.wire import encode
from porter.sandbox.confine import confine, python_and_system
from porter.worker.frames import read_frame, write_frame
from porter.worker.load import load
from porter.worker.models import Models
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.branch_marks import BranchMarks
from porter_triton.planning.device_answers import DeviceAnswers
from porter_triton.planning.device_tensor import DeviceTensor, buffer_of, contents_of, is_plain, plan_with, view_of
from porter_triton.planning.kernel_texts import KernelTexts
from porter_triton.planning.launches import Launches
from porter_triton.planning.modes import Planned
from porter_triton.planning.operators import Operators
from porter_triton.planning.recorder import Recorder, RefusedError
from porter_triton.planning.seen_types import builtins_seen
from porter_triton.records import Arguments, DeviceFacts, Ended, PlanRequest, Recorded, TensorSpec
from porter_triton.warm_calls import FUNCTION, MODULE, TIMES

_MOST_DEPTH = 8  # of results in tuples
_NOWHERE = DeviceFacts("NVIDIA H100 80GB HBM3", (9, 0), 132, 80 << 30, 50 << 20)


class _Installed:
    """The parts that take the place of torch's and Triton's own, made once for the process."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self.operators = Operators(self.recorder)
        plan_with(self.recorder, self.operators)
        Launches(self.recorder, self.operators, KernelTexts(self.recorder))
        self.device = DeviceAnswers(self.recorder, _NOWHERE)


_installed: list[_Installed] = []  # made once, before any worker is forked


def prepare() -> None:
    """Makes what every worker needs and warms up what is imported: the first view of a process takes torch 0.7 s."""
    torch.set_num_threads(1)
    here = _Installed()
    _installed.append(here)
    one = here.operators.allocated(torch.empty((4, 4), device="meta"))
    with Planned(here.operators):
        torch.empty_like(one).reshape(-1)
        one.to(torch.float16).contiguous().view(2, 8).t().contiguous()
        torch.cat([one, torch.zeros((1, 4), device="cuda")]).sum()
        torch.zeros(3, device="cuda")[1:].copy_(torch.tensor([1.0, 2.0], device="cuda"))
    _make_warm_calls()


def _make_warm_calls() -> None:
    """Plans calls as workers do, so that they find what these leave in Python, and not in copies of their own."""
    tensor = TensorSpec(DType.FLOAT32, (3, 37))
    asked = pickle.dumps(
        tuple(PlanRequest(FUNCTION, (tensor,), _NOWHERE, objects=objects) for objects in (*Arguments, Arguments.NEW))
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "warm.py")
        path.write_text(MODULE, "utf-8")
        for _ in range(TIMES):
            server = _Server(path, io.BytesIO(), io.BytesIO())
            for request in pickle.loads(asked):
                planned = server.answer(request)
                assert planned.ended is None, planned.ended
                encode(planned)


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends; `arguments` has the module's path."""
    replies = os.fdopen(os.dup(1), "wb")
    questions = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # what the module prints must not end up between frames
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    path = Path(arguments[0])
    server = _Server(path, questions, replies)
    confine(readable=(path.parent, *python_and_system()))  # no answers that lie about
    write_frame(replies, b"")
    while (frame := read_frame(questions)) is not None:
        for request in pickle.loads(frame):
            write_frame(replies, encode(server.answer(request)).encode())


def _with_lists(arguments: list[object], lists: tuple[tuple[int, int], ...]) -> list[object]:
    """Returns `arguments` with a list in the place of those that are its elements."""
    given = list(arguments)
    for first, count in reversed(lists):
        given[first : first + count] = [arguments[first : first + count]]
    return given


class _Server:
    def __init__(self, path: Path, questions: IO[bytes], replies: IO[bytes]) -> None:
        self._path = path
        self._questions, self._replies = questions, replies
        files = frozenset(str(file) for file in path.parent.rglob("*.py"))
        here = _installed[0]
        self._recorder, self._operators, self._device = here.recorder, here.operators, here.device
        self._recorder.connect(self._ask, files | {str(path)})
        self._operators.begin()
        self._module: ModuleType | None = None
        self._models = Models()
        self._marks = BranchMarks()
        self._given: dict[tuple[int, TensorSpec], DeviceTensor] = {}

    def _ask(self, so_far: Recorded) -> tuple[Number, ...]:
        write_frame(self._replies, encode(so_far).encode())
        frame = read_frame(self._questions)
        if frame is None:
            os._exit(0)
        return tuple(pickle.loads(frame))

    def answer(self, request: PlanRequest) -> Recorded:
        """Returns the last steps of the call and its branches; an exception of the module is how the call ends."""
        self._marks.forget()
        recorded = self._recorded(request)
        coverage = self._marks.coverage()
        return replace(recorded, branches=tuple((side, side in coverage.taken) for side in sorted(coverage.present)))

    def _recorded(self, request: PlanRequest) -> Recorded:
        self._device.facts = request.device
        self._recorder.capturing = request.capturing
        self._recorder.configuration = request.configuration
        self._recorder.begin(request.answers, alone=request.alone)
        try:
            arguments = [self._argument(i, given, request.objects) for i, given in enumerate(request.arguments)]
            with Planned(self._operators):
                returned = self._call(request, arguments)
                results = tuple(map(self._result, _flat(returned)))
            self._recorder.step(Return(results))
        except RefusedError as refused:
            return self._recorder.taken(ended=refused.ended)
        except BaseException as error:  # noqa: BLE001 - whatever a module raises is how its call ends
            return self._recorder.taken(ended=self._ended(error))
        return self._recorder.taken()

    def _call(self, request: PlanRequest, arguments: list[object]) -> object:
        if self._module is None:
            self._module = load(self._path, builtins_seen(), self._mark)
        function: Any = getattr(self._module, request.function)
        if isinstance(function, type) and issubclass(function, torch.nn.Module):
            function = self._models.calling(function, request.construction)
        given = _with_lists(arguments, request.lists)
        if request.launch is None:
            return function(*given)
        grid, block, shared_bytes = request.launch
        return function(*given, grid=grid, block=block, shared_bytes=shared_bytes)

    def _mark(self, tree: ast.Module, file: Path) -> Mapping[str, object]:
        self._marks.insert_in_host_code(tree, file.name)
        return self._marks.names

    def _argument(self, index: int, given: TensorSpec | float | None, objects: Arguments) -> object:
        if not isinstance(given, TensorSpec):
            return given
        old = self._given.get((index, given))
        if old is None or objects is Arguments.NEW:
            made = self._new(given, self._recorder.new_buffer())
        else:
            made = old if objects is Arguments.SAME else self._new(given, buffer_of(old))
        self._given[index, given] = made
        contents_of(made).host = None
        self._operators.wrote(buffer_of(made))
        self._recorder.step(Input(buffer_of(made), index))
        return made

    @staticmethod
    def _new(given: TensorSpec, buffer: int) -> DeviceTensor:
        dtype = TORCH_TYPES[given.dtype]
        if given.strides is None:
            return DeviceTensor(torch.empty(given.shape, dtype=dtype, device="meta"), buffer)
        last = given.offset + sum((n - 1) * s for n, s in zip(given.shape, given.strides, strict=True))
        room = torch.empty(last + 1, dtype=dtype, device="meta")
        return DeviceTensor(room.as_strided(given.shape, given.strides, given.offset), buffer)

    def _result(self, item: object) -> TensorView | Scalar:
        if isinstance(item, DeviceTensor):
            self._check_plain(item)
            return view_of(item)
        if isinstance(item, (bool, int, float)) and type(item) in (bool, int, float):
            return Scalar(item)
        if isinstance(item, torch.Tensor):
            self._recorder.refuse(FaultKind.RESULT, "the result is a tensor of the host")
        self._recorder.refuse(FaultKind.RESULT, f"the result is a {type(item).__name__}, not a torch.Tensor")
        raise AssertionError

    def _check_plain(self, tensor: DeviceTensor) -> None:
        if not is_plain(tensor):
            self._recorder.refuse(FaultKind.RESULT, "the result is a tensor with attributes of its own")
        if tensor.requires_grad and tensor.grad_fn is None:
            self._recorder.refuse(FaultKind.RESULT, "the result is a parameter, or asks for a gradient of its own")

    def _ended(self, error: BaseException) -> Ended:
        file, line = self._recorder.place(None)
        trace = error.__traceback__
        while trace is not None:
            found = self._recorder.place(trace.tb_frame)
            if found[0] and trace.tb_frame.f_code.co_filename == found[0]:
                file, line = found[0], trace.tb_lineno
            trace = trace.tb_next
        return Ended(FaultKind.HOST_CHECK.value, f"{type(error).__name__}: {error}"[:2000], file, line)


def _flat(returned: object, depth: int = 0) -> Iterator[object]:
    """Yields what was returned, one by one; nothing for None."""
    if isinstance(returned, (tuple, list)) and depth < _MOST_DEPTH:
        for item in returned:
            yield from _flat(item, depth + 1)
    elif returned is not None:
        yield returned
