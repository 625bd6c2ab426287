"""Runs the parent's side of a native worker: sends questions, gets bytes back, replaces a lost worker."""

from __future__ import annotations

import hashlib
import json
import pickle
import struct
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from porter.errors import MachineError
from porter.execution.job import FaultKind, Job, Limits, Run
from porter.native.library import device_library
from porter.native.pages import sampled_bytes
from porter.native.requests import (
    Bandwidth,
    Compile,
    Entry,
    Execute,
    Forget,
    Keep,
    Prepare,
    Question,
    Read,
    ReferenceEntry,
    Replay,
    Sample,
)
from porter.simt.bounded_folder import BoundedFolder
from porter.worker.child import Child, Death
from porter.worker.run import ended, run_of

_RECORDS = b"PORTRES1"
# After these the device's context, or the process, is not to be trusted.
_LOST = frozenset((FaultKind.OUT_OF_BOUNDS, FaultKind.MISALIGNED, FaultKind.DEVICE_ASSERT, FaultKind.CRASH))
_ENVIRONMENT = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}  # its helpers talk through sockets, which a worker has not
_KERNELS_BYTES = 2 << 30  # of what Triton compiled, for all candidates together
_PASSED_ON = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")


_STARTERS = ThreadPoolExecutor(4)
_NO_JOB = Job()


class CandidateError(Exception):
    """A question got no answer because of the candidate; `run` says what it did."""

    def __init__(self, run: Run) -> None:
        super().__init__(next((f.message for f in run.faults), "no answer"))
        self.run = run


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The device of a session, and the versions of what runs on it."""

    name: str
    uuid: str
    multiprocessors: int
    l2_bytes: int
    memory_bytes: int
    torch: str
    triton: str
    cuda: str
    capability: tuple[int, int]

    @property
    def arch(self) -> str:
        """The architecture as compilers name it: sm_90."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


@dataclass(frozen=True, slots=True)
class Prepared:
    """An arm: `uncaptured` says why its call is no graph, `beside` what else its process does.

    `own` and `others` are the kernels of one call, compiled by Triton in the process, and from libraries.
    """

    arm: int
    uncaptured: str
    sets: int
    own: tuple[str, ...]
    others: tuple[str, ...]
    beside: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a call on buffers with new contents, and its times where no answer was there before.

    The times are in microseconds: one for the first call, and one for a call in each other set of buffers. A time is 0
    where the call did not finish.
    """

    run: Run
    alone_us: float = 0.0
    later_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that all workers share: `cache`, the folder of builds, and the `environment` for the driver.

    `secret` and a job's seed draw the pages of its large tensors that are looked at.
    """

    cache: Path
    limits: Limits
    environment: Mapping[str, str]
    secret: bytes


class Session:
    """A worker on the device, for one candidate, started by the first question; `work` is an empty folder of its own.

    Kernels compiled by Triton are kept separately for each `content`, since candidates write there; in the folder
    `kernels`, if that is given.
    """

    def __init__(self, work: Path, settings: Settings, content: str = "", kernels: Path | None = None) -> None:
        cache, environment = settings.cache, settings.environment
        self._work, self._limits, self._secret = work, settings.limits, settings.secret
        digest = hashlib.blake2b(content.encode(), digest_size=12).hexdigest()
        own = kernels or BoundedFolder(cache / "native" / "kernels", _KERNELS_BYTES).made(digest, lambda _: None)
        self._folders = cache / "native" / "triton", own
        self._environment = {name: environment[name] for name in _PASSED_ON if name in environment}
        self._library = device_library(cache)
        self._child: Child | None = None
        self._starting: Future[Child] | None = None
        self._facts: DeviceFacts | None = None
        self._copy_bytes_per_s = 0.0
        self._turn, self._opening = Lock(), Lock()
        self._arms = 0

    def start(self) -> None:
        """Begins to start the process, so that others can meanwhile; it uses the device only once it is asked."""
        with self._turn:
            if self._child is None:
                self._starting = self._starting or _STARTERS.submit(self._started)

    def wait(self) -> None:
        """Waits until there is a process, which does not use the device yet. Raises `MachineError` if none starts."""
        self.start()
        if self._starting is not None:
            self._starting.result()

    def begin(self) -> None:
        """Lets the process take the device, if it has not. Raises `MachineError` where there is none to be used."""
        self._ready()

    @property
    def is_ready(self) -> bool:
        """Returns whether there is a process, with all arms that were prepared."""
        return self._child is not None

    @property
    def facts(self) -> DeviceFacts:
        """The device. Raises `MachineError` where there is none that can be used."""
        self._ready()
        assert self._facts is not None
        return self._facts

    def run(self, entry: Entry, job: Job, host: frozenset[int] = frozenset()) -> Run:
        """Returns the run of one call. Never raises for anything a candidate does."""
        run, _ = self._run(Execute(entry, job, host))
        return run

    def compile(self, entry: ReferenceEntry, job: Job) -> None:
        """Compiles what a call of `entry` takes; the device executes nothing. Raises `CandidateError`."""
        self._ask(Compile(entry, job))

    def prepare(self, entry: Entry, job: Job, host: frozenset[int] = frozenset()) -> Prepared:
        """Prepares the next arm. Raises `CandidateError`, after which there are no arms any more."""
        told = self._told(self._ask(Prepare(entry, job, host)))
        self._arms += 1
        return Prepared(
            arm=self._arms - 1,
            uncaptured=str(told["uncaptured"]),
            sets=int(told["sets"]),
            own=tuple(map(str, told["own"])),
            others=tuple(map(str, told["others"])),
            beside=str(told["beside"]),
        )

    def forget(self) -> None:
        """Drops all arms, and gives back memory that nothing uses. Raises `CandidateError`."""
        if self._child is not None:
            self._ask(Forget())
        self._arms = 0

    def copy_bytes_per_s(self) -> float:
        """Returns how many bytes a copy within the device's memory moves, reads and writes; measured once."""
        self._copy_bytes_per_s = self._copy_bytes_per_s or self._numbers(self._ask(Bandwidth()), 1)[0]
        return self._copy_bytes_per_s

    def sample(self, order: tuple[int, ...], *, captured: bool) -> list[float]:
        """Returns the device time of one call of each arm of `order`, in microseconds. Raises `CandidateError`."""
        return self._numbers(self._ask(Sample(order, captured)), len(order))

    def replay(self, arm: int, job: Job, index: int) -> Replayed:
        """Returns what the timed graphs of `arm` make of `job`, in the set `index` of its buffers."""
        if arm >= self._arms:
            return Replayed(_malformed("the process that was timed is gone"))
        run, answer = self._run(Replay(arm, job, index))
        return Replayed(run, *self._numbers(answer, 2)) if run.finished else Replayed(run)

    def keep(self, arm: int, launches: int) -> tuple[float, float]:
        """Returns the device time of many calls of `arm` by itself and by the clock here, in microseconds each."""
        began = time.monotonic()
        total, count = self._numbers(self._ask(Keep(arm, launches)), 2)
        return total / count, (time.monotonic() - began) * 1e6 / count

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._starting is not None:
            with suppress(MachineError):  # its waiter has the error
                self._child = self._starting.result()
            self._starting = None
        if self._child is not None:
            self._child.end()
            self._child = None
        self._arms = 0

    def _run(self, question: Execute | Replay) -> tuple[Run, bytes]:
        """Returns the run, looked at where nobody could know before that it would be, and the answer."""
        began, job = time.monotonic(), question.job
        drawn = hashlib.blake2b(self._secret + str(job.seed).encode(), digest_size=8).digest()
        seed = int.from_bytes(drawn, "little")
        held = partial(sampled_bytes, seed=seed)
        try:
            told = self._ask(question)
            answer = self._ask(Read(seed), job, held)
        except CandidateError as failed:
            return failed.run, b""
        return run_of(answer, job, time.monotonic() - began, held), told

    def _ask(self, question: Question, job: Job = _NO_JOB, held: Callable[[int], int] = int) -> bytes:
        """Returns the answer; if it is the run of `job`, only so many bytes of its tensors are `held`."""
        child = self._ready()
        answer = child.ask(pickle.dumps(question), parts=1)
        if isinstance(answer, Death):
            self._child, self._arms = None, 0
            raise CandidateError(ended(answer, self._limits.cpu_s))
        (told,) = answer
        if not told.startswith(_RECORDS):
            return told
        run = run_of(told, job, 0.0, held)
        if not run.finished and any(f.fatal and f.kind in _LOST for f in run.faults):
            self.close()
        if not run.finished:
            raise CandidateError(run)
        return told

    def _ready(self) -> Child:
        with self._opening:  # which may have been begun by another thread
            if self._child is None:
                self.start()
                assert self._starting is not None
                child = self._starting.result()
                self._open(child)
                self._child, self._starting = child, None
            return self._child

    def _started(self) -> Child:
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self._work))
        child = Child(
            "porter.native.worker",
            list(map(str, (self._library, *self._folders))),
            place,
            self._limits,
            {**self._environment, **_ENVIRONMENT},
            resident=True,
            forked=True,
            sealed=True,
        )
        if death := child.begin():
            raise MachineError(f"the device cannot be used: {death.message[-500:]}", "`nvidia-smi` shows its state")
        return child

    def _open(self, child: Child) -> None:
        """Lets the process take the device. Raises `MachineError` where it cannot."""
        answer = child.ask(b"", parts=1)
        if isinstance(answer, Death):
            raise MachineError(f"the device cannot be used: {answer.message[-500:]}", "`nvidia-smi` shows its state")
        facts = json.loads(answer[0])
        self._facts = DeviceFacts(**{**facts, "capability": tuple(facts["capability"])})

    def _told(self, answer: bytes) -> Mapping[str, Any]:
        try:
            told = json.loads(answer)
        except ValueError:
            raise CandidateError(_malformed("the worker's answer is not JSON")) from None
        if not isinstance(told, dict) or not {"uncaptured", "sets", "own", "others", "beside"} <= told.keys():
            raise CandidateError(_malformed("the worker's answer is not whole"))
        return told

    def _numbers(self, answer: bytes, count: int) -> list[float]:
        if len(answer) != 8 * count:
            raise CandidateError(_malformed("the worker's answer is not whole"))
        return list(struct.unpack(f"<{count}d", answer))


def _malformed(message: str) -> Run:
    return ended(Death(FaultKind.CRASH, message), 0.0)
