"""The steps of a call as its host code makes them, and what it may not do."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from math import prod
from types import FrameType

import torch

from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind
from porter.launch_plan.admission import MOST_READ
from porter.launch_plan.steps import MAIN_STREAM, Allocate, Constant, Number, Read, Step, TensorView
from porter.worker.torch_types import DTYPES
from porter_triton.records import Ended, KernelText, Recorded

_MOST_STEPS = 5_000  # of a call: no fast candidate makes more launches
_FLOATS = frozenset(dtype.value for dtype in DType if dtype.is_float)
Ask = Callable[[Recorded], tuple[Number, ...]]


class RefusedError(BaseException):
    """Host code did what no plan has a step for. It passes by `except Exception`; who catches it is refused, too."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.message)
        self.ended = ended


class Recorder:
    """Collects the steps of one call after the other. Numbers of buffers go on from call to call."""

    def __init__(self) -> None:
        self._ask: Ask = lambda _: ()
        self._files: frozenset[str] = frozenset()
        self._steps: list[Step] = []
        self._kernels: list[KernelText] = []
        self._buffers = self._events = 0
        self._answers: list[tuple[Number, ...]] | None = None
        self._zeros_left: int | None = None  # reads that are still answered with zeros
        self.refused: Ended | None = None
        self.streams: list[int] = []
        self.capturing = False
        self.configuration = 0
        self.configurations = 1
        self.tuners: dict[int, int] = {}  # how many configurations each autotuner of the call chooses from

    def connect(self, ask: Ask, files: frozenset[str]) -> None:
        """Sets `ask`, which sends the steps so far and brings the numbers of a read.

        Forgets earlier records. `files` are the module's own, by which lines are named.
        """
        self._ask, self._files = ask, files
        self._steps, self._kernels, self._buffers = [], [], 0

    @property
    def stream(self) -> int:
        """The current stream."""
        return self.streams[-1] if self.streams else MAIN_STREAM

    def begin(self, answers: tuple[tuple[Number, ...], ...] | None, *, alone: bool = False) -> None:
        """Begins a call; its reads get `answers` where there are some, else zeros if `alone`.

        A call is not refused because an earlier one, at larger sizes, was too long.
        """
        if self.refused is not None and self.refused.kind == FaultKind.RESOURCE.value:
            self.refused = None
        self._answers = None if answers is None else list(answers)
        self._zeros_left = MOST_READ if alone and answers is None else None
        self.streams.clear()
        self.tuners.clear()
        self.configurations = 1

    def step(self, step: Step) -> None:
        """Records a step; ends a call that has too many of them."""
        self._steps.append(step)
        if len(self._steps) > _MOST_STEPS:
            self._steps.clear()
            self.refuse(FaultKind.RESOURCE, f"one call has more than {_MOST_STEPS} steps")

    def kernel(self, kernel: KernelText) -> None:
        """Records the text of a kernel."""
        self._kernels.append(kernel)

    def new_buffer(self) -> int:
        """Returns a number that no buffer has yet."""
        self._buffers += 1
        return self._buffers - 1

    def new_event(self) -> int:
        """Returns a number that no event has yet."""
        self._events += 1
        return self._events

    def allocate(self, size_bytes: int) -> int:
        """Returns the number of new memory."""
        buffer = self.new_buffer()
        self.step(Allocate(buffer, size_bytes))
        return buffer

    def constant(self, value: torch.Tensor) -> int:
        """Returns the number of memory that holds the elements of a tensor of the host."""
        dense = value.detach().contiguous().reshape(-1)
        raw = dense.view(torch.uint8).numpy().tobytes() if dense.numel() else b""
        buffer = self.new_buffer()
        self.step(Constant(buffer, base64.b64encode(raw).decode()))
        return buffer

    def read(self, view: TensorView) -> tuple[Number, ...]:
        """Returns the numbers that `view` holds, row by row."""
        self.step(Read(view, self.stream))
        if self._answers:
            return self._answers.pop(0)
        if self._zeros_left is not None:
            return self._zeros(view)
        if self._answers is not None:
            self.refuse(FaultKind.HOST_WORK, "it reads more numbers than when it was called with the same ones before")
        return self._ask(self.taken(asks=True))

    def _zeros(self, view: TensorView) -> tuple[Number, ...]:
        """Returns what is read where nothing is carried out; ends a call that waits for something else."""
        assert self._zeros_left is not None
        self._zeros_left -= 1
        if self._zeros_left < 0:
            self.refuse(FaultKind.HOST_WORK, "it reads more numbers than a call may")
        zero: Number = 0.0 if view.dtype in _FLOATS else 0
        return (zero,) * prod(view.shape)

    def taken(self, *, asks: bool = False, ended: Ended | None = None) -> Recorded:
        """Returns what was recorded since this was called last."""
        found = Recorded(tuple(self._steps), tuple(self._kernels), asks, self.refused or ended, self.configurations)
        self._steps, self._kernels = [], []
        return found

    def refuse(self, kind: FaultKind, message: str) -> None:
        """Ends the call: `message` says what it did. Never returns."""
        file, line = self.place()
        self.refused = self.refused or Ended(kind.value, message, file, line)
        raise RefusedError(self.refused)

    def place(self, frame: FrameType | None = None) -> tuple[str, int]:
        """Returns the file and line of the module that runs."""
        at = frame or sys._getframe(1)
        while at is not None:
            if at.f_code.co_filename in self._files:
                return at.f_code.co_filename, at.f_lineno
            at = at.f_back  # type: ignore[assignment]
        return "", 0


def dtype_name(dtype: torch.dtype) -> str:
    """Returns the name of a type of elements in a plan; one that plans do not have keeps torch's name."""
    return DTYPES[dtype].value if dtype in DTYPES else str(dtype).removeprefix("torch.")
