"""Reads the state of a device around a measurement, through NVIDIA's management library."""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from porter.errors import MachineError
from porter.measure.environment import DeviceState, slowed_by

_SM, _MEMORY = 1, 2  # kinds of clocks
_MOST_PROCESSES = 64
_ENDING_S = 0.2  # a process that was just ended is listed a moment longer
_WORKER = b"porter.worker.fork_server"


class _Process(ctypes.Structure):
    """The structure `nvmlProcessInfo_v2_t`."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory_bytes", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


@dataclass(frozen=True)
class Management:
    """The library and its handle of one device."""

    library: ctypes.CDLL
    handle: ctypes.c_void_p

    @classmethod
    def first(cls, visible: str) -> Management:
        """Returns the first device of `visible`, the value of CUDA_VISIBLE_DEVICES; of all devices where that is empty.

        Raises `MachineError` where the library is not there or knows no such device.
        """
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError as error:
            raise MachineError(f"no NVIDIA device: {error}", "install NVIDIA's driver") from None
        handle, chosen = ctypes.c_void_p(), visible.split(",", maxsplit=1)[0].strip()
        code = library.nvmlInit_v2()
        if not code and chosen.startswith("GPU-"):
            code = library.nvmlDeviceGetHandleByUUID(chosen.encode(), ctypes.byref(handle))
        elif not code:
            code = library.nvmlDeviceGetHandleByIndex_v2(int(chosen or 0), ctypes.byref(handle))
        if code:
            raise MachineError(f"the NVIDIA device cannot be used: NVML error {code}", "`nvidia-smi` shows more")
        return cls(library, handle)

    @property
    def uuid(self) -> str:
        """Returns what names the device, wherever it is."""
        return self._text("nvmlDeviceGetUUID")

    @property
    def name(self) -> str:
        """The model."""
        return self._text("nvmlDeviceGetName")

    @property
    def arch(self) -> str:
        """The architecture as compilers name it: sm_90."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.library.nvmlDeviceGetCudaComputeCapability(self.handle, ctypes.byref(major), ctypes.byref(minor))
        return f"sm_{major.value}{minor.value}"

    @property
    def memory_bytes(self) -> int:
        """All there is of its memory."""
        total = (ctypes.c_ulonglong * 3)()  # total, free, used
        self.library.nvmlDeviceGetMemoryInfo(self.handle, total)
        return int(total[0])

    def driver(self) -> str:
        """Returns the driver's version."""
        text = ctypes.create_string_buffer(96)
        self.library.nvmlSystemGetDriverVersion(text, len(text))
        return text.value.decode()

    def max_sm_clock_mhz(self) -> int:
        """Returns what the multiprocessors can be clocked at."""
        return self._number("nvmlDeviceGetMaxClockInfo", _SM)

    def state(self) -> DeviceState:
        """Returns the state now. Values that the device does not tell are 0."""
        reasons = ctypes.c_ulonglong()
        self.library.nvmlDeviceGetCurrentClocksThrottleReasons(self.handle, ctypes.byref(reasons))
        return DeviceState(
            sm_clock_mhz=self._number("nvmlDeviceGetClockInfo", _SM),
            memory_clock_mhz=self._number("nvmlDeviceGetClockInfo", _MEMORY),
            power_w=self._number("nvmlDeviceGetPowerUsage") / 1000,
            temperature_c=self._number("nvmlDeviceGetTemperature", 0),
            slowed_by=slowed_by(reasons.value),
            others=self._others(),
        )

    def _text(self, function: str) -> str:
        text = ctypes.create_string_buffer(96)
        getattr(self.library, function)(self.handle, text, len(text))
        return text.value.decode()

    def _number(self, function: str, *kind: int) -> int:
        value = ctypes.c_uint()
        getattr(self.library, function)(self.handle, *kind, ctypes.byref(value))
        return value.value

    def _others(self) -> int:
        """Returns processes that compute on the device, except this one's children and those that wait for its lock."""
        return self._seen() and self._seen(after_s=_ENDING_S)

    def _seen(self, after_s: float = 0.0) -> int:
        time.sleep(after_s)
        count, found = ctypes.c_uint(_MOST_PROCESSES), (_Process * _MOST_PROCESSES)()
        if self.library.nvmlDeviceGetComputeRunningProcesses_v3(self.handle, ctypes.byref(count), found):
            return 0
        return sum(not (_is_ours(p.pid) or is_worker(Path(f"/proc/{p.pid}"))) for p in found[: count.value])


def is_worker(process: Path) -> bool:
    """Returns whether it is a worker of another measurement: those pause while one has the device alone."""
    with suppress(OSError):
        return _WORKER in (process / "cmdline").read_bytes().split(b"\0")
    return False


def _is_ours(pid: int) -> bool:
    """Returns whether this process started it; a process that cannot be seen from here belongs to others."""
    seen = pid
    with suppress(OSError, ValueError, IndexError):
        while seen > 1:
            if seen == os.getpid():
                return True
            seen = int(Path(f"/proc/{seen}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[1])
    return False
