"""Runs in the process that holds the device: calls entries, reads back bytes, times. It knows no right answers.

`serve([LIBRARY, OWN, KERNELS])`, in a process forked from one that has imported all this
(`porter/worker/fork_server.py`): questions (`requests.py`) on standard input, an answer to each on standard output.
LIBRARY is `device.cpp` compiled; Triton keeps what it needs itself in OWN, a candidate's kernels in KERNELS, which is
all that candidates can write to.
"""

from __future__ import annotations

import _thread
import gc
import json
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import triton
from triton.runtime.cache import triton_key

from porter.contract.model.dtype import DType
from porter.execution.job import Fault, FaultKind, LaunchRecord, TensorValue
from porter.native.capture import Arm, sampled
from porter.native.device import Device, DeviceError, NodeType
from porter.native.entries import Entries, HostError, results, tensors
from porter.native.memory import Arguments, GuardError, without_memory
from porter.native.requests import (
    Bandwidth,
    Compile,
    Execute,
    Forget,
    Keep,
    PlanEntry,
    Prepare,
    Question,
    Read,
    Replay,
    Sample,
)
from porter.sandbox.confine import confine
from porter.worker.frames import SEAL_BYTES, read_frame, write_frame
from porter.worker.records import encode_failure, encode_result

_PER_THREAD = 2  # CU_STREAM_PER_THREAD: where originals built for it, PyTorch and Triton launch alike
_DEVICE_FILES = tuple(Path("/dev").glob("nvidia*"))
_OF_MESSAGE = {
    "illegal memory access": FaultKind.OUT_OF_BOUNDS,
    "illegal address": FaultKind.OUT_OF_BOUNDS,
    "misaligned": FaultKind.MISALIGNED,
    "device-side assert": FaultKind.DEVICE_ASSERT,
    "out of memory": FaultKind.RESOURCE,
    "out of resource": FaultKind.LAUNCH,
    "invalid configuration": FaultKind.LAUNCH,
    "too many resources": FaultKind.LAUNCH,
}
_NO_SIZE = (0, 0, 0)


def prepare() -> None:
    """Does what every worker needs without a device, since a process that has one cannot be forked."""
    torch.set_num_threads(1)
    triton_key()  # the first launch asks for this hash of Triton's own files, which takes 0.4 s
    np.seterr(all="ignore")


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what candidates print must not end up between frames
    library, own, kernels = map(Path, arguments)
    write_frame(replies, b"")  # all work without the device is done: another process may have it
    if (begin := read_frame(sys.stdin.buffer)) is None:
        return
    device = Device(library)
    _start_torch(own)
    server = _Server(device)
    triton.knobs.cache.dir = str(kernels)
    confine(Path.cwd(), kernels, programs=True, files=_DEVICE_FILES)
    write_frame(replies, begin[:SEAL_BYTES] + json.dumps(server.described()).encode())
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        write_frame(replies, frame[:SEAL_BYTES] + server.answer(pickle.loads(frame[SEAL_BYTES:])))


def _start_torch(cache: Path) -> None:
    """Does all that PyTorch and Triton do once, and makes the stream for all later launches."""
    torch.cuda.init()  # type: ignore[no-untyped-call]
    torch.cuda.set_stream(torch.cuda.ExternalStream(_PER_THREAD))  # type: ignore[no-untyped-call]
    torch.zeros(1, device="cuda").cpu()
    triton.knobs.cache.dir = str(cache)
    _ = triton.runtime.driver.active.utils  # compiled by the host's compiler where it is not in the cache


class _Server:
    def __init__(self, device: Device) -> None:
        self._device = device
        self._entries = Entries()
        self._arms: list[Arm] = []
        self._launched: list[str] = []
        self._result: Callable[[int], bytes] = lambda _: b""
        self._functions: dict[int, str] = {}
        self._last: list[torch.Tensor] = []  # kept alive, so that their memory is not given away
        self._threads = _thread._count
        triton.knobs.runtime.launch_enter_hook.add(self._note_launch)
        triton.knobs.runtime.kernel_load_end_hook.add(self._note_kernel)

    def described(self) -> dict[str, object]:
        """Returns the device, and the versions of the software on it."""
        d = self._device.described
        versions = {"torch": torch.__version__, "triton": triton.__version__, "cuda": torch.version.cuda}
        facts = {name: getattr(d, name) for name in ("name", "uuid", "multiprocessors", "l2_bytes", "memory_bytes")}
        return {**facts, **versions, "capability": d.capability}

    def answer(self, question: Question) -> bytes:
        """Returns the answer; an error that a candidate raises is an answer, too."""
        answers: dict[type, Callable[..., bytes]] = {
            Execute: self._execute, Prepare: self._prepare, Sample: self._sample, Replay: self._replay,
            Read: self._read, Keep: self._keep, Bandwidth: self._bandwidth, Forget: self._forget,
            Compile: self._compile,
        }  # fmt: skip
        if not isinstance(question, Read):
            self._launched = []
        try:
            return answers[type(question)](question)
        except Exception as error:  # noqa: BLE001 - whatever is raised while a candidate runs is its answer
            return encode_failure(self._records(), [_fault(error, self._is_lost())])

    def _is_lost(self) -> bool:
        try:
            self._device.synchronize()
        except DeviceError:
            return True
        return False

    def _execute(self, asked: Execute) -> bytes:
        arguments = Arguments(self._device, asked.job.arguments, asked.host)
        try:
            returned = self._entries.call(asked.entry, asked.job)(arguments.passed)
            self._device.synchronize()
            if isinstance(asked.entry, PlanEntry):
                self._check_results(list(tensors(returned)))
        except BaseException:
            if not self._is_lost():
                arguments.free()
            raise
        self._keep_result(arguments.read, returned, asked.entry.returns, arguments.free)
        return b""

    def _compile(self, asked: Compile) -> bytes:
        self._entries.reference(asked.entry).compile(without_memory(asked.job.arguments))
        return b""

    def _keep_result(
        self,
        arguments: Callable[[int], list[TensorValue]],
        returned: object,
        number: DType | None,
        free: Callable[[], None],
    ) -> None:
        """Keeps the result whole: nobody has said yet at which places it is looked at."""

        def read(seed: int) -> bytes:
            try:
                found = list(results(returned, number, seed))
                return encode_result(self._records(), (), arguments(seed), found)
            finally:
                if not self._is_lost():
                    free()

        self._result = read

    def _read(self, asked: Read) -> bytes:
        read, self._result = self._result, lambda _: b""
        return read(asked.seed)

    def _check_results(self, returned: list[torch.Tensor]) -> None:
        """Raises unless results are plain tensors of the device, in memory that the call before did not return."""
        if any(type(t) is not torch.Tensor for t in returned):
            raise TypeError("the result is not a plain tensor")
        if any(not t.is_cuda for t in returned if t.numel()):
            raise TypeError("the result lies in memory of the host")
        taken = {t.untyped_storage().data_ptr() for t in self._last if t.numel()}
        if any(t.untyped_storage().data_ptr() in taken for t in returned):
            raise RuntimeError("the result lies in the memory of an earlier one")
        self._last = returned

    def _prepare(self, asked: Prepare) -> bytes:
        arm = Arm(self._device, self._entries.call(asked.entry, asked.job), asked.job, asked.host)
        self._arms.append(arm)
        gc.freeze()
        kernels = [node for node in arm.nodes if node.type == NodeType.KERNEL]
        return json.dumps({
            "uncaptured": arm.uncaptured,
            "sets": arm.sets,
            "own": [node.name for node in kernels if node.function in self._functions],
            "others": [node.name for node in kernels if node.function not in self._functions],
            "grids": [[node.name, *node.grid, *node.block, node.shared_bytes] for node in kernels],
            "beside": self._beside(),
        }).encode()  # fmt: skip

    def _beside(self) -> str:
        """Returns what the process does besides answering, which must be nothing while it is timed."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self._threads() > 1:
            return "a thread"
        if sys.gettrace() is not None or sys.getprofile() is not None:
            return "a function that traces"
        return ""

    def _sample(self, asked: Sample) -> bytes:
        gc.disable()
        times = sampled(self._device, self._arms, asked.order, captured=asked.captured)
        gc.enable()
        return struct.pack(f"<{len(times)}d", *times)

    def _replay(self, asked: Replay) -> bytes:
        left = self._arms[asked.arm].replay(asked.job, asked.index)
        self._device.synchronize()
        self._keep_result(left.arguments.read, left.results, None, lambda: None)
        return struct.pack("<2d", left.alone_us, left.later_us)

    def _keep(self, asked: Keep) -> bytes:
        arm = self._arms[asked.arm]
        chains = arm.next_chains()
        count = max(1, asked.launches // max(1, arm.launches))
        while len(chains) < count:
            chains += arm.next_chains()
        times = self._device.sample(chains, apart=False)
        return struct.pack("<2d", sum(times), len(chains) * arm.launches)

    def _bandwidth(self, _: Bandwidth) -> bytes:
        return struct.pack("<d", self._device.copy_bytes_per_s())

    def _forget(self, _: Forget) -> bytes:
        for arm in self._arms:
            arm.free()
        self._arms, self._last = [], []
        gc.unfreeze()
        torch.cuda.empty_cache()
        return b""

    def _note_launch(self, metadata: object) -> None:
        self._launched.append(str(metadata.get()["name"]))  # type: ignore[attr-defined]

    def _note_kernel(self, module: object, function: int, name: str, *_: object) -> None:
        del module
        self._functions[function] = name

    def _records(self) -> list[LaunchRecord]:
        return [LaunchRecord(name, _NO_SIZE, _NO_SIZE, 0, 0) for name in self._launched[:1000]]


def _fault(error: Exception, lost: bool) -> Fault:
    """Returns how a call ended; `lost` if the device has an error that stays until the process ends."""
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    told = str(error).lower().replace("_", " ")
    kind = next((kind for part, kind in _OF_MESSAGE.items() if part in told), None)
    if kind is None:
        guarded = isinstance(error, GuardError)
        host = isinstance(error, HostError) or not lost
        kind = FaultKind.OUT_OF_BOUNDS if guarded else (FaultKind.HOST_CHECK if host else FaultKind.CRASH)
    return Fault(kind, "", 0, "", text, fatal=True)
