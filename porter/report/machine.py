"""Examines what this machine has that porter can use: compilers, packages, kernel features, backends."""

from __future__ import annotations

import ctypes
import platform
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from porter.native.place import missing_device
from porter.registry import Unavailable, load_backends
from porter.report.migration.software import Software, installed_software
from porter.simt.bounded_folder import folder_bytes
from porter.worker.kinds import WorkerKind, start
from porter.writing.columns import columns
from porter.writing.document import Json, as_record

_STARTERS = 2  # each is busy importing
_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture
_LANDLOCK_QUERY_VERSION = 1
_SECCOMP_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")


@dataclass(frozen=True, slots=True)
class BackendRow:
    """A backend, and what this machine can do for it; `because` gives the reason where it cannot."""

    name: str
    targets: tuple[str, ...]
    compile: bool
    run: bool
    because: str


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A kind of worker: its task, and why none can be started; `because` is empty where one was."""

    task: str
    because: str


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The features of the kernel that fence a program in; `landlock_abi` is 0 without Landlock."""

    landlock_abi: int
    seccomp: bool


@dataclass(frozen=True, slots=True)
class Cache:
    """The folder of builds and its size."""

    path: Path
    bytes: int


@dataclass(frozen=True, slots=True)
class Machine(Software):
    """This machine, as far as it matters to porter."""

    backends: tuple[BackendRow, ...]
    sandbox: Sandbox
    cache: Cache
    workers: tuple[WorkerRow, ...] = ()  # empty where none was started

    @property
    def emulates(self) -> bool:
        """Returns whether kernels can be executed on the CPU, which every backend falls back on."""
        return any(tool.version for tool in self.compilers if tool.name == "g++")


def examine(cache: Path, workers: tuple[WorkerRow, ...] = ()) -> Machine:
    """Looks at the machine, and measures `cache`, which takes seconds where that is large."""
    software = installed_software()
    return Machine(
        software.porter,
        software.python,
        software.platform,
        software.compilers,
        software.packages,
        backends=_backends(),
        sandbox=Sandbox(_landlock_abi(), _SECCOMP_ACTIONS.exists()),
        cache=Cache(cache, folder_bytes(cache)),
        workers=workers,
    )


def start_workers(cache: Path) -> tuple[WorkerRow, ...]:
    """Starts a worker of each kind, which takes seconds: each imports the packages that it needs."""
    (cache / "triton").mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(_STARTERS) as pool:
        return tuple(pool.map(lambda kind: WorkerRow(kind.task, start(kind)), _worker_kinds(cache)))


def _worker_kinds(cache: Path) -> tuple[WorkerKind, ...]:
    """Returns porter's own and those of the backends; the one for a device only where there is one."""
    own = [
        WorkerKind("run Python references", "porter.oracle.python_worker", {}),
        WorkerKind("execute kernels on symbols", "porter.symbolic.worker", {}),
    ]
    if not missing_device():
        folders = (str(cache / "native"), str(cache / "native"))
        own.append(WorkerKind("run on the device", "porter.native.worker", {}, folders))
    backends = (backend for backend in load_backends() if not isinstance(backend, Unavailable))
    return (*own, *(kind for backend in backends for kind in backend.workers(cache)))


def machine_document(machine: Machine) -> Json:
    """Returns the machine as JSON."""
    return {**as_record(machine), "emulates": machine.emulates}


def machine_text(machine: Machine) -> Text:
    """Returns the machine, a line for each thing."""
    sandbox = machine.sandbox
    rows: list[tuple[str, str, Text, str]] = [
        ("porter", machine.porter, _mark(True), ""),
        ("python", machine.python, _mark(True), machine.platform),
        *((tool.name, tool.version, _mark(bool(tool.version)), tool.path) for tool in machine.compilers),
        *((tool.name, tool.version, _mark(bool(tool.version)), "") for tool in machine.packages),
        ("emulation", "", _mark(machine.emulates), "executes kernels on the CPU; needs g++; clang++ is not enough"),
        ("landlock", f"ABI {sandbox.landlock_abi}", _mark(sandbox.landlock_abi > 0), "keeps kernels from your files"),
        ("seccomp", "", _mark(sandbox.seccomp), "keeps kernels from the network and new processes"),
        ("cache", f"{machine.cache.bytes / 2**20:.1f} MiB", _mark(True), str(machine.cache.path)),
    ]
    text = Text("Machine\n", "bold").append_text(
        columns([(mark, name, value, note) for name, value, mark, note in rows], "  ")
    )
    if machine.workers:
        told = [(_mark(not worker.because), worker.task, worker.because) for worker in machine.workers]
        text.append("Workers\n", "bold").append_text(columns(told, "  "))
    text.append("Backends\n", "bold").append_text(columns([row for b in machine.backends for row in _rows(b)], "  "))
    text.rstrip()
    return text


def _rows(backend: BackendRow) -> list[tuple[str | Text, ...]]:
    return [
        ("", backend.name, ", ".join(backend.targets)),
        (_mark(backend.compile), "", "compile with its own toolchain", "" if backend.compile else backend.because),
        (_mark(backend.run), "", "run on its own device", "" if backend.run else backend.because),
    ]


def _mark(present: bool) -> Text:
    return Text("yes", "green") if present else Text("no", "red")


def _backends() -> tuple[BackendRow, ...]:
    rows: list[BackendRow] = []
    for backend in load_backends():
        if isinstance(backend, Unavailable):
            rows.append(BackendRow(backend.name, (), False, False, backend.because))
            continue
        can = backend.probe()
        rows.append(
            BackendRow(backend.name, tuple(t.arch for t in backend.targets()), can.compile, can.run, can.because)
        )
    return tuple(rows)


def _landlock_abi() -> int:
    """Returns the kernel's Landlock ABI, 0 where it is off or the system is not Linux."""
    if platform.system() != "Linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_QUERY_VERSION)))
