"""Checks that Triton compiles the kernels of a module for real devices, as they were launched."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.backend import Port, Target
from porter.diagnostics.findings import Finding
from porter.errors import MachineError
from porter.execution.job import FaultKind, Limits
from porter.python_tree import module_tree
from porter.worker.child import Child, Death
from porter.worker.frames import MACHINE
from porter_triton.catalogue import finding
from porter_triton.records import KernelText
from porter_triton.requests import CompileRequest
from porter_triton.targets import device

# The compiler starts other programs (ptxas) and maps much more than it uses.
_LIMITS = Limits(cpu_s=120.0, wall_s=600.0, memory_bytes=16 << 30, file_bytes=1 << 30)


@dataclass(frozen=True, slots=True)
class Refused:
    """A kernel that does not compile: `line` is one of the module, 0 where Triton does not say."""

    kernel: str
    arch: str
    line: int
    message: str


def refused(
    kernels: Sequence[KernelText], signatures: Iterable[str], targets: Iterable[Target], work: Path, cache: Path
) -> Refused | None:
    """Returns the first of `signatures` that does not compile for one of `targets`; None when all do.

    `kernels` are their texts, `work` is an empty folder for the compiler's process, `cache` where Triton keeps its
    binaries. Raises `MachineError` where the machine failed the compiler.
    """
    compiler = _Compiler(kernels, work, cache)
    names = {kernel.key: kernel.name for kernel in kernels}
    try:
        for target in targets:
            for signature in signatures:
                answer = compiler.ask(signature, target)
                if answer:
                    line, message = answer.split(": ", maxsplit=1)
                    return Refused(names[json.loads(signature)["kernel"]], target.arch, int(line), message)
    finally:
        compiler.end()
    return None


class _Compiler:
    """The compiling process, started anew when a kernel kills it."""

    def __init__(self, kernels: Sequence[KernelText], work: Path, cache: Path) -> None:
        self._kernels = tuple(kernels)
        self._work = work
        self._cache = cache
        self._child: Child | None = None

    def ask(self, signature: str, target: Target) -> str:
        """Returns what is wrong, as `LINE: message`; nothing when it compiles."""
        if self._child is None:
            self._cache.mkdir(parents=True, exist_ok=True)
            self._child = Child(
                "porter_triton.programs",
                [str(self._work), str(self._cache), "compile"],
                self._work,
                _LIMITS,
                forked=True,
            )
            if death := self._child.begin():
                return self._lost(death)
        asked = CompileRequest(self._kernels, signature, device(target))
        answer = self._child.ask(pickle.dumps(asked), parts=1)
        if isinstance(answer, Death):
            return self._lost(answer)
        said = answer[0].decode("utf-8", "replace")
        if said.startswith(MACHINE):
            raise MachineError(said.removeprefix(MACHINE), "`porter doctor` names the cache")
        return said

    def end(self) -> None:
        """Ends the process."""
        if self._child is not None:
            self._child.end()

    def _lost(self, death: Death) -> str:
        """Returns what the death of the process says of the kernel; raises `MachineError` where it says nothing."""
        self._child = None
        if death.kind is FaultKind.RESOURCE:
            raise MachineError(f"Triton's compiler was {death.message}")
        return f"0: {death.kind.value}: {death.message}"


def syntax_error(port: Port) -> Finding | None:
    """Returns the first file of the port that is not Python."""
    for file in port.files:
        try:
            module_tree(file.text, file.name)
        except SyntaxError as error:
            return finding("PORT1811", None, f"{file.name}:{error.lineno}: {error.msg}")
    return None
