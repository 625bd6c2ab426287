"""The language of a source, as the executor compiles it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

INCLUDE = Path(__file__).parent / "simt" / "include"


@dataclass(frozen=True, slots=True)
class Dialect:
    """A spelling of CUDA: what a vendor adds so that the executor compiles sources in its language.

    `headers` is a folder that is searched before CUDA's. It holds the vendor's headers by the names that sources
    include, and two files that every source begins with: `dialect/compiler.h` has what the vendor's compiler
    predefines and `PORTER_DEVICE_NAME`; `dialect/language.h` includes `porter/language.h`, which is CUDA, and spells
    its names. `macros` are those of the compiler by which sources choose their text, each `NAME=VALUE`. `spelling` are
    names of the vendor, each with CUDA's name for the same: a table in place of text in `dialect/language.h`.
    """

    name: str
    headers: Path
    macros: tuple[str, ...] = ()
    spelling: tuple[tuple[str, str], ...] = ()


CUDA = Dialect("cuda", INCLUDE / "cuda")
