"""The child process that compiles the kernels of a generated module, one signature after the other.

It is born of a nursery (`porter.worker.nurse`): a question is a device and a signature as JSON, the answer empty or an
error.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.errors import CompilationError
from triton.runtime.cache import triton_key
from triton.runtime.jit import JITFunction, get_jit_fn_file_line

from porter.errors import exhaustion
from porter.worker.confine import confine
from porter.worker.frames import MACHINE, read_frame, write_frame
from porter.worker.load import load
from porter_triton.signatures import decoded, digest_of, typed


def prepare() -> None:
    """What every compiler needs is imported by now; the key of Triton itself, a hash of all its files, is known."""
    triton_key()


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Compiling runs the module, which the user may have edited, and programs such as ptxas.
    confine(Path.cwd(), Path(os.environ["TRITON_CACHE_DIR"]), programs=True)
    made = _noted_kernels()
    compiler = _Compiler(load(Path(arguments[0])), made)
    write_frame(replies, b"")
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        write_frame(replies, compiler.answer(frame).encode())


class _Compiler:
    """Compiles for any device; none has to be there."""

    def __init__(self, module: ModuleType, kernels: list[JITFunction]) -> None:
        self._module = module
        self._kernels = kernels

    def answer(self, question: bytes) -> str:
        """Nothing where the kernel compiles, else `LINE: message`; the line is 0 where Triton does not say.

        A failure of the machine is no answer: it begins with `MACHINE`.
        """
        asked = json.loads(question)
        named = [kernel for kernel in self._kernels if kernel.fn.__name__ == asked["kernel"]]
        if not named:
            return f"0: the module defines no kernel '{asked['kernel']}'"
        kernel = next((k for k in named if digest_of(k) == asked.get("code")), named[0])
        if asked.get("code", digest_of(kernel)) != digest_of(kernel):
            return (
                f"{get_jit_fn_file_line(kernel)[1]}: what was launched as '{asked['kernel']}' is other code than this"
            )
        constants = {name: decoded(value, self._module) for name, value in asked["constants"].items()}
        try:
            source = ASTSource(kernel, {name: typed(type_) for name, type_ in asked["types"].items()}, constants)
            triton.compile(source, target=GPUTarget(*asked["device"]), options=asked["options"])
        except CompilationError as error:
            if failed := exhaustion(error):
                return f"{MACHINE}{failed.message}"
            return f"{_line(kernel, error)}: {_reason(error)}"
        except Exception as error:  # noqa: BLE001 - whatever else the compiler raises is its verdict
            if failed := exhaustion(error):
                return f"{MACHINE}{failed.message}"
            return f"0: {type(error).__name__}: {error}"
        return ""


def _noted_kernels() -> list[JITFunction]:
    """The kernels that are made from here on, wherever a module keeps them."""
    made: list[JITFunction] = []
    begin = JITFunction.__init__

    def noting(kernel: JITFunction, *given: object, **named: object) -> None:
        begin(kernel, *given, **named)
        made.append(kernel)

    JITFunction.__init__ = noting
    return made


def _line(kernel: JITFunction, error: CompilationError) -> int:
    """The line of the module: Triton counts from the kernel's `def`."""
    _, begin = get_jit_fn_file_line(kernel)
    return int(begin) + int(getattr(error.node, "lineno", 1)) - 1


def _reason(error: BaseException) -> str:
    """What the innermost function has to say."""
    while error.__cause__ is not None:
        error = error.__cause__
    said = error.error_message if isinstance(error, CompilationError) else str(error)
    return said or f"{type(error).__name__}: {error}"
