"""Runs an executable on a job in a process of its own, and reads what it left behind.

The executable confines itself (runtime/sandbox.cpp) and ends itself at its limits; this side only makes sure that
nothing outlives its time, and that whatever the result file holds becomes a `Run`.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from porter.branch_coverage import BranchCoverage, Side
from porter.contract.model.contract import EntryKind
from porter.execution.job import BuildRequest, Executable, Fault, FaultKind, Job, Limits, Run, TensorValue, unlaunchable
from porter.simt.branch_edits import INSTANCE
from porter.simt.layouts import gathered, room_bytes
from porter.simt.places import Place, find_places
from porter.simt.process import Ended, spawn
from porter.simt.protocol import Decoded, RawFault, coverage_of, decode_result, encode_job, widened

_GRACE_S = 5.0
_TEXT_BYTES = 4 << 20
_IN_MEMORY, _ROOM_BYTES = "/dev/shm", 4 << 30
SNAPSHOT_BYTES = 64 << 20
_NUMBER = re.compile(r"(?<!line )(?<!\d)\d+")
_OTHER_PLACE = re.compile(r"\{0x([0-9a-f]+)\}")
_DEADLY = {
    signal.SIGKILL: (FaultKind.RESOURCE, "killed: most likely the machine ran out of memory"),
    signal.SIGSYS: (
        FaultKind.RESOURCE,
        "a system call that is not allowed, made with signals blocked: starting a process",
    ),
}


def run(executable: Executable, job: Job, limits: Limits | None = None) -> Run:
    """Returns what came of `job`. Never raises for anything the executable does; every process it had is gone
    afterwards.
    """
    limits = limits or Limits()
    if refused := unlaunchable(job):
        return not_started(fatal(FaultKind.LAUNCH, refused))
    with suppress(OSError):  # a cache that this user only reads
        os.utime(Path(executable.path).parent)  # in use, however long ago it was built
    left = left_by(executable.path, _encoded(executable, job, limits), limits)
    given = widened(job) if executable.request.double_precision else job
    run = run_of(executable.request, executable.path, given, left, limits)
    return replace(run, coverage=coverage_by(executable.sides, left.decoded))


def run_of(request: BuildRequest, program: str, job: Job, left: Left, limits: Limits) -> Run:
    """Returns what a process of the executable `program`, built from `request`, left of `job`."""
    decoded = left.decoded
    outputs = _outputs(job, decoded) if decoded.finished else ()
    finished = decoded.finished and outputs is not None
    return Run(
        finished=finished,
        exit_code=1 if decoded.exit_code is None else decoded.exit_code,
        outputs=outputs or (),
        results=tuple(decoded.results) if finished else (),
        snapshots=tuple(decoded.snapshots),
        touched=tuple(decoded.touched),
        launches=tuple(decoded.launches),
        faults=faults_of(request, program, left, limits, whole=outputs is not None),
        stdout=left.stdout,
        stderr=left.stderr,
        seconds=left.ended.cpu_s,
    )


def faults_of(
    request: BuildRequest, program: str, left: Left, limits: Limits, *, whole: bool = True
) -> tuple[Fault, ...]:
    """Returns what a process of the executable `program` noted, and what ended it; its outputs are `whole`."""
    return (*_faults(request, program, left.decoded), *_ending(left, limits, whole=whole))


@dataclass(frozen=True, slots=True)
class Left:
    """Everything that a process left behind."""

    ended: Ended
    decoded: Decoded
    stdout: str
    stderr: str


def left_by(program: str, job: bytes, limits: Limits) -> Left:
    """Returns what the executable `program` leaves that is given the job file `job`."""
    with tempfile.TemporaryDirectory(prefix="porter-run-", dir=_scratch(), ignore_cleanup_errors=True) as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        (folder / "job").write_bytes(job)
        command = [program, str(folder / "job"), str(folder / "result"), str(work)]
        ended = spawn(command, work, folder / "stdout", folder / "stderr", limits.wall_s + _GRACE_S)
        decoded = decode_result(_read(folder / "result"))
        return Left(ended, decoded, _read_text(folder / "stdout"), _read_text(folder / "stderr"))


@cache
def _scratch() -> str | None:
    """Returns the folder for the files of runs: one in memory, where there is plenty, else the usual one.

    To remove the files of a run from a disk took 6 ms on a busy machine, a third of many a run.
    """
    if "TMPDIR" in os.environ:
        return None
    try:
        is_roomy = os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free >= _ROOM_BYTES
    except OSError:
        return None
    return _IN_MEMORY if is_roomy else None


def _encoded(executable: Executable, job: Job, limits: Limits) -> bytes:
    program = executable.callee.entry.kind is EntryKind.PROGRAM
    return encode_job(
        job,
        limits,
        entry=executable.index,
        snapshot_bytes=SNAPSHOT_BYTES if program else 0,
        double_precision=executable.request.double_precision,
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_TEXT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _ending(left: Left, limits: Limits, *, whole: bool) -> tuple[Fault, ...]:
    """The fault that ended a process which could not say so itself; none when it could."""
    ended = left.ended
    if left.decoded.exit_code is not None:
        return () if whole else (fatal(FaultKind.CRASH, "the result file is not whole"),)
    if ended.cpu_s > limits.cpu_s:
        return (fatal(FaultKind.TIMEOUT, "the time limit is reached"),)
    if ended.late:
        return (fatal(FaultKind.TIMEOUT, "the time limit is reached, most of it by waiting"),)
    if ended.code >= 0:
        return (fatal(FaultKind.CRASH, f"the program left no result (exit status {ended.code})"),)
    name = signal.strsignal(-ended.code) or f"signal {-ended.code}"
    return (fatal(*_DEADLY.get(signal.Signals(-ended.code), (FaultKind.CRASH, name))),)


def not_started(*faults: Fault) -> Run:
    """Returns what comes of a job that no process can be given."""
    return Run(
        finished=False, exit_code=1, outputs=(), results=(), snapshots=(), touched=(), launches=(), faults=faults,
        stdout="", stderr="", seconds=0.0,
    )  # fmt: skip


def fatal(kind: FaultKind, message: str) -> Fault:
    """A fault without a place that ended a run."""
    return Fault(kind, "", 0, "", message, fatal=True)


def _outputs(job: Job, decoded: Decoded) -> tuple[TensorValue, ...] | None:
    """The tensor arguments with the bytes that came back; None when these do not fit them."""
    tensors = [a for a in job.arguments if isinstance(a, TensorValue)]
    if len(tensors) != len(decoded.outputs):
        return None
    filled = []
    for tensor, raw in zip(tensors, decoded.outputs, strict=True):
        if len(raw) != (room_bytes(tensor) if tensor.layout else tensor.storage.nbytes):
            return None
        storage = gathered(np.frombuffer(raw, tensor.storage.dtype).copy(), tensor)
        filled.append(replace(tensor, storage=storage))
    return tuple(filled)


def coverage_by(known: Sequence[Side], decoded: Decoded) -> BranchCoverage:
    """The coverage that a process left whose executable has the sides that are `known` by their numbers."""
    sides = dict[Side, bool]()
    for mark in decoded.marks:
        if mark.number >= len(known):
            continue
        side = known[mark.number]
        if side.text == INSTANCE:
            side = replace(side, text=_named(mark.instance))
        sides[side] = sides.get(side, False) or mark.taken
    return coverage_of(sides)


def _named(signature: str) -> str:
    """`void k(const T*) [with T = float]` as `k [with T = float]`."""
    head, bracket, instance = signature.partition(" [with ")
    name = head.partition("(")[0].rpartition(" ")[2]
    return f"{name}{bracket}{instance}"


def _faults(request: BuildRequest, program: str, decoded: Decoded) -> list[Fault]:
    own = frozenset({str(request.source.path), *(str(header.path) for _, header in request.headers)})
    addresses = [a for f in decoded.faults for a in (*f.frames, *_addresses(f.message))]
    places = find_places(program, addresses, own)
    return _told_once(_placed(fault, places) for fault in decoded.faults)


def _told_once(faults: Iterable[Fault]) -> list[Fault]:
    """Returns faults of one place as one, if they differ in the thread and the byte alone.

    A compiler may make several accesses of the one that a line has, for threads on either side of a condition.
    """
    found = dict[tuple[object, ...], Fault]()
    for number, fault in enumerate(faults):
        alike = (fault.kind, fault.file, fault.line, fault.kernel, fault.fatal, _without_threads(fault.message))
        key = alike if fault.line else (number,)
        first = found.get(key)
        found[key] = replace(first, count=first.count + fault.count) if first is not None else fault
    return list(found.values())


def _without_threads(message: str) -> str:
    """Returns a message without its numbers, but for those of other lines and in the names of what was accessed."""
    parts = message.split("`")
    return "`".join(part if i % 2 else _NUMBER.sub("", part) for i, part in enumerate(parts))


def place_of(request: BuildRequest, program: str, frames: Sequence[int]) -> Place:
    """The innermost of the return addresses `frames` that lies in a file of the user's; line 0 where none does."""
    own = frozenset({str(request.source.path), *(str(header.path) for _, header in request.headers)})
    places = find_places(program, frames, own)
    return next((places[frame] for frame in frames if frame in places), Place("", 0))


def _addresses(message: str) -> list[int]:
    return [int(m, 16) for m in _OTHER_PLACE.findall(message)]


def _placed(fault: RawFault, places: Mapping[int, Place]) -> Fault:
    """The fault with file and line: those it came with, else of the innermost frame in the user's code."""
    found = next((places[a] for a in fault.frames if a in places), Place(fault.file, fault.line))

    def line_of(match: re.Match[str]) -> str:
        place = places.get(int(match[1], 16))
        return f"line {place.line}" if place else "an unknown line"

    message = _OTHER_PLACE.sub(line_of, fault.message)
    return Fault(fault.kind, found.file, found.line, fault.kernel, message, fault.count, fault.fatal)
