"""Manages a device: builds, limits, and one after the other the processes that hold it."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from porter.errors import MachineError
from porter.execution.job import Limits
from porter.measure.lock import DeviceLock
from porter.native.nvml import Management
from porter.native.original import Nvcc
from porter.native.session import Session, Settings

_DRIVER = Path("/dev/nvidiactl")
_LOCKS = Path("/tmp")
_PATIENCE_S = 900.0
_MEMORY_BYTES = 24 << 30  # of the host: arguments and results pass through it
_WAITING = 3


def missing_device() -> str:
    """Returns why nothing can run on an NVIDIA device here; empty where it can."""
    return "" if _DRIVER.exists() else f"no NVIDIA device: {_DRIVER} is not there"


def require_device() -> None:
    """Raises `MachineError` where nothing can run on an NVIDIA device."""
    if because := missing_device():
        raise MachineError(because, "run this on a machine with an NVIDIA GPU; `porter verify` alone needs none")


@dataclass(frozen=True)
class Place:
    """A device; programs run on it only while its `lock` is held. `environment` has the variables its driver reads.

    Where there is `one` session, everything runs in it. `sessions` are those that were made and not closed.
    """

    cache: Path
    limits: Limits
    environment: Mapping[str, str]
    folder: Path
    device: Management
    lock: DeviceLock
    secret: bytes
    one: Session | None = None
    sessions: list[Session] = field(default_factory=list)

    @contextmanager
    def session(self, content: str = "", kernels: Path | None = None) -> Iterator[Session]:
        """Yields a process for one candidate with that `content`; its compiled kernels go to `kernels`."""
        if self.one is not None:
            yield self.one
            return
        work = Path(tempfile.mkdtemp(dir=self.folder))
        settings = Settings(self.cache, self.limits, self.environment, self.secret)
        session = Session(work, settings, content, kernels)
        self.sessions.append(session)
        try:
            yield session
        finally:
            self.sessions.remove(session)
            session.close()

    @contextmanager
    def in_one_process(self, kernels: Path) -> Iterator[Place]:
        """Yields a place whose candidates share a process and compiled kernels: only for those that porter wrote."""
        with self.session(kernels=kernels) as one:
            yield replace(self, one=one)

    def nvcc(self) -> Nvcc:
        """Returns the compiler for its originals. Raises `MachineError`."""
        return Nvcc.found(self.device.arch)

    @cached_property
    def nvcc_version(self) -> str:
        """The version of nvcc; empty where there is none."""
        try:
            return self.nvcc().version
        except MachineError:
            return ""


@contextmanager
def place(cache: Path, time_limit_s: float, environment: Mapping[str, str]) -> Iterator[Place]:
    """Yields the first device. A run may use `time_limit_s` of processor time.

    Raises `MachineError` where no device can be used.
    """
    require_device()
    device = Management.first(environment.get("CUDA_VISIBLE_DEVICES", ""))
    limits = Limits(cpu_s=time_limit_s, wall_s=_WAITING * time_limit_s, memory_bytes=_MEMORY_BYTES)
    visible = {**environment, "CUDA_VISIBLE_DEVICES": device.uuid}
    lock = DeviceLock(device.uuid, _LOCKS, _PATIENCE_S)
    with tempfile.TemporaryDirectory(prefix="porter-device-", ignore_cleanup_errors=True) as name:
        yield Place(cache, limits, visible, Path(name), device, lock, secrets.token_bytes(16))
