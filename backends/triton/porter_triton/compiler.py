"""The child process that compiles kernels, one signature after the other.

It is forked from a fork server (`porter.worker.fork_server`). A question has a device, a signature and
the texts of kernels; the answer is empty or an error.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.errors import CompilationError
from triton.runtime.cache import triton_key
from triton.runtime.jit import get_jit_fn_file_line

from porter.errors import exhaustion
from porter.sandbox.confine import confine
from porter.worker.frames import MACHINE, read_frame, write_frame
from porter_triton.assembly import assembled
from porter_triton.kernel_functions import KernelFunctions
from porter_triton.requests import AssembleRequest, CompileRequest
from porter_triton.signatures import decoded, typed


def prepare() -> None:
    """Computes the key of Triton, a hash of all its files. All else that every compiler needs is imported by now."""
    triton_key()


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends; `arguments` has the folder for the texts of kernels, and that for binaries."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    cache = Path(arguments[1])
    triton.knobs.cache.dir = str(cache)
    confine(Path.cwd(), cache, programs=True)  # such as ptxas
    compiler = _Compiler(KernelFunctions(Path(arguments[0])))
    write_frame(replies, b"")
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        write_frame(replies, compiler.answer(pickle.loads(frame)).encode())


class _Compiler:
    """Compiles for any device; none has to be there."""

    def __init__(self, kernels: KernelFunctions) -> None:
        self._kernels = kernels

    def answer(self, asked: CompileRequest | AssembleRequest) -> str:
        """Returns the answer to a question; a failure of the machine begins with `MACHINE`."""
        self._kernels.add(asked.kernels)
        return self._compiled(asked) if isinstance(asked, CompileRequest) else self._assembled(asked)

    def _assembled(self, asked: AssembleRequest) -> str:
        try:
            kernel = self._kernels[asked.launch.kernel]
            return json.dumps(assembled(kernel, asked.launch, asked.device, self._kernels.__getitem__))
        except Exception as error:  # noqa: BLE001 - whatever the compiler raises is the reason
            if failed := exhaustion(error):
                return f"{MACHINE}{failed.message}"
            return json.dumps({"because": f"{type(error).__name__}: {error}"})

    def _compiled(self, asked: CompileRequest) -> str:
        """Returns nothing where the kernel compiles, else `LINE: message`; the line is 0 where Triton does not say."""
        signature = json.loads(asked.signature)
        kernel = self._kernels[signature["kernel"]]
        constants = {tuple(place): decoded(value, self._kernels.__getitem__) for place, value in signature["constants"]}
        try:
            source = ASTSource(kernel, {name: typed(type_) for name, type_ in signature["types"].items()}, constants)
            triton.compile(source, target=GPUTarget(*asked.device), options=signature["options"])
        except CompilationError as error:
            if failed := exhaustion(error):
                return f"{MACHINE}{failed.message}"
            return f"{_line(kernel, error)}: {_reason(error)}"
        except Exception as error:  # noqa: BLE001 - whatever else the compiler raises is its verdict
            if failed := exhaustion(error):
                return f"{MACHINE}{failed.message}"
            return f"0: {type(error).__name__}: {error}"
        return ""


def _line(kernel: Any, error: CompilationError) -> int:  # noqa: ANN401 - Triton has no types
    """Returns the line of the module: Triton counts from the kernel's `def`."""
    _, begin = get_jit_fn_file_line(kernel)
    return int(begin) + int(getattr(error.node, "lineno", 1)) - 1


def _reason(error: BaseException) -> str:
    """Returns what the innermost function has to say."""
    while error.__cause__ is not None:
        error = error.__cause__
    said = error.error_message if isinstance(error, CompilationError) else str(error)
    return said or f"{type(error).__name__}: {error}"
