"""Decides whether the steps of a call may be carried out, one after the other; restores what an earlier call left.

Who wrote a plan is not trusted. A view lies in its buffer, numbers are new, a cast computes nothing, the results are
this call's. Memory that a call keeps for a later one holds there what its own steps gave it which reached no argument:
a workspace holds nothing, a counter that was cleared zero, a table what its kernel wrote. So no answer is kept. What a
class made of its own parameters alone, such as packed weights, is made again of those of the call.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind
from porter.launch_plan.library_work import LibraryWork, PlanRefusedError
from porter.launch_plan.ordering import Ordering
from porter.launch_plan.steps import (
    Allocate,
    Compute,
    Constant,
    Fill,
    Input,
    Launch,
    Move,
    Read,
    Return,
    Step,
    TensorView,
)
from porter.launch_plan.views import extent_bytes, item_bytes, kernels_of, made, used, written

MOST_STEPS = 20_000
MOST_READ = 64  # numbers that one call may look at: decisions, not data
MOST_HANDED_ON = 4  # floats that the host may read of the device and pass to a launch, such as a scale
MOST_CONSTANT_BYTES = 4 << 20  # tables that the host makes from sizes, which no timing counts
_MOST_RANK = 32
_MOST_BLOCKS = ((1 << 31) - 1, 65_535, 65_535)
_MOST_NUMBER = 1 << 62
_DTYPES = frozenset(dtype.value for dtype in DType)


@dataclass
class _Buffer:
    """The facts known of a buffer: `call` made it; `argument` is its number among those of the call, if it is one.

    `reaches` says that something of an argument may be in it, `dtypes` as what it was used.
    """

    size_bytes: int
    call: int
    argument: int | None = None
    reaches: bool = False
    dtypes: set[str] = field(default_factory=set)


class Admission:
    """Admits the steps of one call of a candidate after the other."""

    def __init__(self) -> None:
        self._library = LibraryWork()
        self._buffers: dict[int, _Buffer] = {}
        self._history: list[Step] = []  # the steps so far that reach no argument
        self._call = 0
        self._arguments: Mapping[int, int] = {}
        self._parameters: frozenset[int] = frozenset()
        self._kernels: frozenset[str] = frozenset()
        self._restored: set[int] = set()
        self._remembered: set[int] = set()
        self._ordering = Ordering()
        self._steps = self._read = self._floats_read = self._constant_bytes = 0
        self._looked = False
        self._reads = 0
        self._whole: set[int] = set()

    def begin(
        self,
        arguments: Mapping[int, int],
        permitted: frozenset[str] = frozenset(),
        parameters: frozenset[int] = frozenset(),
    ) -> None:
        """A call begins; `arguments` has the size in bytes of each that is a tensor.

        `permitted` are the operators of the library that the original's own host code applies, `parameters` the
        arguments that a class is built with, and does not take with each call.
        """
        self._library.permitted, self._parameters = permitted, parameters
        self._call += 1
        self._arguments = arguments
        self._restored, self._remembered = set(), set()
        self._ordering = Ordering()
        self._steps = self._read = self._floats_read = self._constant_bytes = 0
        self._looked = False
        self._reads = 0
        self._whole = set()

    def know(self, kernels: Sequence[str]) -> None:
        """Launches may name these kernels from here on."""
        self._kernels |= frozenset(kernels)

    @property
    def looked(self) -> bool:
        """Returns True where the call has read what it may not hand on.

        That is what a library made of floats, such as the place of the largest, and more floats than a few.
        """
        return self._looked

    @property
    def remembered(self) -> frozenset[int]:
        """The parameters of which the call uses what an earlier one made."""
        return frozenset(self._remembered)

    @property
    def whole(self) -> frozenset[int]:
        """The reads of the call, by their numbers, of integers that a library made of floats."""
        return frozenset(self._whole)

    def is_launched(self, buffer: int) -> bool:
        """Returns True where a launch of any call may have written what is in `buffer`."""
        return self._library.is_launched(buffer)

    def admit(self, step: Step) -> tuple[Step, ...]:
        """Admits a step; returns those that first have to restore kept memory. Raises `PlanRefusedError`."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise PlanRefusedError(FaultKind.RESOURCE, f"one call has more than {MOST_STEPS} steps")
        for buffer in made(step):
            self._make(buffer, step)
        line = step.line if isinstance(step, Launch) else 0
        for view in used(step):
            self._check_view(view, line)
        self._check(step)
        self._library.check(step)
        if ordering := self._ordering.broken_by(step):
            raise PlanRefusedError(FaultKind.RACE, ordering, line)
        restoring = tuple(self._restoring(step))
        self._follow(step)
        self._library.follow(step)
        return restoring

    def _make(self, number: int, step: Step) -> None:
        old = self._buffers.get(number)
        again = isinstance(step, Input) and old is not None and old.argument is not None and old.call < self._call
        if old is not None and not again:
            raise PlanRefusedError(FaultKind.CRASH, f"buffer {number} is made twice")
        match step:
            case Input(argument=argument):
                if argument not in self._arguments:
                    raise PlanRefusedError(FaultKind.CRASH, f"argument {argument} is not a tensor")
                reaches = argument not in self._parameters
                self._buffers[number] = _Buffer(self._arguments[argument], self._call, argument, reaches=reaches)
            case Allocate(size_bytes=size):
                if not 0 <= size < _MOST_NUMBER:
                    raise PlanRefusedError(FaultKind.RESOURCE, f"it allocates {size} bytes")
                self._buffers[number] = _Buffer(size, self._call)
            case Constant(content=content):
                self._buffers[number] = _Buffer(self._constant(content), self._call)
            case Compute(results=results):
                view = next(result for result in results if result.buffer == number)
                self._check_shape(view)
                self._buffers[number] = _Buffer(extent_bytes(view)[1], self._call)

    def _constant(self, content: str) -> int:
        try:
            size = len(base64.b64decode(content, validate=True))
        except (binascii.Error, ValueError):
            raise PlanRefusedError(FaultKind.CRASH, "a constant is not in base 64") from None
        self._constant_bytes += size
        if self._constant_bytes > MOST_CONSTANT_BYTES:
            most = f"more than {MOST_CONSTANT_BYTES >> 20} MiB in one call"
            raise PlanRefusedError(FaultKind.HOST_WORK, f"the host makes {most}, which no kernel computed")
        if self._looked:
            raise PlanRefusedError(
                FaultKind.HOST_WORK, "the host makes a tensor after it has read numbers of the device"
            )
        return size

    def _check_view(self, view: TensorView, line: int) -> None:
        self._check_shape(view)
        buffer = self._buffers.get(view.buffer)
        if buffer is None:
            raise PlanRefusedError(FaultKind.CRASH, f"buffer {view.buffer} was never made", line)
        if buffer.argument is not None and buffer.call != self._call:
            raise PlanRefusedError(FaultKind.KEPT, "it uses an argument of an earlier call", line)
        if extent_bytes(view)[1] > buffer.size_bytes:
            raise PlanRefusedError(FaultKind.OUT_OF_BOUNDS, "a tensor reaches beyond its memory", line)
        buffer.dtypes.add(view.dtype)

    def _check_shape(self, view: TensorView) -> None:
        numbers = (*view.shape, *view.strides, view.offset, view.buffer)
        if view.dtype not in _DTYPES or len(view.shape) != len(view.strides) or len(view.shape) > _MOST_RANK:
            raise PlanRefusedError(FaultKind.RESULT, f"a tensor of {view.dtype} with rank {len(view.shape)}")
        if min(numbers, default=0) < 0 or max(numbers) > _MOST_NUMBER:
            raise PlanRefusedError(FaultKind.CRASH, "a tensor has impossible sizes")

    def _check(self, step: Step) -> None:
        match step:
            case Fill(to):
                _check_written_once(to)
            case Move(to, source):
                self._check_move(to, source)
            case Launch(kernel, grid):
                named = {kernel, *(name for _, a in step.arguments for name in kernels_of(a))}
                if missing := named - self._kernels:
                    raise PlanRefusedError(FaultKind.CRASH, f"kernel {min(missing)!r} is not known", step.line)
                if min(grid) < 0 or any(extent > most for extent, most in zip(grid, _MOST_BLOCKS, strict=True)):
                    raise PlanRefusedError(FaultKind.LAUNCH, f"no device takes the grid {grid}", step.line)
            case Read(source):
                self._check_read(step, source)
            case Return():
                self._check_results(step)
            case Compute(results=results):
                for result in results:
                    self._check_shape(result)

    def _check_move(self, to: TensorView, source: TensorView) -> None:
        if to.shape != source.shape:
            raise PlanRefusedError(FaultKind.CRASH, f"a move from {source.shape} to {to.shape}")
        _check_written_once(to)
        self._check_not_kept(source, "copies")
        if self._computes(to, source):
            raise PlanRefusedError(
                FaultKind.LIBRARY, f"the library turns {source.dtype} into {to.dtype}, which is a computation"
            )

    def _computes(self, to: TensorView, source: TensorView) -> bool:
        """Returns True for casts that truncate, and for those of bits that were taken for numbers of another type."""
        if to.dtype == source.dtype or {"to", "_to_copy", "copy_"} & self._library.permitted:
            return False
        gives, takes = DType(to.dtype), DType(source.dtype)
        if gives.is_float and takes.is_float:
            return False
        if not takes.is_float:
            return gives.is_float and len(self._buffers[source.buffer].dtypes) > 1
        return True

    def _check_not_kept(self, source: TensorView, does: str) -> None:
        """Raises where `source` lies in memory that an earlier call filled with what came of its arguments.

        Once this call has used such memory, that was restored, and holds what this call's own steps gave it since.
        """
        buffer = self._buffers[source.buffer]
        if buffer.call != self._call and buffer.reaches and source.buffer not in self._restored:
            raise PlanRefusedError(FaultKind.KEPT, f"it {does} what an earlier call left")

    def _check_read(self, step: Read, source: TensorView) -> None:
        self._check_not_kept(source, "reads")
        count = 1
        for extent in source.shape:
            count *= extent
        self._read += count
        if self._read > MOST_READ:
            raise PlanRefusedError(
                FaultKind.HOST_WORK,
                f"the host reads {self._read} numbers of the device in one call; {MOST_READ} are allowed",
            )
        is_float = DType(source.dtype).is_float
        self._floats_read += count if is_float else 0
        if self._library.is_made_of_floats(step) and not is_float and source.dtype != DType.BOOL.value:
            self._whole.add(self._reads)
        self._reads += 1
        if self._whole or (is_float and (self._library.is_made(step) or self._floats_read > MOST_HANDED_ON)):
            self._looked = True

    def _check_results(self, step: Return) -> None:
        for result in used(step):
            if self._buffers[result.buffer].call != self._call:
                raise PlanRefusedError(FaultKind.KEPT, "the result lies in the memory of an earlier call")

    def _restoring(self, step: Step) -> Iterator[Step]:
        """The steps that give kept memory which `step` is the first of the call to use what it holds at its begin."""
        wanted = {view.buffer for view in used(step)}
        kept = {b for b in wanted if self._buffers[b].call != self._call} - self._restored
        if not kept:
            return
        again: list[Step] = []
        for old in reversed(self._history):
            if kept.isdisjoint((*made(old), *(view.buffer for view in written(old)))):
                continue
            again.append(old)
            kept |= {view.buffer for view in used(old)} - self._restored
        self._restored |= kept
        self._remembered.update(old.argument for old in again if isinstance(old, Input))
        yield from reversed(again)

    def _follow(self, step: Step) -> None:
        """Keeps in mind what reaches an argument, and the steps that do not."""
        touched = {view.buffer for view in used(step)}
        reaches = any(self._buffers[b].reaches for b in touched)
        for view in written(step):
            self._buffers[view.buffer].reaches |= reaches
        mine = all(self._buffers[b].call == self._call for b in touched)
        lasts = step.argument in self._parameters if isinstance(step, Input) else not isinstance(step, (Read, Return))
        if not reaches and mine and lasts:
            self._history.append(step)


def _check_written_once(to: TensorView) -> None:
    """Raises where two elements of `to` may lie at one place."""
    reach = 0
    for extent, stride in sorted(zip(to.shape, to.strides, strict=True), key=lambda pair: pair[1]):
        if extent > 1 and stride <= reach:
            raise PlanRefusedError(FaultKind.CRASH, "it writes a tensor whose elements overlap")
        reach += max(0, extent - 1) * stride


def size_bytes(view: TensorView) -> int:
    """The bytes of the elements of `view`."""
    count = item_bytes(view.dtype)
    for extent in view.shape:
        count *= extent
    return count
