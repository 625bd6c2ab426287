"""Builds CUDA originals, and MACA ports through CUDA's names, by nvcc: a library with a wrapper around each entry.

Everything is launched on the stream of the calling thread, which can be captured. A source that includes PyTorch's
headers is called with tensors and takes six seconds to build, any other is called with pointers and takes one. Only a
source that needs more than tensors and named operators becomes an extension, in more than a minute.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from porter.contract.analysis.elements import element_type
from porter.contract.model.contract import Contract, EntryKind, TensorArg
from porter.contract.model.dtype import DType
from porter.errors import MachineError
from porter.execution.job import BuildFailure, Callee
from porter.native.headers import unpacked
from porter.native.requests import Entry, ExtensionEntry, LibraryEntry
from porter.native.torch_headers import narrow_headers, torch_flags, torch_folders
from porter.native.wrappers import wrapped
from porter.simt.kernels_only import kernels_only
from porter.source.headers import folders_of
from porter.source.standard import standard
from porter.translation_unit import TranslationUnit

_FLAGS = (
    *("-O3", "-w", "-shared", "-Xcompiler", "-fPIC", "--default-stream", "per-thread"),
    *("--expt-relaxed-constexpr", "--expt-extended-lambda", "-include", "cassert"),
)
_TORCH = re.compile(r'#\s*include\s*[<"](?:torch|ATen|c10|THC|pybind11)/')
_LIBRARIES = {
    "cublas": ("-lcublas", "-lcublasLt"),
    "curand": ("-lcurand",),
    "cusparse": ("-lcusparse",),
    "cufft": ("-lcufft",),
}
_ERROR = re.compile(r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error[^:]*: (?P<message>.*)$", re.M)
_LIMIT_S = 300.0
_BUILDERS = 4


@dataclass(frozen=True, slots=True)
class Nvcc:
    """NVIDIA's compiler, building for devices of `arch`, such as sm_90."""

    command: str
    version: str
    arch: str

    @classmethod
    def found(cls, arch: str) -> Nvcc:
        """Returns nvcc on the PATH, or where toolkits are installed. Raises `MachineError` where there is none."""
        command = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
        if command is None:
            raise MachineError("no CUDA compiler: nvcc is not on the PATH", "install the CUDA toolkit")
        told = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
        return cls(command, next(iter(re.findall(r"V(\d[\d.]*)", told)), "unknown"), arch)


@dataclass(frozen=True, slots=True)
class _Source:
    """A source as nvcc compiles it: a text in the folder of the source, and the places of its headers."""

    text: str
    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    headers: tuple[str, ...]
    flags: tuple[str, ...]


def build_originals(
    side: TranslationUnit, contracts: Sequence[Contract], nvcc: Nvcc, cache: Path, extra: tuple[str, ...] = ()
) -> tuple[Entry | BuildFailure, ...]:
    """Returns a caller for the entry of each contract, or why it does not build; `extra` are further flags.

    All are built at once; where that fails, each is built alone, a kernel then without the host functions of its
    source.
    """
    callees = side.request(contracts, 32).callees
    whole = _built(side, callees, nvcc, cache, extra)
    if not isinstance(whole, BuildFailure):
        return whole
    if len(callees) == 1 and callees[0].entry.kind is not EntryKind.KERNEL:
        return (whole,)
    with ThreadPoolExecutor(_BUILDERS) as pool:
        return tuple(pool.map(lambda callee: _alone(side, callee, nvcc, cache, extra), callees))


def _alone(
    side: TranslationUnit, callee: Callee, nvcc: Nvcc, cache: Path, extra: tuple[str, ...]
) -> Entry | BuildFailure:
    built = _built(side, (callee,), nvcc, cache, extra)
    if isinstance(built, BuildFailure) and callee.entry.kind is EntryKind.KERNEL:
        source, *_ = kernels_only(side.source, [header for _, header in side.headers])
        again = _built(replace(side, source=source), (callee,), nvcc, cache, extra)
        return built if isinstance(again, BuildFailure) else again[0]
    return built if isinstance(built, BuildFailure) else built[0]


def _built(
    side: TranslationUnit, callees: Sequence[Callee], nvcc: Nvcc, cache: Path, extra: tuple[str, ...]
) -> tuple[Entry, ...] | BuildFailure:
    """Builds with as much of PyTorch's headers as it seems to need, and if that fails with all of them."""
    if not _TORCH.search(side.source.text):
        return _linked(side, callees, nvcc, cache, extra)
    folders = torch_folders()
    texts = (side.source.text, *(header.text for _, header in side.headers))
    narrow = unpacked(narrow_headers(texts, folders), cache)
    flags = (*extra, *torch_flags(folders))
    entries = _linked(side, callees, nvcc, cache, (f"-I{narrow}", *flags))
    return _linked(side, callees, nvcc, cache, flags, module=True) if isinstance(entries, BuildFailure) else entries


def _linked(
    side: TranslationUnit,
    callees: Sequence[Callee],
    nvcc: Nvcc,
    cache: Path,
    flags: tuple[str, ...],
    *,
    module: bool = False,
) -> tuple[Entry, ...] | BuildFailure:
    source = _Source(
        text=wrapped(side, callees, module=module),
        include_dirs=(str(side.source.path.absolute().parent), *side.include_dirs, *map(str, folders_of(side.headers))),
        defines=side.defines,
        headers=tuple(header.text for _, header in side.headers),
        flags=flags,
    )
    library = _library(source, nvcc, cache, side.source.path)
    if isinstance(library, BuildFailure):
        return library
    return tuple(_entry(side, callee, index, str(library), module=module) for index, callee in enumerate(callees))


def _entry(side: TranslationUnit, callee: Callee, index: int, library: str, *, module: bool) -> Entry:
    number, tensors = _number(side, callee), callee.entry.kind is EntryKind.TORCH
    if tensors and module:
        return ExtensionEntry(library, f"entry_{index}", number)
    return LibraryEntry(library, f"porter_entry_{index}", number, tensors)


def _number(side: TranslationUnit, callee: Callee) -> DType | None:
    """Returns the type of the number that the function returns, if it is one."""
    if callee.entry.kind is EntryKind.KERNEL:
        return None
    named = [f for f in side.program.host_functions if callee.entry.name in (f.qualified, f.name)]
    returned = named[0].returns if named else None
    return None if returned is None or returned.pointers or returned.base == "void" else element_type(returned.base)


def _library(source: _Source, nvcc: Nvcc, cache: Path, path: Path) -> Path | BuildFailure:
    """Returns the library, compiled where it is not there yet."""
    spoken = f"-std={standard((source.text, *source.headers))}"
    flags = [spoken, *_FLAGS, f"-arch={nvcc.arch}", *source.flags, *(f"-D{define}" for define in source.defines)]
    libraries = [flag for name, wanted in _LIBRARIES.items() if name in source.text for flag in wanted]
    parts = (source.text, *source.headers, *source.include_dirs, nvcc.version, *flags)
    key = hashlib.blake2b("\0".join(parts).encode()).hexdigest()[:24]
    library = cache / "native" / f"{path.stem}-{key}.so"
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        text, made = Path(scratch) / "original.cu", Path(scratch) / "original.so"
        text.write_text(source.text, "utf-8")
        folders = [f"-I{folder}" for folder in source.include_dirs]
        failure = _compiled([nvcc.command, *flags, *folders, str(text), *libraries, "-o", str(made)], path)
        if failure is not None:
            return failure
        made.replace(library)
    return library


def _compiled(command: Sequence[str], path: Path) -> BuildFailure | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return BuildFailure(f"nvcc did not finish within {_LIMIT_S:g} s", "", 0, "")
    if done.returncode == 0:
        return None
    log = done.stderr + done.stdout
    first = _ERROR.search(log)
    if first is None:
        lines = [line for line in log.splitlines() if "error" in line] or log.splitlines() or ["nvcc failed"]
        return BuildFailure(lines[0], "", 0, log)
    return BuildFailure(
        first["message"], path.name if first["file"] == path.name else first["file"], int(first["line"]), log
    )


def host_positions(contract: Contract) -> frozenset[int]:
    """Returns which arguments are arrays of sizes: host code reads them, so they lie where both sides can."""
    return frozenset(i for i, a in enumerate(contract.arguments) if isinstance(a, TensorArg) and a.elements)
