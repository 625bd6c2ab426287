"""The host compiler: which one, and the flags every part of an executable shares."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from porter.dialect import CUDA, INCLUDE
from porter.errors import EXHAUSTED, MachineError
from porter.execution.job import BuildRequest
from porter.sandbox.confine import confine_reading
from porter.simt.conversions import CONVERSION_FLAGS
from porter.simt.owners import returns_owner
from porter.source.standard import standard

ROOT = Path(__file__).parent
RUNTIME = ROOT / "runtime"

# -fno-strict-aliasing: CUDA code puns types by pointer casts. -fwrapv: its hashes overflow. -fpermissive: nvcc is lax.
# -D_GLIBCXX_ASSERTIONS: host code that reads beyond a std::vector reads garbage, which may be the same in both.
# -gdwarf-4: with version 5, addr2line names the file on disk where `#line` names the user's. -fno-var-tracking: debug
# information here is lines. To follow variables took 23 % of a build that uses tensors (1.67 s), half of its object.
# -g1 stands last, for `-gdwarf-4` behind it would mean -g2: types took 36 % of the compilation of a kernel of one line.
_LANGUAGE = [
    "-O1",
    "-w",
    "-gdwarf-4",
    "-g1",
    "-fno-var-tracking",
    "-fpermissive",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fno-omit-frame-pointer",
    "-fno-pie",
    "-fmax-errors=20",
    "-D_GLIBCXX_ASSERTIONS",
    *CONVERSION_FLAGS,
]
_WATCHED = [
    *("-fsanitize=thread,bounds,alignment", "--param=tsan-instrument-func-entry-exit=0"),
    "-U__SANITIZE_THREAD__",  # by which a source could tell that it is watched
]
# Else `f(x[i])` reads a struct without telling: the load is a part of the call, and no hook stands before that.
_LOADS_OF_ARGUMENTS = ["-fno-elide-constructors"]
_EXECUTOR = ["-std=c++17", "-O2", "-fno-omit-frame-pointer", "-fno-pie"]
_TORCH_MARKS = ("torch/", "ATen/", "c10/", "THC/", "pybind11/", "Python.h")
_CPU_S = 120
# How a compiler, assembler or linker ends that the machine failed.
_MACHINE = re.compile(
    rf"^.*(?:{'|'.join(map(re.escape, EXHAUSTED))}|out of memory allocating \d+ bytes.*|virtual memory exhausted.*|"
    rf"{signal.strsignal(signal.SIGKILL)} signal terminated program \w+)$",
    re.MULTILINE,
)
_CALLS: set[subprocess.Popen[str]] = set()  # those that go on
_readable: tuple[Path, ...] = ()  # by compilers, where somebody said so
_STOPPED = signal.strsignal(signal.SIGXCPU) or ""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++17 compiler: `command` to call it, `version` as it says itself; together they name it in cache keys."""

    command: str
    version: str


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """The messages of one call of the compiler; `ok` says that it made its output."""

    ok: bool
    log: str


@cache
def compiler() -> Compiler | None:
    """g++; None when it is not there.

    clang++ would do but for its hooks: they leave out copies of whole structs, and a port in which these are misaligned
    would be verified. Some systems call it g++, too.
    """
    if shutil.which("g++") is None:
        return None
    answer = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=False)
    if answer.returncode != 0 or "clang" in answer.stdout:
        return None
    return Compiler("g++", answer.stdout.splitlines()[0])


def missing_compiler() -> str:
    """Returns why nothing can be built on this machine; empty when it can."""
    return "" if compiler() is not None else "no g++ (clang++ is not enough: it does not report every access)"


@cache
def quick_linker() -> str:
    """The option for gold, which links in a third of the time; empty where it is not there.

    Whoever links with it has to try again without: what a linker finds missing is read from what the usual one says.
    """
    return "-fuse-ld=gold" if shutil.which("ld.gold") else ""


def uses_torch(request: BuildRequest) -> bool:
    """Returns whether the source, or a header of its own, includes PyTorch."""
    lines = (line for text in _texts(request) for line in text.splitlines() if line.lstrip().startswith("#"))
    return any(mark in line for line in lines if "include" in line for mark in _TORCH_MARKS)


def _texts(request: BuildRequest) -> tuple[str, ...]:
    return (request.source.text, *(header.text for _, header in request.headers))


def language_flags(request: BuildRequest) -> list[str]:
    """Flags the precompiled header and the user's source must share to the letter."""
    torch = uses_torch(request)
    defines = [
        f"-DPORTER_WARP_SIZE={request.warp_size}",
        f"-DPORTER_DOUBLE_PRECISION={int(request.double_precision)}",
        f"-DPORTER_TORCH={int(torch)}",
    ]
    folders = [
        INCLUDE,
        *dict.fromkeys((request.dialect.headers, CUDA.headers)),
        *([INCLUDE / "torch_shim"] if torch else []),
    ]
    watched = _watched(request) if request.watched else []
    samples = f"-idirafter{INCLUDE / 'samples'}"  # a program's own copies of these helpers come first
    return [
        f"-std={standard(_texts(request))}",
        *_LANGUAGE,
        *watched,
        *defines,
        *(f"-I{folder}" for folder in folders),
        samples,
    ]


def _watched(request: BuildRequest) -> list[str]:
    return _WATCHED if returns_owner(_texts(request)) else [*_WATCHED, *_LOADS_OF_ARGUMENTS]


def executor_flags(double_precision: bool) -> list[str]:
    """Flags of the parts that hold no user code."""
    folders = (INCLUDE, INCLUDE / "torch_shim", CUDA.headers)
    return [*_EXECUTOR, f"-DPORTER_DOUBLE_PRECISION={int(double_precision)}", *(f"-I{folder}" for folder in folders)]


def call(found: Compiler, arguments: list[str], folder: Path, *, cpu_s: int = _CPU_S) -> Diagnostics:
    """Runs the compiler in `folder`, in English. One that needs more than `cpu_s` of processor time has failed.

    It stays in the user's session, in a group of its own, which `end_calls` ends. Raises `MachineError` where it is the
    machine that failed.
    """
    confined = f'ulimit -S -t {cpu_s}; export LC_ALL=C.UTF-8; exec "$@"'
    process = _begun(["/bin/sh", "-c", confined, "sh", found.command, *arguments], folder)
    _CALLS.add(process)
    try:
        log = process.communicate()[1]
    finally:
        _CALLS.discard(process)
        if process.poll() is None:
            _end(process)
    return _diagnostics(subprocess.CompletedProcess(process.args, process.returncode, "", log), cpu_s)


def let_read(*folders: Path) -> None:
    """From here on compilers read files below `folders` only, whatever the sources that they are given include."""
    global _readable  # noqa: PLW0603 - of the process, as all walls are
    _readable = folders


def _begun(command: list[str], folder: Path) -> subprocess.Popen[str]:
    def begun() -> subprocess.Popen[str]:
        if _readable:
            confine_reading(*_readable)
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        )

    if not _readable:
        return begun()
    with ThreadPoolExecutor(1) as of_its_own:  # walls hold a thread and what it starts, for good
        return of_its_own.submit(begun).result()


def end_calls() -> None:
    """Ends all calls of the compiler that go on, with what they started."""
    for process in tuple(_CALLS):
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _diagnostics(done: subprocess.CompletedProcess[str], cpu_s: int) -> Diagnostics:
    # The command itself was stopped, or tells which of the programs it runs was.
    if done.returncode == -signal.SIGXCPU or (done.returncode and _STOPPED in done.stderr):
        return Diagnostics(False, f"error: the compiler did not finish within {cpu_s} s of processor time")
    if done.returncode == -signal.SIGKILL:
        raise MachineError("the compiler was killed: most likely the machine ran out of memory")
    if done.returncode and (failed := _MACHINE.search(done.stderr)):
        raise MachineError(f"the machine failed the compiler: {failed.group()}", "`porter doctor` names the cache")
    return Diagnostics(done.returncode == 0, done.stderr)
