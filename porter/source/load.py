"""Files to sources: one for a CUDA file, one for every CUDA string of a Python file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from porter.diagnostics.findings import Finding
from porter.errors import InputError
from porter.source.encoding import read_text
from porter.source.lexer import TokenKind, tokens
from porter.source.python_file import cuda_strings
from porter.source.vocabulary import SPACES, STORAGE
from porter.source_text import Source

CUDA_SUFFIXES = (".cu", ".cuh", ".maca")
CPP_SUFFIXES = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".inl")
PYTHON_SUFFIXES = (".py",)
SUFFIXES = CUDA_SUFFIXES + CPP_SUFFIXES + PYTHON_SUFFIXES
_CUDA_NAME = re.compile(r"(cuda|cu[A-Z]|mc|hc|thrust|cub|gpu_kernel|at$|torch$|c10$)\w*")
_CUDA_INCLUDE = re.compile(
    r"#\s*include\s*[<\"](cuda|cub/|thrust/|torch/|ATen/|c10/|mc_runtime|mcr/|cooperative_groups|mma)"
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The sources of a file, and what was noticed while looking for them."""

    sources: tuple[Source, ...]
    findings: tuple[Finding, ...]


def read_sources(path: Path) -> tuple[Source, ...]:
    """The CUDA sources in `path`, at least one.

    Raises `InputError` for a file that cannot be read, is binary or empty, or holds no CUDA.
    """
    return load(path).sources


def load(path: Path) -> Loaded:
    """Reads as `read_sources` does, with findings about Python strings that look like CUDA put together at run time."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: not a source porter knows", f"it reads {', '.join(SUFFIXES)}")
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path}: is empty")
    if path.suffix.lower() in PYTHON_SUFFIXES:
        return _from_python(path, text)
    if not looks_like_cuda(text, strict=path.suffix.lower() not in CUDA_SUFFIXES):
        raise InputError(f"{path}: no CUDA in it", "porter ports CUDA kernels and the host code that launches them")
    return Loaded((Source(path, text),), ())


def _from_python(path: Path, text: str) -> Loaded:
    sources, findings = cuda_strings(path, text)
    if sources:
        return Loaded(sources, findings)
    if findings:
        raise InputError(
            f"{path}:{findings[0].span.line if findings[0].span else 1}: {findings[0].message}", findings[0].hint
        )
    hint = (
        "name the file with the kernels; a PyTorch module is ported where it is a class `Model` beside `get_inputs()`"
    )
    raise InputError(f"{path}: no string in it holds a CUDA kernel", hint)


def looks_like_cuda(text: str, *, strict: bool) -> bool:
    """Returns whether `text` is CUDA; C++ by any sign will do where the file's name says CUDA already (not
    `strict`).
    """
    for token in tokens(text):
        if token.kind is TokenKind.LAUNCH_OPEN or token.text in SPACES or token.text in STORAGE:
            return True
        if token.kind is TokenKind.DIRECTIVE and (_CUDA_INCLUDE.match(token.text) or not strict):
            return True
        if token.kind is TokenKind.IDENTIFIER and _CUDA_NAME.match(token.text) and not strict:
            return True
    return False
