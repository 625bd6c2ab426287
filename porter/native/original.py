"""CUDA originals, and MACA ports through CUDA's names, built by nvcc: a library with a wrapper around each entry.

Everything is launched on the stream of the calling thread, which can be captured. What includes PyTorch's headers
becomes an extension, which takes half a minute; the rest is called with pointers and takes a second.
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

from porter.contract.contract import Contract, EntryKind, TensorArg
from porter.contract.dtype import DType
from porter.contract.elements import element_type
from porter.errors import MachineError
from porter.evaluate.side import Side
from porter.native.headers import unpacked
from porter.native.requests import EXTENSION, Entry, ExtensionEntry, LibraryEntry
from porter.native.torch_headers import narrow_headers, torch_flags, torch_folders
from porter.simt.job import BuildFailure, Callee
from porter.simt.kernels_only import kernels_only

_WRAPPERS = Path(__file__).with_name("original.inc")
_FLAGS = (
    *("-O3", "-std=c++17", "-w", "-shared", "-Xcompiler", "-fPIC", "--default-stream", "per-thread"),
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
        """The one on the PATH, or where toolkits are installed. Raises `MachineError` where there is none."""
        command = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
        if command is None:
            raise MachineError("no CUDA compiler: nvcc is not on the PATH", "install the CUDA toolkit")
        told = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
        return cls(command, next(iter(re.findall(r"V(\d[\d.]*)", told)), "unknown"), arch)


@dataclass(frozen=True, slots=True)
class _Source:
    """What is compiled: a text in the folder of the source, and where its headers are."""

    text: str
    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    headers: tuple[str, ...]
    extra: tuple[str, ...]


def build_originals(
    side: Side, contracts: Sequence[Contract], nvcc: Nvcc, cache: Path, extra: tuple[str, ...] = ()
) -> tuple[Entry | BuildFailure, ...]:
    """What calls the entry of each contract, or why it does not build; `extra` are further flags.

    All are built at once; where that fails one by one, a kernel then without the host functions of its source.
    """
    callees = side.request(contracts, 32).callees
    whole = _built(side, callees, nvcc, cache, extra)
    if not isinstance(whole, BuildFailure):
        return whole
    if len(callees) == 1 and callees[0].entry.kind is not EntryKind.KERNEL:
        return (whole,)
    with ThreadPoolExecutor(_BUILDERS) as pool:
        return tuple(pool.map(lambda callee: _alone(side, callee, nvcc, cache, extra), callees))


def _alone(side: Side, callee: Callee, nvcc: Nvcc, cache: Path, extra: tuple[str, ...]) -> Entry | BuildFailure:
    built = _built(side, (callee,), nvcc, cache, extra)
    if isinstance(built, BuildFailure) and callee.entry.kind is EntryKind.KERNEL:
        source, *_ = kernels_only(side.source, [header for _, header in side.headers])
        again = _built(replace(side, source=source), (callee,), nvcc, cache, extra)
        return built if isinstance(again, BuildFailure) else again[0]
    return built if isinstance(built, BuildFailure) else built[0]


def _built(
    side: Side, callees: Sequence[Callee], nvcc: Nvcc, cache: Path, extra: tuple[str, ...]
) -> tuple[Entry, ...] | BuildFailure:
    source = _Source(
        text=_text(side, callees),
        include_dirs=(str(side.source.path.absolute().parent), *side.include_dirs),
        defines=side.defines,
        headers=tuple(header.text for _, header in side.headers),
        extra=extra,
    )
    library = _library(source, nvcc, cache, side.source.path)
    if isinstance(library, BuildFailure):
        return library
    return tuple(_entry(side, callee, index, str(library)) for index, callee in enumerate(callees))


def _entry(side: Side, callee: Callee, index: int, library: str) -> Entry:
    number = _number(side, callee)
    if callee.entry.kind is EntryKind.TORCH:
        return ExtensionEntry(library, f"entry_{index}", number)
    return LibraryEntry(library, f"porter_entry_{index}", number)


def _number(side: Side, callee: Callee) -> DType | None:
    """The type of the number that the function returns, if it is one."""
    if callee.entry.kind is EntryKind.KERNEL:
        return None
    named = [f for f in side.program.host_functions if callee.entry.name in (f.qualified, f.name)]
    returned = named[0].returns if named else None
    return None if returned is None or returned.pointers or returned.base == "void" else element_type(returned.base)


def _text(side: Side, callees: Sequence[Callee]) -> str:
    """The source, and a wrapper around each entry; lines of the source keep their numbers."""
    torch = [i for i, callee in enumerate(callees) if callee.entry.kind is EntryKind.TORCH]
    wrappers = [_wrapper(callee, i) for i, callee in enumerate(callees) if i not in torch]
    bound = "".join(_binding(callees[i], i) for i in torch)
    head = f'#line {side.source.first_line} "{side.source.path.name}"\n'
    module = f"#include <torch/extension.h>\nPYBIND11_MODULE({EXTENSION}, m) {{\n{bound}}}\n" if torch else ""
    return "".join((head, side.source.text, '\n#line 1 "wrappers"\n', _WRAPPERS.read_text("utf-8"), *wrappers, module))


def _wrapper(callee: Callee, index: int) -> str:
    passed = ", ".join(f"porter_as<{_plain(p.text)}>(a[{i}])" for i, p in enumerate(callee.parameters))
    name = _named(callee)
    if callee.entry.kind is EntryKind.KERNEL:
        call = f"porter_room(&{name}, l); {name}<<<dim3(l[0], l[1], l[2]), dim3(l[3], l[4], l[5]), l[6]>>>({passed});"
    else:
        call = f"porter_store(r, [&] {{ return {name}({passed}); }});"
    taken = "const PorterArgument* a, const unsigned* l, PorterArgument* r"
    head = f'extern "C" const char* porter_entry_{index}({taken}) {{\n  (void)a, (void)l, (void)r;\n'
    return f"{head}  return porter_guarded([&] {{ {call} }});\n}}\n"


def _binding(callee: Callee, index: int) -> str:
    """A lambda, so that parameters pick the overload."""
    declared = ", ".join(f"{p.text} a{i}" for i, p in enumerate(callee.parameters))
    passed = ", ".join(f"a{i}" for i in range(len(callee.parameters)))
    return f'  m.def("entry_{index}", []({declared}) {{ return {_named(callee)}({passed}); }});\n'


def _named(callee: Callee) -> str:
    template = f"<{', '.join(callee.entry.template)}>" if callee.entry.template else ""
    return f"{callee.entry.name}{template}"


def _plain(parameter: str) -> str:
    """A parameter's type as a template argument: without what makes it no value."""
    return re.sub(r"\b(?:__restrict__|__restrict|restrict|__grid_constant__)\b", "", parameter).strip()


def _library(source: _Source, nvcc: Nvcc, cache: Path, path: Path) -> Path | BuildFailure:
    """The library; of PyTorch's headers it is compiled with those it names, and with all where that does not do."""
    if not _TORCH.search(source.text):
        return _cached(source, (), nvcc, cache, path)
    folders = torch_folders()
    narrow = unpacked(narrow_headers((source.text, *source.headers), folders), cache)
    whole = replace(source, extra=(*source.extra, *torch_flags(folders)))
    library = _cached(whole, (f"-I{narrow}",), nvcc, cache, path)
    return _cached(whole, (), nvcc, cache, path) if isinstance(library, BuildFailure) else library


def _cached(source: _Source, first: tuple[str, ...], nvcc: Nvcc, cache: Path, path: Path) -> Path | BuildFailure:
    """The library, compiled with the flags `first` before all others where it is not there yet."""
    flags = [*first, *_FLAGS, f"-arch={nvcc.arch}", *source.extra, *(f"-D{define}" for define in source.defines)]
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
    """Which arguments are arrays of sizes: host code reads them, so they lie where both sides can."""
    return frozenset(i for i, a in enumerate(contract.arguments) if isinstance(a, TensorArg) and a.elements)
