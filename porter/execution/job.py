"""The records that go to an executable built from CUDA or MACA source, and those that come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import prod

import numpy as np
from numpy.typing import NDArray

from porter.branch_coverage import NOT_MEASURED, BranchCoverage, Side
from porter.contract.model.contract import Entry, Layout
from porter.contract.model.dtype import DType
from porter.dialect import Dialect
from porter.source.program import CType
from porter.source.qualified import plain_callee
from porter.source_text import Source

_MOST_OF_DIM3 = 2**32 - 1


class Schedule(StrEnum):
    """The order in which the threads of a block, and the blocks of a grid, take their turns."""

    FORWARD = "forward"
    REVERSE = "reverse"
    SHUFFLED = "shuffled"


class MaskPolicy(StrEnum):
    """The answer of a warp operation when a lane in its mask never comes, or a lane reads one that is not there."""

    ERROR = "error"  # stop at once
    POISON = "poison"  # the lane reads garbage, a fault is noted
    IGNORE = "ignore"  # the lane reads its own value


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A row-major tensor: raw storage of `dtype` and its shape. A pointer argument is one, too.

    It is dense, but for an input with a `layout`, whose elements are given in other places (`layouts.py`); `storage`
    has them one behind the other all the same.

    At sizes for devices alone `storage` may be smaller than the shape: of an argument it is the pool that the rest is
    drawn from (`contract/workload/drawn.py`), of what comes back a sample, of the same places in every tensor of one
    job. One that is `null` is a null pointer, or None, and has no elements.
    """

    dtype: DType
    shape: tuple[int, ...]
    storage: NDArray[np.generic]
    null: bool = False
    layout: Layout | None = None

    @classmethod
    def none(cls, dtype: DType) -> TensorValue:
        """A null pointer to elements of `dtype`."""
        return cls(dtype, (0,), np.zeros(0, dtype.storage), null=True)

    @property
    def count(self) -> int:
        """Returns how many elements the tensor has."""
        return prod(self.shape)

    @property
    def is_whole(self) -> bool:
        """Returns whether `storage` has all of them."""
        return self.storage.size == self.count


@dataclass(frozen=True, slots=True)
class ScalarValue:
    """A number passed by value; the executable converts it to the parameter's type."""

    value: int | float


Value = TensorValue | ScalarValue


@dataclass(frozen=True, slots=True)
class Callee:
    """An entry that an executable can call. `parameters` are its types as written, which pick an overload.

    They are empty for a PROGRAM. `fields` are, for each parameter, those of a struct that are given one by one.
    """

    entry: Entry
    parameters: tuple[CType, ...] = ()
    fields: tuple[tuple[str, ...], ...] = ()


class Part(StrEnum):
    """The part of a source that becomes an executable: all, host code that plans launches, or the launched kernels."""

    WHOLE = "whole"
    HOST = "host"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """Everything an executable depends on; its digest is the cache key.

    `headers` are the local files `source` includes, by the name it includes them with. `watched` adds memory hooks:
    bounds, races, uninitialised reads, extents. `double_precision` compiles `float` as `double`: the yardstick for
    rounding. Of part HOST is what plans, with a program beside it that carries out: the road of code that is not
    trusted. `elsewhere` are pieces of other files that define what the source declares.
    """

    source: Source
    headers: tuple[tuple[str, Source], ...]
    dialect: Dialect
    callees: tuple[Callee, ...]
    warp_size: int
    watched: bool = True
    double_precision: bool = False
    defines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    part: Part = Part.WHOLE
    elsewhere: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """The resources that a run may use before it is killed.

    Its time is processor time: a run ends at the same place however busy the machine is. `wall_s` passes only where a
    process waits for what never comes, and has to be several times as long.
    """

    cpu_s: float = 20.0
    wall_s: float = 120.0
    memory_bytes: int = 4 << 30
    file_bytes: int = 256 << 20


@dataclass(frozen=True, slots=True)
class HardwareLimits:
    """Limits of the emulated device: a launch beyond them fails as it would there.

    `claimed_warp_size` is what host code is told; 0 for how wide the warps of the executable are.
    """

    max_threads: int = 1024
    claimed_warp_size: int = 0
    shared_bytes: int = 49152
    dynamic_shared_bytes: int = 232448


@dataclass(frozen=True, slots=True)
class Construction:
    """The way in which a class of a Python module is made callable: with the arguments in `initial`, a list as JSON.

    `state` are the names of its parameters, which stand behind the inputs among the arguments of a job.
    """

    initial: str
    state: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One run. `poison` is the byte that fills device memory before anything is written to it.

    `grid`, `block` and `shared_bytes` launch a KERNEL entry; other entries launch by themselves. `construction` is for
    what answers by a class. `before` are arguments of the same types and shapes that the executor calls the entry with
    first, in the same memory.
    """

    arguments: tuple[Value, ...] = ()
    schedule: Schedule = Schedule.FORWARD
    seed: int = 0
    poison: int = 0xFF
    mask_policy: MaskPolicy = MaskPolicy.POISON
    hardware: HardwareLimits = HardwareLimits()
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    shared_bytes: int = 0
    construction: Construction | None = None
    before: tuple[Value, ...] = ()


def unlaunchable(job: Job) -> str:
    """Returns why no device takes the launch that `job` asks for; empty where one may: a `dim3` holds 32 bits an
    axis.
    """
    for what, extents in (("grid", job.grid), ("block", job.block)):
        if not all(0 <= extent <= _MOST_OF_DIM3 for extent in extents):
            return f"a {what} of {'x'.join(map(str, extents))}"
    if not 0 <= job.shared_bytes <= _MOST_OF_DIM3:
        return f"{job.shared_bytes} bytes of dynamic shared memory"
    return ""


class FaultKind(StrEnum):
    """The faults that the executor can see. The first of them are numbered as in `fault.h`; others come behind."""

    LANE_OUTSIDE_MASK = "lane outside mask"  # a lane calls a warp operation whose mask leaves it out
    LANE_ABSENT = "lane absent"  # a lane in the mask never came, or a lane read one that takes no part
    DEADLOCK = "deadlock"  # a barrier that not all threads reach
    OUT_OF_BOUNDS = "out of bounds"
    RACE = "race"  # two threads touch one place without a barrier between them, one writing
    UNINITIALISED = "uninitialised read"
    LAUNCH = "launch failed"  # too many threads, too much shared memory, empty grid
    HOST_CHECK = "check failed"  # TORCH_CHECK, assert or an exception in host code
    DEVICE_ASSERT = "device assert"
    MISALIGNED = "misaligned access"
    CRASH = "crash"  # a signal
    TIMEOUT = "timeout"
    RESOURCE = "resource limit"  # memory, file size, processes or network refused
    UNDEFINED = "not defined"  # a function or variable that another file of the program defines
    LIBRARY = "library operator"  # a result that an operator of a library computed
    DECOY = "decoy launch"  # a result that no launch of this call wrote
    RESULT = "unusual result"  # one that is no plain tensor
    KEPT = "kept answer"  # a result of an earlier call
    REPLACED = "judge replaced"  # a name that judges holds something else
    REACHED = "way out"  # the insides of the process, files, the system
    HOST_WORK = "work of the host"  # the host computed what a kernel was to
    FORGED = "forged answer"  # an answer that the judge's own code did not write
    UNKNOWN = "not executed here"  # something that a device has and the executor does not
    UNPUBLISHED = "not published"  # a store of another block, with no fence before the atomic that tells of it
    UNACQUIRED = (
        "not acquired"  # a read of what another block stored, with no fence after the atomic by which it learned of it
    )
    UNFIT = "number out of range"  # a float becomes a whole number of a type that does not hold it
    SHIFTED = "shift out of range"  # by at least as many bits as the number has
    STOPPED = "grid that stops growing"  # of a call that is not executed: as large as in a smaller call


# The work is not the candidate's own, whatever its numbers.
DISHONEST = frozenset(
    (FaultKind.LIBRARY, FaultKind.DECOY, FaultKind.RESULT, FaultKind.KEPT, FaultKind.REPLACED, FaultKind.REACHED,
     FaultKind.HOST_WORK, FaultKind.FORGED)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault with its place in the user's source: `line` is 0 where none is known.

    Faults that differ in numbers alone have the same `about`, where there is one.
    """

    kind: FaultKind
    file: str
    line: int
    kernel: str
    message: str
    count: int = 1
    fatal: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """One launch as it happened; `kernel` is its callee as written: `ns::softmax<float, 4>`, or a variable."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    line: int

    @property
    def plain_name(self) -> str:
        """The callee without its namespaces and template arguments: `softmax`."""
        return plain_callee(self.kernel)


@dataclass(frozen=True, slots=True)
class Touched:
    """The bytes of a tensor argument that kernels touched: `[0, end)` read before written, and written; 0 for neither.

    `beyond` counts accesses past the allocation: then the extent given was too small.
    """

    read_end: int
    written_end: int
    beyond: int


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a run. `finished` is False when the executable died, hung or threw; then `outputs` is empty.

    `outputs` holds the tensor arguments after the run in call order, `results` the returned tensors, `snapshots` for a
    PROGRAM the device buffers after each launch. `touched` is filled by watched executables, `coverage` where sides of
    branches are marked. `seconds` are of processor time.
    """

    finished: bool
    exit_code: int
    outputs: tuple[TensorValue, ...]
    results: tuple[TensorValue, ...]
    snapshots: tuple[tuple[NDArray[np.uint8], ...], ...]
    touched: tuple[Touched, ...]
    launches: tuple[LaunchRecord, ...]
    faults: tuple[Fault, ...]
    stdout: str
    stderr: str
    seconds: float
    coverage: BranchCoverage = NOT_MEASURED


@dataclass(frozen=True, slots=True)
class BuildFailure:
    """The first compiler error, at a line of the user's source where it has one, and the whole log.

    `alone` is the error of the entry without what it does not mention, where that does not build either.
    """

    message: str
    file: str
    line: int
    log: str
    alone: str = ""

    @property
    def placed(self) -> str:
        """The message behind its place."""
        return f"{self.file}:{self.line}: {self.message}" if self.line else self.message


@dataclass(frozen=True, slots=True)
class DeviceProgram:
    """The kernels of a source alone, built: `kernels` are their symbols, in the order in which it knows them.

    `sides` are those of their branches by their numbers. `variables` are the symbols of what kernels mention of the
    source's static storage: it lasts from one launch to the next. `others` are those of what stands beside it.
    """

    path: str
    kernels: tuple[str, ...]
    sides: tuple[Side, ...] = ()
    variables: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Executable:
    """A built source, and which of its request's callees a job runs: those built together share `path`.

    Where the source does not build as it is, and its callee does without functions that it does not call, `failure` is
    why, and `absent` are headers that are not there and were treated as empty. One that only plans has `device` to
    carry the plans out. `sides` are those of its branches by their numbers, as far as they are marked.
    """

    path: str
    digest: str
    request: BuildRequest
    index: int
    failure: BuildFailure | None = None
    absent: tuple[str, ...] = ()
    device: DeviceProgram | None = None
    sides: tuple[Side, ...] = ()

    @property
    def callee(self) -> Callee:
        """Returns what a job runs."""
        return self.request.callees[self.index]


Built = Executable | BuildFailure
Execute = Callable[[Job], Run]
