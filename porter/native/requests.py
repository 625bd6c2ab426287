"""Defines the questions to a native worker. They go in pickled; answers come back as bytes that nobody unpickles."""

from __future__ import annotations

from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.execution.job import Job
from porter.launch_plan.steps import Step

MOST_SETS = 32  # of buffers that a call is captured on; where it takes as many, the cache holds them
EXTENSION = "porter_original"  # the module that binds what an extension's source defines


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A call as its plan: the process that carries it out holds no host code of the candidate.

    `carrier` is the module of a backend whose `Carrier` does so, `kernels` are the texts as that takes them. `prepared`
    are the steps that make memory which calls keep, `steps` are those of a call. `returns` is the type of the number
    that it returns, if any.
    """

    carrier: str
    prepared: tuple[Step, ...]
    steps: tuple[Step, ...]
    kernels: tuple[object, ...]
    returns: DType | None = None


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """A function that `original.py` wrapped, in a shared library; `returns` is the type of the number it returns.

    With `tensors` it takes tensors, and may return them; else it takes addresses.
    """

    path: str
    symbol: str
    returns: DType | None = None
    tensors: bool = False


@dataclass(frozen=True, slots=True)
class ExtensionEntry:
    """A function of a PyTorch extension that `original.py` bound to Python, by its name there."""

    path: str
    name: str
    returns: DType | None = None


@dataclass(frozen=True, slots=True)
class ReferenceEntry:
    """The `reference` or `Model` of a Python file, eager or as `torch.compile` makes it.

    Arguments at the positions `written` are those it may change, those at `blank` hold nothing.
    """

    path: str
    compiled: bool = False
    written: tuple[int, ...] = ()
    blank: tuple[int, ...] = ()
    returns: DType | None = None


Entry = PlanEntry | LibraryEntry | ExtensionEntry | ReferenceEntry


@dataclass(frozen=True, slots=True)
class Execute:
    """Calls `entry` once with the arguments of `job`, and keeps the results until they are read.

    Arguments at the positions `host` are read by host code, too.
    """

    entry: Entry
    job: Job
    host: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Compile:
    """Compiles what `entry`, a reference that is compiled when it is called, takes for the arguments of `job`.

    Nothing is executed, and the tensors of `job` need no elements.
    """

    entry: ReferenceEntry
    job: Job


@dataclass(frozen=True, slots=True)
class Prepare:
    """Makes `entry` ready to be timed on `job`: the next arm."""

    entry: Entry
    job: Job
    host: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Sample:
    """Times the arms in `order`. With `captured` their graphs are replayed, else Python calls them."""

    order: tuple[int, ...]
    captured: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """Gives the buffers of `arm` the contents of `job`, replays its graphs once, and keeps the set `index` to be read.

    The answers are the times of a call in that set, which comes first, and of one in each other, in microseconds.
    """

    arm: int
    job: Job
    index: int


@dataclass(frozen=True, slots=True)
class Keep:
    """Launches the timed graphs of `arm` at least `launches` times, one after the other: the caller has a clock."""

    arm: int
    launches: int


@dataclass(frozen=True, slots=True)
class Read:
    """Reads the results of the last `Execute` or `Replay`; of large tensors the pages that `seed` draws."""

    seed: int


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Measures how many bytes a second a copy within the device's memory moves, counting read and written ones."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Gives back all arms, and all memory that nothing uses."""


Question = Execute | Compile | Prepare | Sample | Replay | Read | Keep | Bandwidth | Forget
